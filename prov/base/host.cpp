// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "base/host.hpp"

#include "base/format.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>

namespace odrc {
namespace {

rlim_t limit_of(decltype(RLIMIT_AS) resource) noexcept {
    rlimit limit{};
    getrlimit(resource, &limit);
    return limit.rlim_cur;
}

} // namespace

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
    const rlim_t limit = limit_of(RLIMIT_MEMLOCK);
    if (limit == RLIM_INFINITY) return "unlimited";
    return odrc::format("{} KiB", limit / 1024);
}

std::string limit_behind(int error) {
    if (error == EMFILE) return odrc::format(" (ulimit -n: {})", limit_of(RLIMIT_NOFILE));
    if (error == ENOMEM && address_space_limit() != SIZE_MAX)
        return odrc::format(" (ulimit -v: {} KiB)", address_space_limit() / 1024);
    return {};
}

size_t address_space_limit() noexcept {
    const rlim_t limit = limit_of(RLIMIT_AS);
    return limit == RLIM_INFINITY ? SIZE_MAX : limit;
}

uint64_t page_faults() noexcept {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return static_cast<uint64_t>(usage.ru_minflt) + static_cast<uint64_t>(usage.ru_majflt);
}

} // namespace odrc
