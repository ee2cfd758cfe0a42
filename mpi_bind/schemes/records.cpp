// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "schemes/records.hpp"

namespace odrc::mpi {
namespace {

// A burst that was held up by something else tells nothing of a way, and one that was quick tells
// what it can do: so what is known falls faster than it rises, but for what is late again and
// again.
constexpr double kFall = 2, kRise = 8;
constexpr uint32_t kMostLate = 3; // each time it rises twice as fast, until it is what was found
constexpr uint32_t kFirst = 4; // bursts, of which the quickest counts: others had pages to be made
constexpr double kLate = 1.5;  // times what is known: no more than that counts

} // namespace

void Records::learn(Scheme way, double takes) noexcept {
    Record& record = records_[static_cast<size_t>(way)];
    double& known = record.byte_takes;
    const bool is_late = record.known > 0 && takes > kLate * known;
    const double rise = kRise / (1 << record.late);
    record.late = is_late ? std::min(record.late + 1, kMostLate) : 0;
    if (++record.known <= kFirst)
        known = record.known == 1 ? takes : std::min(known, takes);
    else if (takes < known)
        known += (takes - known) / kFall;
    else
        known += (std::min(takes, kLate * known) - known) / rise;
}

bool Records::is_far_behind(double takes) const noexcept {
    return std::ranges::any_of(records_, [=](const Record& other) {
        return other.known > 0 && kClose * other.byte_takes < takes;
    });
}

void Records::put_right(Expected& expected, uint64_t bytes) const noexcept {
    for (size_t i = 0; i < kSchemes; ++i)
        if (records_[i].known > 0 && expected[i] < kNever)
            expected[i] = records_[i].byte_takes * static_cast<double>(bytes);
}

} // namespace odrc::mpi
