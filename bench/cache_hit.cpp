// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What it takes to find memory in the registration cache, and to give it back.

#include "tests/unit/registering_device.hpp"
#include "verbs_rc/registration_cache.hpp"

#include <benchmark/benchmark.h>
#include <sys/mman.h>

namespace {

using namespace odrc;
using verbs::RegistrationCache;

constexpr size_t kStretch = size_t{16} << 10;

enum class HandedOver { before_the_last_question, just_now };

// Goes through so many stretches in turn.
void find(benchmark::State& state, Gate::Kind threads, HandedOver handed_over) {
    const auto stretches = static_cast<size_t>(state.range(0));
    const auto monitor = verbs::MemoryMonitor::of_process();
    if (!monitor) return state.SkipWithError("no userfaultfd");
    Watchdog watchdog;
    rig::RegisteringDevice device;
    const RegistrationCache::Limits limits{.count = stretches, .bytes = stretches * kStretch};
    RegistrationCache cache{device, nullptr, threads, limits, monitor, watchdog};
    auto* memory = static_cast<std::byte*>(
        mmap(nullptr, limits.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    const auto before = cache.now();
    size_t i = 0;
    bool fresh;
    for (; i < stretches; ++i) cache.take(memory + i * kStretch, kStretch, 0, cache.now(), fresh);
    for (auto _ : state) {
        i = i + 1 < stretches ? i + 1 : 0;
        const auto moment = handed_over == HandedOver::just_now ? cache.now() : before;
        const auto use = cache.take(memory + i * kStretch, kStretch, 0, moment, fresh);
        if (!use || fresh) return state.SkipWithError("not found");
    }
    munmap(memory, limits.bytes);
}

BENCHMARK_CAPTURE(find, one_thread, Gate::Kind::one_thread, HandedOver::before_the_last_question)
    ->Arg(1)
    ->Arg(1024);
BENCHMARK_CAPTURE(find, many_threads, Gate::Kind::many_threads,
                  HandedOver::before_the_last_question)
    ->Arg(1)
    ->Arg(1024);
BENCHMARK_CAPTURE(find, one_thread_asks, Gate::Kind::one_thread, HandedOver::just_now)
    ->Arg(1)
    ->Arg(1024);

} // namespace

BENCHMARK_MAIN();
