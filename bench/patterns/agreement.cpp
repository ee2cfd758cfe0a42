// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "bench/patterns/agreement.hpp"

namespace bench {

Agreement::Agreement(Messenger& messenger)
    : messenger_{messenger} {
    messenger.on(Kind::contribution, [this](int, Bytes body) { contribute(take<uint64_t>(body)); });
    messenger.on(Kind::agreed, [this](int, Bytes body) {
        result_ = take<uint64_t>(body);
        ++rounds_;
    });
}

void Agreement::contribute(uint64_t number) {
    total_ += number;
    if (++contributions_ < messenger_.size()) return;
    for (int to = 0; to < messenger_.size(); ++to)
        messenger_.send(to, Kind::agreed, {bytes_of(total_)});
    contributions_ = 0;
    total_ = 0;
}

uint64_t Agreement::sum(uint64_t mine) {
    const uint64_t round = rounds_;
    messenger_.send(0, Kind::contribution, {bytes_of(mine)});
    messenger_.wait_until([&] { return rounds_ > round; });
    return result_;
}

} // namespace bench
