// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "srq/ring.hpp"

#include <cstring>

namespace odrc::srq {

uint32_t sum_of(const std::byte* frame, RecordEnd end) noexcept {
    constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
    const size_t length = std::min<size_t>(end.length, kMostInRecord - sizeof end);
    uint64_t sum = uint64_t{end.length} << 16 | end.freed;
    for (size_t at = 0; at < length; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        std::memcpy(&word, frame + at, std::min(length - at, sizeof word));
        sum = (std::rotl(sum, 29) ^ word) * kFactor;
    }
    return static_cast<uint32_t>(sum >> 32);
}

Ring::Ring(verbs::Adapter& adapter, Counters& counters)
    : counters_{counters}
    , memory_{adapter.context(), adapter.port(), adapter.pd(), kRingBytes,
              IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE}
    , summed_{!adapter.port().writes_in_order}
    , end_{memory_.bytes().data() + kRingBytes} {
    std::memset(memory_.bytes().data(), 0, kRingBytes);
    counters_.registered(kRingBytes);
}

Ring::~Ring() { counters_.deregistered(kRingBytes); }

RingOffer Ring::offer() const noexcept {
    return {.end = reinterpret_cast<uint64_t>(end_), .rkey = memory_.rkey(), .summed = summed_};
}

} // namespace odrc::srq
