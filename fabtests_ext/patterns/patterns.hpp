// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "fabtests_ext/patterns/member.hpp"

namespace fabtests_ext {

// ---- collectives.cpp: as MPI libraries make them for small data ----
void idle(Member& m);
void ring(Member& m);
// Recursive doubling; where the size is no power of two, with the rest folded in.
void barrier(Member& m);
void allreduce(Member& m);
// Down a binomial tree from rank 0.
void broadcast(Member& m);
// All to rank 0, at once.
void gather(Member& m);
// Recursive doubling where the size is a power of two, else a ring.
void allgather(Member& m);
void alltoall(Member& m);

// ---- kernels.cpp: as the NAS parallel benchmarks talk (NPB 3.4) ----
// They throw std::invalid_argument where the size is none of theirs.
void conjugate_gradient(Member& m); // CG: a power of two
void multigrid(Member& m);          // MG: a power of two
void integer_sort(Member& m);       // IS
void lower_upper(Member& m);        // LU: a power of two
void multi_partition(Member& m);    // SP and BT: a square

} // namespace fabtests_ext
