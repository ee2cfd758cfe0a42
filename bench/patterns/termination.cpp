// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "bench/patterns/termination.hpp"

namespace bench {

Termination::Termination(Messenger& messenger)
    : messenger_{messenger} {
    messenger.on(Kind::token, [this](int, Bytes body) {
        token_.balance = take<int64_t>(body);
        token_.black = take<bool>(body);
        has_token_ = true;
    });
    messenger.on(Kind::ended, [this](int, Bytes) { ended_ = true; });
    begin();
}

void Termination::begin() noexcept {
    balance_ = 0;
    black_ = false;
    has_token_ = messenger_.rank() == 0;
    token_ = {};
    ended_ = false;
}

void Termination::pass(Token token) {
    has_token_ = false;
    black_ = false;
    messenger_.send((messenger_.rank() + 1) % messenger_.size(), Kind::token,
                    {bytes_of(token.balance), bytes_of(token.black)});
}

bool Termination::ended() {
    if (ended_) {
        begin();
        return true;
    }
    if (!has_token_) return false;
    if (messenger_.rank() != 0) {
        pass({token_.balance + balance_, token_.black || black_});
    } else if (token_.black || black_ || token_.balance + balance_ != 0) {
        pass({0, false}); // the first one is black: it has not been around
    } else {
        has_token_ = false;
        for (int to = 0; to < messenger_.size(); ++to) messenger_.send(to, Kind::ended, {});
    }
    return false;
}

} // namespace bench
