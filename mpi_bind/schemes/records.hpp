// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "schemes/expected.hpp"

#include <cstdint>

namespace odrc::mpi {

// What each way has taken of messages that are alike: nanoseconds a byte.
class Records {
public:
    // Of a burst of messages, or of one.
    void learn(Scheme way, double takes) noexcept;

    bool knows(Scheme way) const noexcept { return of(way).known > 0; }
    double byte_takes(Scheme way) const noexcept { return of(way).byte_takes; } // 0: not known
    // It takes far longer than another one does; and so does what takes so much.
    bool is_far_behind(Scheme way) const noexcept { return is_far_behind(byte_takes(way)); }
    bool is_far_behind(double takes) const noexcept;
    // What has been found of a way counts, and not what was expected of it.
    void put_right(Expected& expected, uint64_t bytes) const noexcept;

private:
    struct Record {
        uint32_t known{0};    // bursts of which it was learned
        double byte_takes{0}; // most of the last ones, at least
        uint32_t late{0};     // that took far longer than that, one after the other
    };
    const Record& of(Scheme way) const noexcept { return records_[static_cast<size_t>(way)]; }

    std::array<Record, kSchemes> records_{};
};

} // namespace odrc::mpi
