// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What it takes to connect all to all, by numbers, by ranges and on demand (Xu et al. 2024).

#include "bench/all_to_all/measurements.hpp"

#include <CLI/CLI.hpp>

int main(int argc, char** argv) {
    using namespace bench;
    size_t most = 4096;
    std::vector<std::pair<int, size_t>> jobs;
    CLI::App app{"What it takes to connect all to all on soft0."};
    app.add_option("-m,--most", most, "peers, of whom numbers are told")->capture_default_str();
    app.add_option("-j,--job", jobs, "processes and endpoints of all together, at most 1024");
    CLI11_PARSE(app, argc, argv);
    if (jobs.empty()) jobs = {{16, 16}, {64, 64}, {16, 256}};
    int failed = published_bytes(4, most) | creation(most);
    for (const auto& [processes, endpoints] : jobs) failed |= set_up(processes, endpoints);
    return failed;
}
