// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Operations between two endpoints of one process, in steady state, each step of them a function of
// its own, for a program that counts instructions: bench/instructions. With --observe it counts
// what else they take by itself, and exits with 77 where nobody may look on.

#include "bench/job.hpp"
#include "fabtests_ext/support/options.hpp"
#include "operations.hpp"
#include "posts.hpp"

#include <algorithm>
#include <alloca.h>
#include <functional>
#include <system_error>

namespace counts {
namespace {

using namespace fabtests_ext;

constexpr int kSkip = 77;
constexpr int kTimes = 3; // that many are observed

// As much as the cache holds that bench/instructions has simulated: to read it leaves nothing else
// there, and so each operation misses each line that it touches, and that once.
constexpr size_t kCache = 512 << 10;

struct Options {
    Choice choice;
    std::vector<std::string> operations;
    bool job{false};
    bool observe{false};
    bool traced{true};
};

} // namespace
} // namespace counts

using counts::Operation;
using counts::Side;

// The steps that are counted, under names that can be asked for.
extern "C" {

[[gnu::noinline]] void step_post_receive(Side& to, const Operation& operation) {
    to.post_receive(operation);
}
[[gnu::noinline]] ssize_t step_post(Side& from, const Operation& operation) {
    return from.post(operation);
}
[[gnu::noinline]] bool step_complete(Side& from) { return from.look(); }
[[gnu::noinline]] bool step_complete_receive(Side& to) { return to.look(); }

// What was counted was this operation's.
[[gnu::noinline]] void operation_over() { asm volatile(""); }

} // extern "C"

namespace counts {
namespace {

class Pair {
public:
    Pair(const Options& options, Observation& observation, bool remote)
        : from_{options.choice, wishes(options, 0, remote), remote}
        , to_{options.choice, wishes(options, 1, remote), remote}
        , observation_{observation}
        , cache_(kCache) {
        from_.meet(to_);
        to_.meet(from_);
    }

    void count_posts() {
        for (const Side* side : {&from_, &to_})
            count_posts_in(observation_, *side->endpoint().domain());
    }

    // What is made once is made now.
    void warm_up(const Operation& operation, int times) {
        for (; times > 0; --times) run(operation);
    }

    void run(const Operation& operation, int times) {
        for (; times > 0; --times) {
            empty_cache();
            run(operation);
        }
    }

private:
    static Wishes wishes(const Options& options, uint32_t rank, bool remote) {
        const uint64_t caps =
            FI_MSG | FI_TAGGED | FI_DIRECTED_RECV | (remote ? FI_RMA | FI_ATOMIC : 0);
        Wishes wishes = options.job ? bench::wishes_in_job(rank, 2, caps) : Wishes{.caps = caps};
        if (remote) wishes.mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
        return wishes;
    }

    // Whoever is waited for gets a turn, as long as anybody is.
    void run(const Operation& operation) {
        const Observed observed{observation_};
        if (operation.kind == Operation::Kind::look) return void(step_complete(from_));
        if (operation.message()) step_post_receive(to_, operation);
        while (const ssize_t result = step_post(from_, operation)) {
            if (result != -FI_EAGAIN) check(result, operation.name);
            step_complete(from_);
            step_complete_receive(to_);
        }
        bool done = false, received = !operation.message();
        do {
            done = step_complete(from_) || done || operation.kind == Operation::Kind::inject;
            if (!done || !received) received = step_complete_receive(to_) || received;
        } while (!done || !received);
    }

    void empty_cache() const noexcept {
        for (size_t i = 0; i < cache_.size(); i += 64)
            static_cast<void>(*static_cast<const volatile char*>(&cache_[i]));
    }

    Side from_, to_;
    Observation& observation_;
    std::vector<char> cache_;
};

// Of how many the mean is taken.
int times_of(const Operation& operation) noexcept { return operation.bytes < (64 << 10) ? 128 : 8; }

struct Quantity {
    const char* name;
    uint64_t Observation::*count;
    bool traced; // of the process that looks on, and of allocations that are the C library's
};
constexpr Quantity kQuantities[] = {
    {"work_requests", &Observation::work_requests, false},
    {"doorbells", &Observation::doorbells, false},
    {"wire_bytes", &Observation::wire_bytes, false},
    {"receive_requests", &Observation::receive_requests, false},
    {"receive_doorbells", &Observation::receive_doorbells, false},
    {"allocations", &Observation::allocations, true},
    {"system_calls", &Observation::system_calls, true},
};

// The watchdog may have stepped in where this process had no turn for long: the least counts.
void observe(Pair& pair, const Operation& operation, bool traced, Observation& observation) {
    Observation seen[kTimes];
    for (Observation& one : seen) {
        observation = {};
        pair.run(operation, times_of(operation));
        one = observation;
    }
    for (const Quantity& q : kQuantities) {
        if (q.traced && !traced) continue;
        const uint64_t least = std::invoke(q.count, std::ranges::min(seen, {}, q.count));
        std::printf("%s\t%s\t%.2f\n", operation.name, q.name, double(least) / times_of(operation));
    }
}

[[gnu::noinline]] int run(const Options& options, Observation& observation) {
    std::vector<Operation> chosen;
    for (const Operation& o : kOperations)
        if (options.operations.empty() || std::ranges::count(options.operations, o.name))
            chosen.push_back(o);
    Pair pair{options, observation, std::ranges::any_of(chosen, &Operation::remote)};
    if (options.observe) pair.count_posts();
    if (options.observe && options.traced) count_allocations_in(observation);
    pair.warm_up(kOperations[0], 1000); // a ring is earned
    for (const Operation& o : chosen) {
        pair.warm_up(o, times_of(o));
        operation_over();
        if (options.observe) {
            observe(pair, o, options.traced, observation);
            continue;
        }
        pair.run(o, times_of(o));
        operation_over();
        std::printf("%s %d\n", o.name, times_of(o));
    }
    return 0;
}

} // namespace
} // namespace counts

int main(int argc, char** argv) {
    using namespace counts;
    Options options;
    CLI::App app{"Operations between two endpoints, step by step."};
    add_choice(app, options.choice);
    std::vector<std::string> names;
    for (const Operation& o : kOperations) names.emplace_back(o.name);
    app.add_option("-o,--operation", options.operations, "these alone (default: all)")
        ->delimiter(',')
        ->check(CLI::IsMember(names));
    app.add_flag("-j,--job", options.job, "the endpoints are of one job: odrc's addresses");
    auto* observe =
        app.add_flag("--observe", options.observe,
                     "count what is posted to odrc's device, allocations, system calls");
    app.add_flag("!--untraced", options.traced, "of these, just what is posted")->needs(observe);
    CLI11_PARSE(app, argc, argv);
    // The environment is above the stack: whatever its size, the lines of the cache are the same.
    asm volatile("" ::"r"(alloca(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) % 4096)));
    const Shared<Observation> observation;
    if (!options.observe || !options.traced) return run(options, *observation);
    try {
        return trace(*observation, [&] { return run(options, *observation); });
    } catch (const std::system_error& e) {
        std::printf("SKIP: nobody may look on: %s\n", e.what());
        return kSkip;
    }
}
