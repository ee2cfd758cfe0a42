// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What the machine itself takes to bring bytes from one processor to another: the floor below
// which no transport of messages gets, and bare loops that do no more than one has to.

#include "bench/single_copy.hpp"
#include "fabtests_ext/support/command_line.hpp"
#include "fabtests_ext/support/pin.hpp"
#include "fabtests_ext/support/samples.hpp"
#include "fabtests_ext/support/shared.hpp"
#include "fabtests_ext/support/spin.hpp"

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace bench {

using namespace fabtests_ext;

namespace {

struct Options {
    int batches{50};
    int iterations{10'000};
    bool copy{false};
    std::vector<size_t> blocks{};
};

// Memory for each side to write to, with a word behind it for which the other one waits: of no
// bytes it is a line of the cache.
struct Memory {
    static constexpr size_t kMost = size_t{64} << 10;

    struct Side {
        alignas(4096) std::byte bytes[kMost + sizeof(uint64_t)];

        std::atomic_ref<uint64_t> word_behind(size_t size) {
            constexpr size_t kWord = sizeof(uint64_t);
            const size_t at = (size + kWord - 1) / kWord * kWord;
            return std::atomic_ref{*reinterpret_cast<uint64_t*>(bytes + at)};
        }
    } sides[2];
};

// What one side copies from and to: where pages begin, as copies are quickest.
struct Own {
    alignas(4096) std::byte out[Memory::kMost];
    alignas(4096) std::byte in[Memory::kMost];
};

// Each copies so many bytes in when it is its turn, and out what the other one has. Whoever has
// read a line writes to it, too: its writer then gets it back sooner than one that both have.
void hand_over(Team& team, Memory& memory, size_t size, const Options& options) {
    Memory::Side &here = memory.sides[team.rank()], &there = memory.sides[1 - team.rank()];
    const auto mine = here.word_behind(size), theirs = there.word_behind(size);
    constexpr size_t kLine = 64;
    const auto own = std::make_unique<Own>();
    uint64_t turn = 0;
    mine.store(turn, std::memory_order_relaxed);
    team.barrier();
    const auto say = [&] {
        std::memcpy(here.bytes, own->out, size);
        mine.store(turn, std::memory_order_release);
    };
    const auto hear = [&] {
        spin_until([&] { return theirs.load(std::memory_order_acquire) == turn; });
        std::memcpy(own->in, there.bytes, size);
        for (size_t at = 0; at + kLine <= size; at += kLine)
            std::atomic_ref{there.bytes[at]}.store(std::byte{}, std::memory_order_relaxed);
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
    team.barrier();
    if (team.rank() == 0)
        samples.report(size > 0 ? "blocks." + std::to_string(size) : "handover", "ns");
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
    command
        .option("-s,--sizes", options.blocks,
                "bytes of blocks that one copies in and the other one out")
        .within(1, Memory::kMost);
    if (!command.read(argc, argv)) return command.status();
    if (options.blocks.empty()) options.blocks = {0};
    const Shared<Memory> memory;
    const SingleCopy copy;
    return fabtests_ext::run_team(2, [&](Team& team) {
        fabtests_ext::pin(team.rank());
        if (options.copy)
            copy.run(team, options.batches);
        else
            for (const size_t size : options.blocks) hand_over(team, *memory, size, options);
        return 0;
    });
}
