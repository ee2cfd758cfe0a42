// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Failures on demand, for tests: only in builds that were configured with --enable-faults. In all
// others the questions below are answered at compile time.

#include <atomic>
#include <cstdint>

namespace odrc::soft {

#ifdef ODRC_FAULTS

inline constexpr bool kFaults = true;

struct Faults {
    std::atomic<int64_t> operations_until_break{-1}; // then one ends as if the peer did not answer
    std::atomic<int64_t> without_receive{0};         // so many tries find no receive posted
    std::atomic<int64_t> empty_polls{0};             // so many polls find no completion
    std::atomic<int64_t> failed_registrations{0};
};

inline Faults faults;

inline bool take_one(std::atomic<int64_t>& count) noexcept {
    int64_t left = count.load();
    while (left > 0)
        if (count.compare_exchange_weak(left, left - 1)) return true;
    return false;
}

inline bool fault_breaks() noexcept {
    return faults.operations_until_break.load() >= 0 &&
           faults.operations_until_break.fetch_sub(1) == 0;
}
inline bool fault_finds_no_receive() noexcept { return take_one(faults.without_receive); }
inline bool fault_empties_poll() noexcept { return take_one(faults.empty_polls); }
inline bool fault_fails_registration() noexcept { return take_one(faults.failed_registrations); }

#else

inline constexpr bool kFaults = false;
constexpr bool fault_breaks() noexcept { return false; }
constexpr bool fault_finds_no_receive() noexcept { return false; }
constexpr bool fault_empties_poll() noexcept { return false; }
constexpr bool fault_fails_registration() noexcept { return false; }

#endif

} // namespace odrc::soft
