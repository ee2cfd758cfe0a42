// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace odrc {

size_t processors_of_this_host() noexcept;

// What they are, as the kernel names the first one. Empty where it does not.
std::string processor_name();

// How many processes of the job run on this host, as the launcher says (Open MPI, MPICH's Hydra,
// MVAPICH, Slurm); where none says, as many as there are processors.
size_t processes_of_this_host() noexcept;

// How much memory a process may lock, for people: why it cannot be registered is nearly always
// that.
std::string locked_memory_limit();

// The limit of this process that may be behind an error, for people, after the error's own words:
// " (ulimit -n: 1024)". Empty where there is none.
std::string limit_behind(int error);

// In bytes; SIZE_MAX where there is no limit.
size_t address_space_limit() noexcept;

// Of memory that the calling thread has used for the first time, in pages, or found gone.
uint64_t page_faults() noexcept;

// One of this process that may have a thread which looks whether something has come, again and
// again: an endpoint, or a domain whose endpoints have one thread for all.
class Looker {
public:
    Looker() noexcept { all_.fetch_add(1, std::memory_order_relaxed); }
    ~Looker() { all_.fetch_sub(1, std::memory_order_relaxed); }
    Looker(const Looker&) = delete;
    Looker& operator=(const Looker&) = delete;

    static size_t all() noexcept { return all_.load(std::memory_order_relaxed); }

private:
    static inline std::atomic<size_t> all_{0};
};

} // namespace odrc
