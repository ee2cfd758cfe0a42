// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "side.hpp"

#include <vector>

namespace fabtests_ext::logp {

// Tagged messages, which the call takes with it (fi_tinject) or which the provider gathers from
// registered memory (fi_tsendmsg). That one has gone out is known from the answer to it.
class Messages : public Side {
public:
    enum class Way { injected, gathered };

    // copies: who receives copies each message of a stream out of the memory that it came into.
    Messages(Team& team, const Choice& choice, Way way, size_t bytes, bool copies);

    size_t limit() const noexcept {
        return way_ == Way::injected ? info().tx_attr->inject_size : out_.size();
    }
    void begin(size_t size);

    void send();
    // Until the next message has come.
    void receive() {
        spin_until([&] {
            reap();
            return received_ > taken_;
        });
        ++taken_;
    }
    // For the next one to be received, and one that may be on its way. Called meanwhile.
    void prepare() { keep_posted(2); }

    // So many one way, rounded up to what acknowledgements count. Gives the microseconds of each.
    double stream(size_t count);

private:
    // At most a window of them is on its way, and each half of one is acknowledged.
    static constexpr size_t kHalf = 32, kWindow = 2 * kHalf;
    static constexpr size_t kAcknowledgement = 8;
    // What is copied goes there: more than a processor's cache has room for.
    static constexpr size_t kArray = 64u << 20;

    void keep_posted(size_t receives);
    void acknowledge();
    void copy_out();

    Way way_;
    std::vector<char> array_; // empty: nothing is copied
    size_t array_used_{0};
    size_t size_{0};
    size_t posted_{0}; // receives, ever
    size_t taken_{0};  // messages, ever
};

} // namespace fabtests_ext::logp
