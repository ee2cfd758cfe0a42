// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "mixture/member.hpp"
#include "support/options.hpp"

#include <cstdio>

int main(int argc, char** argv) {
    using namespace fabtests_ext;
    mixture::Options options;
    CLI::App app{"Messages, writes and reads in random mixture, in pieces, checked in every way."};
    add_choice(app, options.choice);
    add_halves(app, options.halves);
    app.add_option("-n,--processes", options.processes)->capture_default_str();
    app.add_option("-o,--operations", options.operations, "of each process, in each of two runs")
        ->capture_default_str();
    app.add_option("-s,--max-size", options.max_size, "of an operation, in bytes")
        ->capture_default_str()
        ->check(CLI::Range(size_t{64}, size_t{1} << 30));
    app.add_option("-w,--window", options.window, "operations under way at a time")
        ->capture_default_str();
    app.add_option("--seed", options.seed)->capture_default_str();
    CLI11_PARSE(app, argc, argv);
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
