// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// One of the two processes between which is measured: its endpoint, registered memory to send from
// and to receive into, and what has completed.

#include "fabtests_ext/support/fabric.hpp"
#include "fabtests_ext/support/samples.hpp"
#include "fabtests_ext/support/spin.hpp"

#include <rdma/fi_rma.h>

namespace fabtests_ext::logp {

class Side {
public:
    // caps: what the endpoint is for. bytes: the most that goes in one operation.
    Side(Team& team, const Choice& choice, uint64_t caps, size_t bytes);

    bool first() const noexcept { return team_.rank() == 0; }
    Team& team() noexcept { return team_; }
    const fi_info& info() const noexcept { return endpoint_.info(); }

    // Takes what has completed; progress is made by it.
    void reap();

protected:
    // Registered with everything that the endpoint is for.
    class Memory {
    public:
        Memory(const Endpoint& endpoint, size_t bytes, uint64_t access, uint64_t key);

        char* data() const noexcept { return bytes_.get(); }
        size_t size() const noexcept { return size_; }
        void* descriptor() const noexcept { return fi_mr_desc(mr_.get()); }
        uint64_t key() const noexcept { return fi_mr_key(mr_.get()); }

    private:
        struct Free {
            void operator()(char* bytes) const noexcept { std::free(bytes); }
        };
        std::unique_ptr<char, Free> bytes_;
        size_t size_;
        Owned<fid_mr> mr_; // goes first
    };

    // Where the peer has its inbound memory, for operations on it.
    struct Target {
        uint64_t address;
        uint64_t key;
    };
    Target exchange_targets();

    // Makes a call until it is taken. The first try is the call alone.
    template <class Call>
    void post(const char* what, Call&& call) {
        for (;;) {
            const ssize_t result = call();
            if (result == 0) [[likely]]
                return;
            if (result != -FI_EAGAIN) check(result, what);
            reap();
        }
    }

    // From memory of ours into the peer's; or the other way round.
    void write(const Target& target, size_t size, uint64_t flags) {
        transfer("fi_writemsg", fi_writemsg, target, size, flags);
    }
    void read(const Target& target, size_t size, uint64_t flags) {
        transfer("fi_readmsg", fi_readmsg, target, size, flags);
    }

    // Until so many operations of our own have completed.
    void await(size_t done) {
        spin_until([&] {
            if (done_ < done) reap();
            return done_ >= done;
        });
    }

    // A provider may use a context until its operation completes: there are more of them than
    // operations that can be under way.
    void* next_context() noexcept { return &contexts_[next_++ % std::size(contexts_)]; }

    Team& team_;
    Endpoint endpoint_;
    fi_addr_t peer_;
    Memory out_, in_;
    size_t received_{0}; // messages that have come
    size_t done_{0};     // operations of our own that have completed

private:
    using Call = ssize_t(fid_ep*, const fi_msg_rma*, uint64_t);
    void transfer(const char* what, Call* call, const Target& target, size_t size, uint64_t flags);

    fi_context2 contexts_[512];
    size_t next_{0};
};

} // namespace fabtests_ext::logp
