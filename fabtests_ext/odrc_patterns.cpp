// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Who talks to whom: the communication patterns of parallel programs, a few rounds of each. What
// they cost in connections and memory, the provider counts (FI_ODRC_PROFILE for odrc).

#include "fabtests_ext/patterns/patterns.hpp"
#include "support/options.hpp"

#include <cstdio>
#include <map>

namespace fabtests_ext {
namespace {

struct Options {
    Choice choice;
    int processes{16};
    int rounds{10};
    std::string pattern;
};

const std::map<std::string, void (*)(Member&)> kPatterns{
    {"idle", idle},           {"ring", ring},         {"barrier", barrier},
    {"bcast", broadcast},     {"gather", gather},     {"allreduce", allreduce},
    {"allgather", allgather}, {"alltoall", alltoall}, {"cg", conjugate_gradient},
    {"mg", multigrid},        {"is", integer_sort},   {"lu", lower_upper},
    {"sp", multi_partition},  {"bt", multi_partition}};

int run(Team& team, const Options& options) {
    Member member{team, options.choice};
    for (int i = 0; i < options.rounds; ++i) kPatterns.at(options.pattern)(member);
    team.barrier();
    if (team.rank() == 0)
        std::printf("%s: %d rounds by %d processes\n", options.pattern.c_str(), options.rounds,
                    team.size());
    return 0;
}

} // namespace
} // namespace fabtests_ext

int main(int argc, char** argv) {
    using namespace fabtests_ext;
    Options options;
    CommandLine command{"Communication patterns of parallel programs."};
    command
        .option("pattern", options.pattern,
                "idle, ring, barrier, bcast, gather, allreduce, allgather, alltoall, cg, mg, "
                "is, lu, sp, bt")
        .required()
        .checked_by([](const std::string& name) {
            return kPatterns.contains(name) ? std::string{} : "no such pattern";
        });
    add_choice(command, options.choice);
    command.option("-n,--processes", options.processes);
    command.option("-r,--rounds", options.rounds);
    if (!command.read(argc, argv)) return command.status();
    return run_team(options.processes, [&](Team& team) { return run(team, options); });
}
