// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "srq/ring.hpp"

#include <cstring>

namespace odrc::srq {

Ring::Ring(verbs::Adapter& adapter, Counters& counters)
    : counters_{counters}
    , memory_{adapter.context(), adapter.port(), adapter.pd(), kRingBytes,
              IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE}
    , end_{memory_.bytes().data() + kRingBytes} {
    std::memset(memory_.bytes().data(), 0, kRingBytes);
    counters_.registered(kRingBytes);
}

Ring::~Ring() { counters_.deregistered(kRingBytes); }

RingOffer Ring::offer() const noexcept {
    return {.end = reinterpret_cast<uint64_t>(end_), .rkey = memory_.rkey(), .unused = 0};
}

} // namespace odrc::srq
