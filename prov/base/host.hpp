// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstddef>

namespace odrc {

size_t processors_of_this_host() noexcept;

// How many processes of the job run on this host, as the launcher says (Open MPI, MPICH's Hydra,
// MVAPICH, Slurm); where none says, as many as there are processors.
size_t processes_of_this_host() noexcept;

} // namespace odrc
