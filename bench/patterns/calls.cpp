// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "bench/patterns/calls.hpp"

namespace bench {

Calls::Calls(Messenger& messenger, Operation operation)
    : messenger_{messenger}
    , operation_{std::move(operation)} {
    messenger.on(Kind::call, [this](int from, Bytes arguments) {
        served_.clear();
        operation_(arguments, served_);
        messenger_.send(from, Kind::answer, {served_});
    });
    messenger.on(Kind::answer, [this](int, Bytes answer) {
        answer_.assign(answer.begin(), answer.end());
        answered_ = true;
    });
}

Bytes Calls::call(int owner, Bytes arguments) {
    answered_ = false;
    messenger_.send(owner, Kind::call, {arguments});
    messenger_.wait_until([&] { return answered_; });
    return answer_;
}

} // namespace bench
