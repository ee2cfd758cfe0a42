// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "base/place_in_job.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

namespace odrc {
namespace {

struct Launcher {
    const char* rank;
    const char* size;
    const char* job;
};
// The job's name is the step's where there are steps: one after the other, they are different jobs.
constexpr Launcher kLaunchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE"},
    {"PMIX_RANK", "PMIX_SIZE", "PMIX_NAMESPACE"},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "PMI_ID"},
    {"PMI_RANK", "PMI_SIZE", "PMI_JOBID"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_JOB_ID"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID"},
};

std::optional<uint32_t> number_in(const char* name) noexcept {
    const char* value = std::getenv(name);
    if (!value) return std::nullopt;
    const std::string_view text{value};
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

} // namespace

uint16_t job_number(const void* name, uint64_t bytes) noexcept {
    uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (uint64_t i = 0; i < bytes; ++i)
        hash = (hash ^ static_cast<const uint8_t*>(name)[i]) * 0x100000001b3;
    return static_cast<uint16_t>(hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48);
}

PlaceInJob place_by_launcher() noexcept {
    for (const Launcher& launcher : kLaunchers) {
        const auto rank = number_in(launcher.rank), size = number_in(launcher.size);
        if (!rank || !size || *rank >= *size || *size > kMostInJob) continue;
        const char* job = std::getenv(launcher.job);
        return {.rank = *rank,
                .size = *size,
                .job = job ? job_number(job, std::strlen(job)) : uint16_t{0},
                .endpoint = 0};
    }
    return {};
}

} // namespace odrc
