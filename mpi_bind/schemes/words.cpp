// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "schemes/words.hpp"

#include <cstring>

namespace odrc::mpi {

Offer OffersRead::read(std::span<const std::byte> memory, uint64_t bits) noexcept {
    const uint64_t bytes = length_in_offer(bits);
    const uint32_t number = number_in_offer(bits);
    Offer offer{};
    if (memory.size() >= sizeof offer) std::memcpy(&offer, memory.data(), sizeof offer);
    if (offer.bytes == bytes && offer.number == number) {
        bytes_ = bytes;
        shape_ = offer.shape;
        return offer;
    }
    constexpr uint64_t kUsualPiece = 1024;
    const Shape usual{.piece = kUsualPiece, .median = kUsualPiece, .extent = 2 * bytes};
    return {.bytes = bytes,
            .shape = bytes_ == bytes ? shape_ : usual,
            .number = number,
            .wanted = kAnyScheme,
            .way = kAnyScheme,
            .copies_slowly = false,
            .is_trial = false,
            .unasked = 0,
            .asking = 0,
            .pace = {},
            .trial = {}};
}

} // namespace odrc::mpi
