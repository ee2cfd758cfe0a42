// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstdint>

namespace odrc {

// Which of the processes of a parallel job this one is; and which of its endpoints, for one process
// may have several.
struct PlaceInJob {
    uint32_t rank{0};
    uint32_t size{0}; // 0: unknown
    uint16_t job{0};  // tells jobs apart, most of the time
    uint8_t endpoint{0};

    bool known() const noexcept { return size > 0; }
    bool operator==(const PlaceInJob&) const = default;
};

inline constexpr uint32_t kMostInJob = UINT16_MAX;
inline constexpr uint8_t kMostEndpointsInJob = 63;

// A name of any length, as a number for PlaceInJob::job.
uint16_t job_number(const void* name, uint64_t bytes) noexcept;

// What the launcher says in the environment (Open MPI, PRRTE, MPICH's Hydra, MVAPICH, Slurm);
// unknown where it says nothing, or no sense.
PlaceInJob place_by_launcher() noexcept;

} // namespace odrc
