// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The soft device by itself: two processes and the verbs calls between them, no libfabric.

#include "bench/soft_verbs/measurements.hpp"
#include "fabtests_ext/support/pin.hpp"

#include <CLI/CLI.hpp>
#include <map>

int main(int argc, char** argv) {
    using namespace bench;
    const std::map<std::string, void (*)(Team&, const Options&)> measurements{
        {"write", write_latency}, {"send", send_latency}, {"rate", send_rate}, {"bw", bandwidth}};
    Options options;
    std::vector<std::string> chosen{"write", "send", "rate", "bw"};
    CLI::App app{"Latency, message rate and bandwidth of soft0 between two processes."};
    app.add_option("measurement", chosen, "write, send, rate, bw (default: all)")
        ->check([&](const std::string& name) {
            return measurements.contains(name) ? std::string{} : "no such measurement";
        });
    app.add_option("-b,--batches", options.batches)->capture_default_str();
    app.add_option("-i,--iterations", options.iterations, "of a batch of small messages")
        ->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    return fabtests_ext::run_team(2, [&](Team& team) {
        fabtests_ext::pin(team.rank());
        for (const std::string& name : chosen) measurements.at(name)(team, options);
        return 0;
    });
}
