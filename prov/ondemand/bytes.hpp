// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Formats that are given to others, byte for byte.

#include <bit>
#include <cstddef>
#include <cstring>
#include <span>

namespace odrc::ondemand {

static_assert(std::endian::native == std::endian::little, "the formats are little-endian");

class ByteWriter {
public:
    explicit ByteWriter(std::span<std::byte> out) noexcept
        : out_{out} {}
    template <class T>
    void put(T value, size_t bytes = sizeof(T)) noexcept {
        put_bytes(&value, bytes);
    }
    void put_bytes(const void* from, size_t bytes) noexcept {
        std::memcpy(out_.data(), from, bytes);
        out_ = out_.subspan(bytes);
    }

private:
    std::span<std::byte> out_;
};

// Gives zeros where there is nothing left, and remembers that.
class ByteReader {
public:
    explicit ByteReader(std::span<const std::byte> in) noexcept
        : in_{in} {}
    template <class T>
    T get(size_t bytes = sizeof(T)) noexcept {
        T value{};
        get_bytes(&value, bytes);
        return value;
    }
    void get_bytes(void* to, size_t bytes) noexcept {
        if (bytes > in_.size()) {
            short_ = true;
            return;
        }
        std::memcpy(to, in_.data(), bytes);
        in_ = in_.subspan(bytes);
    }
    bool ended() const noexcept {
        for (const std::byte b : in_)
            if (b != std::byte{}) return false;
        return !short_;
    }

private:
    std::span<const std::byte> in_;
    bool short_{false};
};

} // namespace odrc::ondemand
