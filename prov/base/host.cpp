// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "base/host.hpp"

#include "base/format.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>

namespace odrc {

// Not those that this process is bound to, which others are not.
size_t processors_of_this_host() noexcept {
    return static_cast<size_t>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
}

std::string processor_name() {
    std::ifstream processors{"/proc/cpuinfo"};
    constexpr std::string_view kName = "model name\t: ";
    for (std::string line; std::getline(processors, line) && !line.empty();)
        if (line.starts_with(kName)) return line.substr(kName.size());
    return {};
}

size_t processes_of_this_host() noexcept {
    // SLURM_TASKS_PER_NODE begins with those of the first host: "4(x2),3".
    for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                             "MV2_COMM_WORLD_LOCAL_SIZE", "SLURM_TASKS_PER_NODE"}) {
        const char* value = std::getenv(name);
        if (!value) continue;
        const std::string_view text{value};
        size_t number = 0;
        std::from_chars(text.data(), text.data() + text.size(), number);
        if (number > 0) return number;
    }
    return processors_of_this_host();
}

std::string locked_memory_limit() {
    rlimit limit{};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    if (limit.rlim_cur == RLIM_INFINITY) return "unlimited";
    return odrc::format("{} KiB", limit.rlim_cur / 1024);
}

uint64_t page_faults() noexcept {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return static_cast<uint64_t>(usage.ru_minflt) + static_cast<uint64_t>(usage.ru_majflt);
}

} // namespace odrc
