// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace odrc {

// Messages by their length, in classes of up to so many bytes, and one for those that are longer.
struct BySize {
    static constexpr std::array<size_t, 7> kBounds{64, 256, 1024, 4096, 8192, 65536, 1048576};
    static constexpr size_t kClasses = kBounds.size() + 1;
    struct Class {
        uint64_t messages{0};
        uint64_t bytes{0};
    };

    static constexpr size_t class_of(size_t length) noexcept {
        const size_t offset = length - (length > 0);
        // With a bit behind it, for how wide a 0 is takes longer to learn.
        return kClassOf[static_cast<size_t>(std::bit_width(2 * offset | 1)) - 1];
    }
    void count(size_t length) noexcept {
        Class& of_length = classes[class_of(length)];
        ++of_length.messages;
        of_length.bytes += length;
    }

    std::array<Class, kClasses> classes{};

private:
    // By how many bits the largest offset into the message has: the bounds are powers of two.
    static constexpr std::array<uint8_t, 65> kClassOf = [] {
        std::array<uint8_t, 65> table{};
        for (size_t bits = 0; bits < table.size(); ++bits)
            for (const size_t bound : kBounds)
                table[bits] += bits > static_cast<size_t>(std::bit_width(bound - 1));
        return table;
    }();
};

// What an endpoint has sent, by the way that it took.
struct Traffic {
    BySize eager;     // in one send
    BySize ring;      // written into a ring of the receiver's
    BySize sliced;    // in several
    BySize announced; // read by the receiver
};

} // namespace odrc
