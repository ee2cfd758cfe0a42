// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The soft device by itself: two processes and the verbs calls between them, no libfabric.

#include "bench/soft_verbs/measurements.hpp"
#include "fabtests_ext/support/command_line.hpp"
#include "fabtests_ext/support/pin.hpp"

#include <map>

int main(int argc, char** argv) {
    using namespace bench;
    const std::map<std::string, void (*)(Team&, const Options&)> measurements{
        {"write", write_latency}, {"send", send_latency}, {"rate", send_rate}, {"bw", bandwidth}};
    Options options;
    std::vector<std::string> chosen{"write", "send", "rate", "bw"};
    fabtests_ext::CommandLine command{
        "Latency, message rate and bandwidth of soft0 between two processes."};
    command.option("measurement", chosen, "write, send, rate, bw (default: all)")
        .checked_by([&](const std::string& name) {
            return measurements.contains(name) ? std::string{} : "no such measurement";
        });
    command.option("-b,--batches", options.batches);
    command.option("-i,--iterations", options.iterations, "of a batch of small messages");
    if (!command.read(argc, argv)) return command.status();
    return fabtests_ext::run_team(2, [&](Team& team) {
        fabtests_ext::pin(team.rank());
        for (const std::string& name : chosen) measurements.at(name)(team, options);
        return 0;
    });
}
