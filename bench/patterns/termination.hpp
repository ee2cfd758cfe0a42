// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Whether a computation that goes where its messages go has ended: nobody has work, and none is on
// its way. Safra's algorithm (Dijkstra, EWD 998): a token goes around among those who have none,
// and counts what was sent and has not been received.

#include "bench/patterns/messenger.hpp"

namespace bench {

class Termination {
public:
    explicit Termination(Messenger& messenger);

    // For each message with work.
    void sent() noexcept { ++balance_; }
    void received() noexcept {
        --balance_;
        black_ = true;
    }

    // Asked by who has no work, again and again while that is so. Says once that it has ended, and
    // what is counted then is of another computation: it begins after an agreement of all.
    bool ended();

private:
    struct Token {
        int64_t balance{0};
        bool black{true};
    };

    void begin() noexcept;
    void pass(Token token);

    Messenger& messenger_;
    int64_t balance_{0}; // sent less received
    bool black_{false};  // has received since the token was here
    bool has_token_{false};
    Token token_;
    bool ended_{false};
};

} // namespace bench
