// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "mixture/member.hpp"
#include "support/options.hpp"

#include <cstdio>

int main(int argc, char** argv) {
    using namespace fabtests_ext;
    mixture::Options options;
    CommandLine command{
        "Messages, writes and reads in random mixture, in pieces, checked in every way."};
    add_choice(command, options.choice);
    add_halves(command, options.halves);
    command.option("-n,--processes", options.processes);
    command.option("-o,--operations", options.operations, "of each process, in each of two runs");
    command.option("-s,--max-size", options.max_size, "of an operation, in bytes")
        .within(size_t{64}, size_t{1} << 30);
    command.option("-w,--window", options.window, "operations under way at a time");
    command.option("--seed", options.seed);
    if (!command.read(argc, argv)) return command.status();
    const auto body = [&](Team& team) {
        for (const bool events : {false, true}) {
            mixture::Member member{team, options, events};
            member.run();
            const auto bytes = team.sum(member.bytes());
            if (team.rank() == 0)
                std::printf("%d processes, %llu operations%s, %.1f MB: all as they should be\n",
                            team.size(), options.operations * unsigned(team.size()) + 0ull,
                            events ? " with RMA events" : "", static_cast<double>(bytes) / 1e6);
        }
        return 0;
    };
    return run_team(options.processes, body, options.halves);
}
