// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ondemand/address.hpp"

#include <array>
#include <span>

namespace odrc::ondemand {

// The end of every datagram of the wireup: a MAC (BLAKE2b, keyed) over what is before it, and over
// the address that it is sent to. Who does not have the key can neither make one, nor change what
// one covers, nor have it taken by another endpoint than that which it was sent to.
//
// Without a key it is made with the empty one, which everyone has: then it tells what is whole, and
// who uses a key, from what is not.
class Seal {
public:
    static constexpr size_t kBytes = 16;
    static constexpr size_t kMaxKey = 1024; // bytes of an application's key

    Seal()
        : Seal{std::span<const std::byte>{}} {}
    // The application's key is not kept: what is made of it is, and is wiped with the seal.
    explicit Seal(std::span<const std::byte> key); // throws Error
    Seal(const Seal&) = default;
    Seal& operator=(const Seal&) = default;
    ~Seal();

    bool keyed() const noexcept { return keyed_; }

    // Writes the last kBytes of a datagram.
    void put(std::span<std::byte> datagram, const Address& to) const noexcept;
    // Whether they are right. The datagram has them.
    bool holds(std::span<const std::byte> datagram, const Address& to) const noexcept;

    // What both sides can make of what both know, and nobody else who does not have the key.
    uint64_t number(std::span<const std::byte> known) const noexcept;

private:
    using Mac = std::array<unsigned char, kBytes>;
    Mac mac(std::span<const std::byte> content, const Address& to) const noexcept;

    std::array<unsigned char, 32> key_;
    bool keyed_;
};

} // namespace odrc::ondemand
