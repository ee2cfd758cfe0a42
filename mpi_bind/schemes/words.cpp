// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "schemes/words.hpp"

#include <cstring>

namespace odrc::mpi {

std::optional<Offer> offer_at(std::span<const std::byte> memory, uint64_t bits) noexcept {
    Offer offer;
    if (memory.size() < sizeof offer) return std::nullopt;
    std::memcpy(&offer, memory.data(), sizeof offer);
    if (offer.bytes != length_in_offer(bits) || offer.number != number_in_offer(bits))
        return std::nullopt;
    return offer;
}

Offer lost_offer(uint64_t bits, const Shape& shape) noexcept {
    return {.bytes = length_in_offer(bits),
            .shape = shape,
            .number = number_in_offer(bits),
            .wanted = kAnyScheme,
            .way = kAnyScheme,
            .copies_slowly = false,
            .unasked = 0,
            .asking = 0,
            .pace = {},
            .trial = {}};
}

} // namespace odrc::mpi
