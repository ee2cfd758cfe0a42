// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/place_in_job.hpp"
#include "ondemand/address.hpp"
#include "ondemand/ranges.hpp"
#include "verbs_rc/queue_pair.hpp"

namespace odrc::ondemand {

// An address with which a peer can connect without a word: beside the UDP socket's, which serves
// the wireup as ever, it has all that a queue pair needs to know, and the numbers of the queue
// pairs that wait for the processes of the job, or that of the one that takes first words from
// everybody (wireup_called.cpp). Without such numbers it says no more than the socket's.
//
// All have the same length, since programs put them into arrays. Little-endian, but for what is in
// network order anyway:
//   0xd0 | version 1 | what follows 1 | MTU and rd_atomic 1 | GID's form and endpoint 1 |
//   UDP port 2 | rank 2 | size 2 | job 2 | endpoint's id 8 | IP address 4 or 16 |
//   LID 0 or 2 | GID 0, 4, 8 or 16 | queue pair for datagrams 0 or 3 |
//   ranges: first 3, count 2 each
// where the last count is left out if all of the job have their queue pair, and of the GID what
// the IP address or the default subnet prefix tells. The rest is zero. The first byte is none that
// a socket address begins with.
struct NativeAddress {
    static constexpr size_t kBytes = 64; // MPICH has no room for more
    using Bytes = std::array<std::byte, kBytes>;

    Address socket;
    PlaceInJob place{};
    uint64_t endpoint{0}; // random: see WireupMessage
    uint16_t lid{0};
    uint8_t mtu{IBV_MTU_256};
    uint8_t rd_atomic{1};
    ibv_gid gid{};
    bool wants_events{false};
    uint32_t datagrams{0}; // the queue pair that takes first words; 0: none does
    ShortRanges ranges{};  // place i: the queue pair for rank i

    // How many ranges there is room for: all but for an IPv6 address and another GID besides.
    size_t most_ranges(bool for_all_of_job) const noexcept;

    // The ranges are as many as there is room for.
    Bytes encode() const noexcept;
    // None unless it is whole, of our version, and every field is in its range.
    static std::optional<NativeAddress> decode(const Bytes& bytes) noexcept;

    // Whether an address, of whatever length, begins as those of this format do.
    static bool is_meant(const void* address) noexcept {
        return (*static_cast<const uint8_t*>(address) & 0xf0) == 0xd0;
    }

    // "fi_odrc://127.0.0.1:4711?rank=3&size=16&qp=0x100-0x10f&datagrams=0x99"
    std::string text() const;
};

} // namespace odrc::ondemand
