// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What it takes a device to move so many bytes in each of the ways among which the provider
// chooses, over a connection to itself, from the call to the completion; and what it chooses.

#include "base/parameters.hpp"
#include "base/watchdog.hpp"
#include "fabtests_ext/support/command_line.hpp"
#include "fabtests_ext/support/samples.hpp"
#include "ofi/devices.hpp"
#include "transfer/device_costs.hpp"

namespace {

using namespace odrc;
using fabtests_ext::Samples;
using fabtests_ext::Stopwatch;
using transfer::DeviceLoop;

constexpr size_t kMost = 65536;
constexpr size_t kAnnounced = 64; // bytes that announce a message, or tell that it was read

// A message in each of the ways that it may go, as its receiver has it.
class Ways {
public:
    explicit Ways(verbs::Adapter& adapter)
        : max_inline_{adapter.max_inline()}
        , whole_memory_{adapter.whole_memory_key()}
        , loop_{adapter, kMost, std::chrono::nanoseconds::max()} {}

    void inlined(size_t bytes) { loop_.inlined(bytes); }
    void copied(size_t bytes) { loop_.copied(bytes); }
    void gathered(size_t bytes) { loop_.gathered(bytes); }
    // In its frame, and out of the buffer that it came to.
    void eager(size_t bytes) {
        bytes <= max_inline_ ? inlined(bytes) : whole_memory_ ? gathered(bytes) : copied(bytes);
        loop_.taken(bytes);
    }
    // Announced, read, and told so.
    void announced(size_t bytes) {
        loop_.inlined(std::min<size_t>(kAnnounced, max_inline_));
        loop_.read(bytes);
        loop_.inlined(std::min<size_t>(kAnnounced, max_inline_));
    }

private:
    const uint32_t max_inline_;
    const bool whole_memory_;
    DeviceLoop loop_;
};

using Way = void (Ways::*)(size_t);
constexpr Way kWays[] = {&Ways::inlined, &Ways::copied, &Ways::gathered, &Ways::eager,
                         &Ways::announced};

void measure(const verbs::Device& device, int rounds, int times) {
    Watchdog watchdog;
    verbs::Adapter adapter{device, Gate::Kind::one_thread, watchdog};
    const uint32_t max_inline = adapter.max_inline();
    Ways ways{adapter};
    std::printf("%s, %u bytes inline, %s; us\n%10s %10s %10s %10s %10s %10s\n",
                device.port().name().c_str(), max_inline,
                adapter.whole_memory_key() ? "knows all memory" : "gathers from registered memory",
                "bytes", "inline", "copied", "gathered", "eager", "announced");
    for (size_t bytes = 64; bytes <= kMost; bytes *= 2) {
        Samples samples[std::size(kWays)];
        for (int round = 0; round < rounds; ++round)
            for (size_t way = 0; way < std::size(kWays); ++way) {
                if (way == 0 && bytes > max_inline) continue;
                const Stopwatch watch;
                for (int i = 0; i < times; ++i) (ways.*kWays[way])(bytes);
                samples[way].add(watch.nanoseconds() / 1e3 / times);
            }
        std::printf("%10zu", bytes);
        for (size_t way = 0; way < std::size(kWays); ++way)
            if (way == 0 && bytes > max_inline)
                std::printf(" %10s", "-");
            else
                std::printf(" %10.3f", samples[way].median());
        std::printf("\n");
    }
}

// What the provider finds in the time that it takes itself, and what it makes of that: several
// times, for it should be the same each time.
void choose(const verbs::Device& device, int times) {
    Watchdog watchdog;
    verbs::Adapter adapter{device, Gate::Kind::one_thread, watchdog};
    const auto range = transfer::CrossoverRange::of(adapter);
    for (int i = 0; i < times; ++i) {
        const Stopwatch watch;
        const auto costs = transfer::measure(adapter);
        const double ms = watch.nanoseconds() / 1e6;
        const auto chosen = costs ? transfer::choose(*costs, range) : range.usual;
        std::printf("%s in %.1f ms: inline %u, copied %u, eager %u\n",
                    costs ? "measured" : "not measured", ms, chosen.inlined, chosen.copied,
                    chosen.eager);
    }
}

} // namespace

int main(int argc, char** argv) {
    int rounds = 200, times = 10, choices = 5;
    fabtests_ext::CommandLine command{"What a device takes for so many bytes, in each way."};
    command.option("-r,--rounds", rounds, "of all ways, in turn").positive();
    command.option("-i,--iterations", times, "of a way in a round").positive();
    command.option("-c,--choices", choices, "of the provider's").positive();
    if (!command.read(argc, argv)) return command.status();
    define_parameters();
    for (const auto& device : ofi::devices()) {
        measure(*device, rounds, times);
        choose(*device, choices);
    }
}
