// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Failures on demand, for tests: only in builds that were configured with --enable-faults. In all
// others the questions below are answered at compile time.

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <random>

namespace odrc::soft {

#ifdef ODRC_FAULTS

inline constexpr bool kFaults = true;

struct Faults {
    std::atomic<int64_t> operations_until_break{-1}; // then one ends as if the peer did not answer
    // One in so many, at random, breaks its connection: it is not carried out, or it is and seems
    // not to be. Of datagrams, one in so many is lost, or comes twice. 0: none.
    std::atomic<uint32_t> lost_one_in{0};
    std::atomic<uint32_t> unacknowledged_one_in{0};
    std::atomic<int64_t> without_receive{0}; // so many tries find no receive posted
    std::atomic<int64_t> empty_polls{0};     // so many polls find no completion
    std::atomic<int64_t> failed_registrations{0};
};

inline Faults faults;

inline bool take_one(std::atomic<int64_t>& count) noexcept {
    int64_t left = count.load();
    while (left > 0)
        if (count.compare_exchange_weak(left, left - 1)) return true;
    return false;
}

inline bool strikes(const std::atomic<uint32_t>& one_in) noexcept {
    // The generator's state, for all threads: two that draw at once may draw the same.
    static std::atomic<uint32_t> drawn{std::random_device{}()};
    const uint32_t n = one_in.load(std::memory_order_relaxed);
    if (n == 0) return false;
    const auto next = static_cast<uint32_t>(std::minstd_rand(drawn.load())());
    drawn.store(next);
    return next % n == 0;
}

// ODRC_FAULT_LOST and ODRC_FAULT_UNACKNOWLEDGED, for programs that know nothing of all this. Looked
// at whenever a queue pair is connected, and, should they be set, when memory is registered.
inline void read_fault(std::atomic<uint32_t>& one_in, const char* name, bool anew) noexcept {
    const char* text = std::getenv(name);
    if (text || anew) one_in = text ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10)) : 0;
}
inline void read_faults(bool anew) noexcept {
    read_fault(faults.lost_one_in, "ODRC_FAULT_LOST", anew);
    read_fault(faults.unacknowledged_one_in, "ODRC_FAULT_UNACKNOWLEDGED", anew);
}

inline bool fault_breaks() noexcept {
    return (faults.operations_until_break.load() >= 0 &&
            faults.operations_until_break.fetch_sub(1) == 0) ||
           strikes(faults.lost_one_in);
}
inline bool fault_loses_answer() noexcept { return strikes(faults.unacknowledged_one_in); }
inline bool fault_loses_datagram() noexcept { return strikes(faults.lost_one_in); }
inline bool fault_doubles_datagram() noexcept { return strikes(faults.unacknowledged_one_in); }
inline bool fault_finds_no_receive() noexcept { return take_one(faults.without_receive); }
inline bool fault_empties_poll() noexcept { return take_one(faults.empty_polls); }
inline bool fault_fails_registration() noexcept { return take_one(faults.failed_registrations); }

#else

inline constexpr bool kFaults = false;
constexpr void read_faults(bool) noexcept {}
constexpr bool fault_loses_answer() noexcept { return false; }
constexpr bool fault_breaks() noexcept { return false; }
constexpr bool fault_loses_datagram() noexcept { return false; }
constexpr bool fault_doubles_datagram() noexcept { return false; }
constexpr bool fault_finds_no_receive() noexcept { return false; }
constexpr bool fault_empties_poll() noexcept { return false; }
constexpr bool fault_fails_registration() noexcept { return false; }

#endif

} // namespace odrc::soft
