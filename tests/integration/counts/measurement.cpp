// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "measurement.hpp"

#include <algorithm>
#include <alloca.h>
#include <cstdio>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

extern "C" {

// What was counted was this operation's.
[[gnu::noinline]] void operation_over() { asm volatile(""); }

// The provider's, too: nobody has taken this process's processor. Else whoever looks in vain beside
// others yields to them, and the counts are of that machine.
[[gnu::visibility("default")]] int getrusage(__rusage_who_t who, rusage* usage) noexcept {
    const auto result = static_cast<int>(syscall(SYS_getrusage, who, usage));
    usage->ru_nivcsw = 0;
    return result;
}

} // extern "C"

namespace counts {
namespace {

constexpr int kSkip = 77;
constexpr int kTimes = 3; // that many are observed

// As much as the cache holds that bench/instructions has simulated: to read it leaves nothing else
// there, and so each operation misses each line that it touches, and that once.
constexpr size_t kCache = 512 << 10;

struct Quantity {
    const char* name;
    uint64_t Observation::*count;
    bool posted; // else it needs one who looks on, and allocations that are the C library's
};
constexpr Quantity kQuantities[] = {
    {"work_requests", &Observation::work_requests, true},
    {"doorbells", &Observation::doorbells, true},
    {"direct_writes", &Observation::direct_writes, true},
    {"wire_bytes", &Observation::wire_bytes, true},
    {"receive_requests", &Observation::receive_requests, true},
    {"receive_doorbells", &Observation::receive_doorbells, true},
    {"allocations", &Observation::allocations, false},
    {"system_calls", &Observation::system_calls, false},
};

} // namespace

bool Settings::wants(const char* operation) const noexcept {
    return operations.empty() || std::ranges::count(operations, operation) > 0;
}

int Measurement::run(const Settings& settings, bool posts,
                     const std::function<int(Measurement&)>& body) {
    // The environment is above the stack: whatever its size, the lines of the cache are the same.
    asm volatile("" ::"r"(alloca(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) % 4096)));
    const fabtests_ext::Shared<Observation> observation;
    Measurement measurement{settings, posts, *observation};
    if (!settings.observe || !settings.traced) return body(measurement);
    try {
        return trace(*observation, [&] {
            count_allocations_in(*observation);
            return sees(*observation) ? body(measurement) : 1;
        });
    } catch (const std::system_error& e) {
        std::printf("SKIP: nobody may look on: %s\n", e.what());
        return kSkip;
    }
}

Measurement::Measurement(const Settings& settings, bool posts, Observation& observation)
    : settings_{settings}
    , posts_{posts}
    , observation_{observation}
    , cache_(kCache) {}

void Measurement::measure(const char* operation, int times, const std::function<void()>& once) {
    if (settings_.times > 0) times = settings_.times;
    for (int i = 0; i < times; ++i) once();
    operation_over();
    if (settings_.observe) return observe(operation, times, once);
    repeat(times, once);
    operation_over();
    std::printf("%s %d\n", operation, times);
}

void Measurement::repeat(int times, const std::function<void()>& once) {
    for (int i = 0; i < times; ++i) {
        empty_cache();
        const Observed observed{observation_};
        once();
    }
}

// The watchdog may have stepped in where this process had no turn for long: the least counts.
void Measurement::observe(const char* operation, int times, const std::function<void()>& once) {
    Observation seen[kTimes];
    for (Observation& one : seen) {
        observation_ = {};
        repeat(times, once);
        one = observation_;
    }
    for (const Quantity& q : kQuantities) {
        if (!(q.posted ? posts_ : settings_.traced)) continue;
        const uint64_t least = std::invoke(q.count, std::ranges::min(seen, {}, q.count));
        std::printf("%s\t%s\t%.2f\n", operation, q.name, double(least) / times);
    }
}

void Measurement::empty_cache() const noexcept {
    for (size_t i = 0; i < cache_.size(); i += 64)
        static_cast<void>(*static_cast<const volatile char*>(&cache_[i]));
}

} // namespace counts
