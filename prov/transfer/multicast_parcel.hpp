// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ondemand/station.hpp"
#include "transfer/wire.hpp"

namespace odrc::transfer {

struct OutgoingMulticast;

// A packet of a multicast, for all who use it: the sends to the children, and whoever keeps it. Its
// bytes lie in the program's memory, in the receive buffer that they came in, or in a copy.
struct Parcel {
    wire::Multicast what;
    const std::byte* payload{nullptr};
    uint32_t length{0};
    uint32_t users{1};
    srq::Buffer* buffer{nullptr};        // or null
    ondemand::Station* station{nullptr}; // whose receive buffer it is
    srq::BufferPool* pool{nullptr};      // or the pool's from which it was taken
    OutgoingMulticast* message{nullptr}; // of which it is a part, at the root
    Parcel* next{nullptr};               // of the same message

    std::span<const std::byte> bytes() const noexcept { return {payload, length}; }
};

} // namespace odrc::transfer
