// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "verbs_rc/queue_pair.hpp"

#include <array>
#include <span>

namespace odrc::verbs {

// Words of our own memory, changed by the device over a connection to itself. A device promises
// that its own changes are whole to each other, and not that the processor's are (IBV_ATOMIC_HCA):
// so what peers change by themselves, we change for others in the same way.
class OwnWords {
public:
    static constexpr size_t kAtOnce = 16;

    // 8 aligned bytes: what shall be there, if that is there which was.
    struct Swap {
        uint64_t address;
        uint64_t from;
        uint64_t to;
        uint64_t found; // what was there
    };

    // Throws Error.
    OwnWords(Adapter& adapter, ibv_srq* srq);

    // Tries up to kAtOnce swaps in a region of that rkey, and says what each found. 0 or a
    // positive errno; then it is of no use any more.
    int swap(std::span<Swap> swaps, uint32_t rkey) noexcept;

private:
    Adapter& adapter_;
    Cq cq_;
    QueuePair qp_;
    std::array<uint64_t, kAtOnce> found_{};
    Mr place_; // of what was found
};

} // namespace odrc::verbs
