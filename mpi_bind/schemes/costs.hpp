// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "schemes/words.hpp"

#include <optional>

namespace odrc::mpi {

// What the parts of the schemes take, in nanoseconds: of a processor that copies, and of a device
// from the call to the completion, many at a time.
struct SchemeCosts {
    double copied_piece; // packing or unpacking one piece more
    double copied_byte;  // and one byte
    double fetched_byte; // what that takes besides where it is in no cache
    double write;        // a write to a segment, of which the receiver hears
    double gathered;     // one piece more of that
    double written_byte;
    double read;      // a read out of a segment
    double scattered; // one piece more of that
    double read_byte;
    double plain_byte; // read out of plain memory
    double placed;     // Multi-W: a piece, written to plain memory
    double placed_byte;
    double exposed; // registering data for that
    double exposed_byte;
    double word;         // telling the other side something
    double by_processor; // the share of a write that the sender's processor has to do: 0 to 1
};

// What is expected until they are measured: about what soft0 takes.
inline constexpr SchemeCosts kUsualCosts{
    .copied_piece = 1,
    .copied_byte = 0.03,
    .fetched_byte = 0.15,
    .write = 300,
    .gathered = 15,
    .written_byte = 0.03,
    .read = 200,
    .scattered = 20,
    .read_byte = 0.03,
    .plain_byte = 0.08,
    .placed = 400,
    .placed_byte = 0.08,
    .exposed = 5000,
    .exposed_byte = 0,
    .word = 300,
    .by_processor = 1,
};

// Measures them, with the memory of a peer that does nothing for it meanwhile. None: it is not
// there.
std::optional<SchemeCosts> measure_costs(Fabric& fabric, fi_addr_t peer, const TrialMemory& trial);
inline constexpr size_t kTrialBytes = size_t{128} << 10; // of each kind

// What they are on the process's device: kept from earlier runs in a file of the user's, or
// measured with the first peer that offers a message.
class Costs {
public:
    explicit Costs(Fabric& fabric);
    ~Costs();

    // What peers may measure with; nothing, once they are known here.
    const TrialMemory& trial_memory() noexcept;
    // Measures them, unless they have been, with a peer that has memory for that; or takes what
    // another process, whose turn it was, has found meanwhile. Is to be asked with each message.
    // Whether they are others now.
    bool learn(fi_addr_t peer, const TrialMemory& trial);
    const SchemeCosts& known() const noexcept { return costs_; }

private:
    Fabric& fabric_;
    SchemeCosts costs_{kUsualCosts};
    bool are_measured_{false};
    uint32_t asked_{0}; // how often: files are looked at less and less
    std::byte* staging_{nullptr};
    std::unique_ptr<std::byte[]> plain_;
    std::unique_ptr<Fabric::Region> exposed_staging_;
    std::unique_ptr<Fabric::Region> exposed_plain_;
    TrialMemory trial_{};
};

} // namespace odrc::mpi
