// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What operations between two endpoints of one process take, in steady state. Each step of them is
// a function of its own.

#include "bench/job.hpp"
#include "fabtests_ext/support/options.hpp"
#include "operations.hpp"
#include "options.hpp"
#include "posts.hpp"

#include <algorithm>

namespace counts {

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

} // extern "C"

namespace {

using namespace fabtests_ext;

struct Options : Settings {
    Choice choice;
    bool job{false};
};

class Pair {
public:
    Pair(const Options& options, bool remote)
        : from_{options.choice, wishes(options, 0, remote), remote}
        , to_{options.choice, wishes(options, 1, remote), remote} {
        from_.meet(to_);
        to_.meet(from_);
    }

    void count_posts(Observation& observation) {
        for (const Side* side : {&from_, &to_})
            count_posts_in(observation, *side->endpoint().domain());
    }

    // Whoever is waited for gets a turn, as long as anybody is.
    void run(const Operation& operation) {
        if (!operation.message() && !operation.remote()) return look(operation.kind);
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

private:
    // Of what goes before it the steps do not count. There is always an answer: windows go with it,
    // and in no frames of their own.
    void look(Operation::Kind kind) {
        if (kind == Operation::Kind::look_again) transmit(from_, to_);
        if (kind != Operation::Kind::look) transmit(to_, from_);
        if (kind == Operation::Kind::look_for_answer) transmit(from_, to_);
        step_complete(from_);
    }
    static void transmit(Side& from, Side& to) {
        const Operation& message = kOperations[0];
        to.post_receive(message);
        while (from.post(message) == -FI_EAGAIN) from.look();
        while (!to.look()) from.look();
    }

    static Wishes wishes(const Options& options, uint32_t rank, bool remote) {
        const uint64_t caps =
            FI_MSG | FI_TAGGED | FI_DIRECTED_RECV | (remote ? FI_RMA | FI_ATOMIC : 0);
        Wishes wishes = options.job ? bench::wishes_in_job(rank, 2, caps) : Wishes{.caps = caps};
        if (remote) wishes.mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
        return wishes;
    }

    Side from_, to_;
};

// Of how many the mean is taken.
int times_of(const Operation& operation) noexcept { return operation.bytes < (64 << 10) ? 128 : 8; }

int run(const Options& options, Measurement& measurement) {
    std::vector<Operation> chosen;
    for (const Operation& o : kOperations)
        if (options.wants(o.name)) chosen.push_back(o);
    Pair pair{options, std::ranges::any_of(chosen, &Operation::remote)};
    if (options.observe) pair.count_posts(measurement.observation());
    for (int i = 0; i < 1000; ++i) pair.run(kOperations[0]); // a ring is earned
    for (const Operation& o : chosen)
        measurement.measure(o.name, times_of(o), [&] { pair.run(o); });
    return 0;
}

} // namespace
} // namespace counts

int main(int argc, char** argv) {
    using namespace counts;
    Options options;
    CommandLine command{"Operations between two endpoints, step by step."};
    add_choice(command, options.choice);
    std::vector<std::string> names;
    for (const Operation& o : kOperations) names.emplace_back(o.name);
    add_settings(command, options, names);
    command.flag("-j,--job", options.job, "the endpoints are of one job: odrc's addresses");
    if (!command.read(argc, argv)) return command.status();
    return Measurement::run(options, true, [&](Measurement& m) { return run(options, m); });
}
