// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What the machine itself takes to bring bytes from one processor to another: the floor below
// which no transport of messages gets.

#include "bench/single_copy.hpp"
#include "fabtests_ext/support/command_line.hpp"
#include "fabtests_ext/support/pin.hpp"
#include "fabtests_ext/support/samples.hpp"
#include "fabtests_ext/support/shared.hpp"
#include "fabtests_ext/support/spin.hpp"

#include <atomic>

namespace bench {

using namespace fabtests_ext;

namespace {

struct Options {
    int batches{50};
    int iterations{10'000};
    bool copy{false};
};

// A line for each side to write, in which the other waits for the next word.
struct Lines {
    alignas(64) std::atomic<uint64_t> word[2][8];
};

void handover(Team& team, Lines& lines, const Options& options) {
    auto& mine = lines.word[team.rank()][0];
    const auto& theirs = lines.word[1 - team.rank()][0];
    uint64_t turn = 0;
    const auto say = [&] { mine.store(turn, std::memory_order_release); };
    const auto hear = [&] {
        spin_until([&] { return theirs.load(std::memory_order_acquire) == turn; });
    };
    Samples samples;
    for (int batch = 0; batch <= options.batches; ++batch) {
        const Stopwatch watch;
        for (int i = 0; i < options.iterations; ++i) {
            ++turn;
            if (team.rank() == 0) say();
            hear();
            if (team.rank() == 1) say();
        }
        if (batch > 0) samples.add(watch.nanoseconds() / (2.0 * options.iterations));
    }
    if (team.rank() == 0) samples.report("handover", "ns");
}

} // namespace
} // namespace bench

int main(int argc, char** argv) {
    using namespace bench;
    Options options;
    CommandLine command{
        "The cost of handing a cache line, or a block of memory, to another processor."};
    command.option("-b,--batches", options.batches);
    command.option("-i,--iterations", options.iterations, "of a batch");
    command.flag("-c,--copy", options.copy, "blocks: process_vm_writev, -readv and memcpy");
    if (!command.read(argc, argv)) return command.status();
    const Shared<Lines> lines;
    const SingleCopy copy;
    return fabtests_ext::run_team(2, [&](Team& team) {
        fabtests_ext::pin(team.rank());
        if (options.copy)
            copy.run(team, options.batches);
        else
            handover(team, *lines, options);
        return 0;
    });
}
