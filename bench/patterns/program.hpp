// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// What the programs of this folder have in common: how they are started, measured and checked.

#include "bench/patterns/agreement.hpp"
#include "fabtests_ext/support/options.hpp"
#include "fabtests_ext/support/samples.hpp"

#include <cstdio>

namespace bench {

struct Setting {
    fabtests_ext::Choice choice;
    int processes{4};
    uint64_t seed{1};
};

inline void add_setting(fabtests_ext::CommandLine& command, Setting& setting) {
    fabtests_ext::add_choice(command, setting.choice);
    command.option("-n,--processes", setting.processes);
    command.option("--seed", setting.seed, "what the input follows from");
}

// A process of a program.
class Process {
public:
    Process(fabtests_ext::Team& team, const Setting& setting, size_t most_bytes = 8192,
            Messenger::Groups groups = Messenger::Groups::none)
        : messenger{team, setting.choice, most_bytes, groups}
        , agreement{messenger} {}

    int rank() const noexcept { return messenger.rank(); }
    int size() const noexcept { return messenger.size(); }

    // Which of so many things are this process's: a contiguous part.
    size_t first_of(size_t count) const noexcept { return count * size_t(rank()) / size_t(size()); }
    size_t end_of(size_t count) const noexcept {
        return count * (size_t(rank()) + 1) / size_t(size());
    }

    // Runs what all do at the same time, and says how long the last one took.
    template <class Body>
    void measure(Body&& body) {
        agreement.barrier();
        const uint64_t messages = messenger.sent(), bytes = messenger.sent_bytes();
        const fabtests_ext::Stopwatch stopwatch;
        body();
        const uint64_t sent = messenger.sent() - messages;
        const uint64_t sent_bytes = messenger.sent_bytes() - bytes;
        agreement.barrier();
        if (rank() == 0) std::printf("time %.6f\n", stopwatch.nanoseconds() / 1e9);
        report("messages", sent);
        report("bytes", sent_bytes);
    }

    // Prints the sum over all.
    void report(const char* name, uint64_t mine) {
        const uint64_t sum = agreement.sum(mine);
        if (rank() == 0) std::printf("%s %llu\n", name, static_cast<unsigned long long>(sum));
    }

    // Ends: what a process gives back, given whether its result is what one process alone has.
    int conclude(bool right) {
        const uint64_t wrong = agreement.sum(!right);
        if (!right) std::fprintf(stderr, "rank %d has another result than one process\n", rank());
        messenger.leave();
        return wrong != 0;
    }

    Messenger messenger;
    Agreement agreement;
};

} // namespace bench
