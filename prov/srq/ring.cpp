// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "srq/ring.hpp"

#include <cstring>

namespace odrc::srq {

uint32_t sum_of(const std::byte* frame, RecordEnd end) noexcept {
    constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
    uint64_t sum = uint64_t{end.length} << 16 | end.freed;
    const auto word_at = [&](size_t at) {
        uint64_t word;
        std::memcpy(&word, frame + at, sizeof word);
        return word;
    };
    const auto add = [&](uint64_t word) { sum = (std::rotl(sum, 29) ^ word) * kFactor; };
    const size_t length = std::min<size_t>(end.length, kMostInRecord - sizeof end);
    const size_t rest = length % sizeof(uint64_t), whole = length - rest;
    for (size_t at = 0; at < whole; at += sizeof(uint64_t)) add(word_at(at));
    if (rest > 0) { // there is room for the whole word, whatever it ends with
        const size_t other_bits = 8 * (sizeof(uint64_t) - rest);
        add(word_at(whole) << other_bits >> other_bits);
    }
    return static_cast<uint32_t>(sum >> 32);
}

Ring::Ring(verbs::Adapter& adapter, Counters& counters, size_t bytes)
    : counters_{counters}
    , memory_{adapter.context(), adapter.port(), adapter.pd(), bytes,
              IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE}
    , summed_{!adapter.port().writes_in_order}
    , granules_{granules_of_ring(bytes)}
    , end_{memory_.bytes().data() + bytes} {
    std::memset(memory_.bytes().data(), 0, bytes);
    counters_.registered(bytes);
}

Ring::~Ring() { counters_.deregistered(memory_.bytes().size()); }

RecordEnd Ring::look_for_sum() const noexcept {
    const RecordEnd end = end_at(place_);
    const bool whole =
        end.length > 0 && end.mark == number_behind(freed_) + sum_of(frame(end).data(), end);
    return whole ? end : RecordEnd{};
}

RingOffer Ring::offer() const noexcept {
    return {.end = reinterpret_cast<uint64_t>(end_),
            .rkey = memory_.rkey(),
            .granules = static_cast<uint16_t>(granules_),
            .summed = summed_};
}

} // namespace odrc::srq
