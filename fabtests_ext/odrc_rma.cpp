// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Reads, writes and atomic operations on the memory of another process of this host: how long one
// takes, and how many or how many bytes go through.

#include "logp/there_and_back.hpp"
#include "logp/writes.hpp"
#include "rma/operations.hpp"
#include "support/batches.hpp"
#include "support/options.hpp"
#include "support/pin.hpp"
#include "support/samples.hpp"
#include "support/shared.hpp"

#include <algorithm>
#include <map>

namespace fabtests_ext::rma {
namespace {

struct Options {
    Choice choice;
    std::vector<std::string> operations{"write", "read", "add", "fetch-add", "compare-swap"};
    std::vector<size_t> sizes{8};
    Effort effort{.batches = 20, .iterations = 1'000};
    int window{64};
};

const std::map<std::string, Operation> kOperations{{"write", Operation::write},
                                                   {"read", Operation::read},
                                                   {"add", Operation::add},
                                                   {"fetch-add", Operation::fetch_add},
                                                   {"compare-swap", Operation::compare_swap}};

// Bytes after which a batch of large operations has lasted long enough.
constexpr size_t kBatchBytes = 16u << 20;

constexpr size_t kWarm = 50; // operations of the batch that is not counted

using Over = Shared<std::atomic<unsigned>>;

size_t iterations(const Options& options, size_t size) {
    const size_t most = std::max<size_t>(kBatchBytes / size, 1);
    return std::min(static_cast<size_t>(options.effort.iterations), most);
}

// Those that nothing comes back from are over here before they are there: to and fro, each side
// waits for the other's.
void one_way(Team& team, const Options& options) {
    logp::Writes writes{team, options.choice, std::ranges::max(options.sizes)};
    for (const size_t size : options.sizes) {
        const size_t times = iterations(options, size);
        writes.begin(size);
        there_and_back(writes, std::min(times, kWarm));
        const auto meet = [&] { team.barrier([&] { writes.reap(); }); };
        meet();
        Samples samples;
        Batches batches{team, options.effort.batches, options.effort.seconds};
        while (batches.next()) {
            samples.add(there_and_back(writes, times));
            meet();
        }
        if (writes.first()) samples.report("latency.write." + std::to_string(size), "us");
    }
    team.barrier();
}

void measure(Team& team, const Options& options, const std::string& name, Over& over) {
    const Operation operation = kOperations.at(name);
    over->store(0);
    Operations operations{team, options.choice, operation, std::ranges::max(options.sizes), *over};
    const auto sizes = is_atomic(operation) ? std::vector<size_t>{8} : options.sizes;
    const auto window = static_cast<size_t>(options.window);
    for (const size_t size : sizes) {
        const size_t times = iterations(options, size);
        operations.run(size, std::min(times, kWarm), 1);
        Samples latency, rate, bandwidth;
        Batches batches{team, options.effort.batches, options.effort.seconds};
        while (batches.next()) {
            const double alone = operations.run(size, times, 1);
            const double together = operations.run(size, times, window);
            if (!operations.first()) continue;
            latency.add(alone);
            rate.add(1 / together);
            bandwidth.add(static_cast<double>(size) / together / 1e3);
        }
        if (!operations.first()) continue;
        const std::string what = name + "." + std::to_string(size);
        if (operation != Operation::write) latency.report("latency." + what, "us");
        rate.report("rate." + what, "M/s");
        if (!is_atomic(operation)) bandwidth.report("bandwidth." + what, "GB/s");
    }
    team.barrier();
}

void run(Team& team, const Options& options, Over& over) {
    for (const std::string& name : options.operations) {
        if (kOperations.at(name) == Operation::write) one_way(team, options);
        measure(team, options, name, over);
    }
}

} // namespace
} // namespace fabtests_ext::rma

int main(int argc, char** argv) {
    using namespace fabtests_ext;
    rma::Options options;
    CommandLine command{"Reads, writes and atomic operations on the memory of another process."};
    add_choice(command, options.choice);
    command.option("-t,--operation", options.operations, "what is done; several are in turn")
        .one_of(options.operations);
    command
        .option("-s,--size", options.sizes,
                "of a read or write, in bytes; several are measured in turn")
        .positive();
    add_effort(command, options.effort, "of a batch; fewer for large operations");
    command
        .option("-w,--window", options.window,
                "operations under way at a time, for rate and bandwidth")
        .within(1, 256);
    if (!command.read(argc, argv)) return command.status();
    rma::Over over;
    return run_team(2, [&](Team& team) {
        pin(team.rank());
        rma::run(team, options, over);
        return 0;
    });
}
