// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What it takes to connect all to all, by numbers, by ranges and on demand (Xu et al. 2024).

#include "bench/all_to_all/measurements.hpp"
#include "fabtests_ext/support/command_line.hpp"

int main(int argc, char** argv) {
    using namespace bench;
    size_t most = 4096;
    std::vector<size_t> job;
    fabtests_ext::CommandLine command{"What it takes to connect all to all on soft0."};
    command.option("-m,--most", most, "peers, of whom numbers are told");
    command.option("-j,--job", job, "processes, and endpoints of all together, at most 1024")
        .exactly(2);
    if (!command.read(argc, argv)) return command.status();
    const int failed = published_bytes(4, most) | creation(most);
    if (!job.empty()) return failed | set_up(static_cast<int>(job[0]), job[1]);
    return failed | set_up(16, 16) | set_up(64, 64) | set_up(16, 256);
}
