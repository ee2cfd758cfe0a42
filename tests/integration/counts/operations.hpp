// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "fabtests_ext/support/fabric.hpp"

#include <vector>

namespace counts {

// What two endpoints do that is counted, from the posting of its receive to all completions.
struct Operation {
    // look_again: behind a message that has come; look_for_answer: and has been answered.
    enum class Kind { send, inject, write, read, fetch_add, look, look_again, look_for_answer };
    const char* name;
    Kind kind;
    bool tagged;
    size_t bytes;

    bool message() const noexcept { return kind == Kind::send || kind == Kind::inject; }
    // It needs memory that the peer has opened.
    bool remote() const noexcept { return !message() && kind < Kind::look; }
};

inline constexpr Operation kOperations[] = {
    {"tagged_inject_8", Operation::Kind::inject, true, 8},
    {"tagged_8", Operation::Kind::send, true, 8},
    {"tagged_1k", Operation::Kind::send, true, 1 << 10},
    {"tagged_8k", Operation::Kind::send, true, 8 << 10},
    {"tagged_64k", Operation::Kind::send, true, 64 << 10},
    {"tagged_1m", Operation::Kind::send, true, 1 << 20},
    {"inject_8", Operation::Kind::inject, false, 8},
    {"send_8", Operation::Kind::send, false, 8},
    {"write_8", Operation::Kind::write, false, 8},
    {"read_64k", Operation::Kind::read, false, 64 << 10},
    {"fetch_add_8", Operation::Kind::fetch_add, false, 8},
    {"look_in_vain", Operation::Kind::look, false, 0},
    {"look_again", Operation::Kind::look_again, true, 8},
    {"look_for_answer", Operation::Kind::look_for_answer, true, 8},
};
inline constexpr size_t kMostBytes = 1 << 20;

// One of the two endpoints of this process.
class Side {
public:
    Side(const fabtests_ext::Choice& choice, const fabtests_ext::Wishes& wishes, bool remote);

    void meet(Side& other);

    void post_receive(const Operation& operation);
    // What begins it. -FI_EAGAIN where that has to wait.
    ssize_t post(const Operation& operation);
    // One look at the completion queue. True if something is complete.
    bool look();

    const fabtests_ext::Endpoint& endpoint() const noexcept { return endpoint_; }

private:
    fabtests_ext::Endpoint endpoint_;
    std::vector<char> bytes_;
    fabtests_ext::Owned<fid_mr> region_; // of them, if the peer may reach them
    fi_addr_t peer_{FI_ADDR_NOTAVAIL};
    uint64_t peer_address_{0};
    uint64_t peer_key_{0};
    fi_context2 context_{};
};

} // namespace counts
