// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Where one way to send overtakes another: of what a device takes for each of them.

#include "transfer/limits.hpp"
#include "transfer/segments.hpp"
#include "verbs_rc/adapter.hpp"

#include <array>
#include <string>

namespace odrc::transfer {

// Up to how many bytes something goes in each way. It is for the sender alone to know.
struct Crossovers {
    uint32_t inlined;      // a frame inline; beyond that the device gathers it
    uint32_t copied;       // what is not inline out of a copy; beyond that from where it lies
    uint32_t unregistered; // the same of memory that the device would have to be told of
    uint32_t eager;        // a message in its frame
    uint32_t sliced;       // a longer one in several; beyond that it is announced and read

    bool operator==(const Crossovers&) const = default;
};

// On its device, and on soft0 beside that.
using CrossoversOfDomain = std::array<Crossovers, 2>;

// Which of them there can be on a device, and those that hold unless another one is clearly better.
struct CrossoverRange {
    Crossovers least, most, usual;

    static CrossoverRange of(const verbs::Adapter& adapter) noexcept;
    Crossovers clamp(const Crossovers& wanted) const noexcept;
};

// The lengths at which ways are compared.
inline constexpr std::array<uint32_t, 5> kComparedSizes{512, 1024, 2048, 4096, wire::kEagerLimit};
// What short messages are made of goes inline wherever the device takes it: rings need that.
static_assert(sizeof(ShortFrame) <= kComparedSizes.front());

// What a device takes for one of each, in nanoseconds, from the call to the completion: the least
// that was seen, since whatever else a processor does only adds to it.
struct DeviceCosts {
    struct OfSize {
        double inlined;  // a write
        double gathered; // a write from where the bytes lie, with a header as a segment of its own
        double copied;   // the same, copied behind the header before
        double read;     // a read
        double taken;    // copying them out of the buffer where they came
    };
    std::array<OfSize, kComparedSizes.size()> of_size{};
    double word{};  // a short frame: one that announces a message, or ends that
    double found{}; // finding memory among what is registered; 0 where nothing has to be
    double fresh{}; // registering it
};

Crossovers choose(const DeviceCosts& costs, const CrossoverRange& range) noexcept;

// Those of a device by its name and all else that they depend on: as FI_ODRC_CROSSOVERS says, or
// measured by the first in this process who asks, if no process before has kept what it measured
// (kept_crossovers.hpp). Queue pairs that are made after that take no more inline. Throws
// std::bad_alloc.
Crossovers crossovers_of(verbs::Adapter& adapter);

} // namespace odrc::transfer
