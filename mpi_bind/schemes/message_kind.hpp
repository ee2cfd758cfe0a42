// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "schemes/words.hpp"

#include <bit>

namespace odrc::mpi {

// Messages that are alike: what one of them has taken tells of the next one. Lengths are powers of
// two: of the message, and of the shape it has on either side. (How far apart its pieces are makes
// the one scheme slower, and not the other.)
struct MessageKind {
    struct Side {
        uint8_t piece{0}, median{0}, extent{0};
        bool operator==(const Side&) const = default;
    };
    uint8_t bytes{0};
    Side out{}, in{};
    uint8_t none{0}; // all of it is one word

    static MessageKind of(uint64_t bytes, const Shape& sender, const Shape& receiver) noexcept {
        const auto log2 = [](uint64_t n) { return static_cast<uint8_t>(std::bit_width(n)); };
        const auto side = [&](const Shape& shape) {
            return Side{log2(shape.piece), log2(shape.median), log2(shape.extent)};
        };
        return {.bytes = log2(bytes), .out = side(sender), .in = side(receiver)};
    }

    bool operator==(const MessageKind& other) const noexcept { return word() == other.word(); }
    uint64_t word() const noexcept { return std::bit_cast<uint64_t>(*this); }

    // Where what is known of a kind is kept: who comes to a place that is taken begins anew.
    static constexpr int kPlaceBits = 7;
    static constexpr size_t kPlaces = size_t{1} << kPlaceBits;
    // Fibonacci hashing: kinds that differ in one number come to different places.
    uint32_t place() const noexcept {
        return static_cast<uint32_t>(word() * 11400714819323198485U >> (64 - kPlaceBits));
    }
};

} // namespace odrc::mpi
