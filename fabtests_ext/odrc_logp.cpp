// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The parameters of the LogP model (Culler et al. 1996) between two processes, by size of message
// (Kielmann et al. 2000) and way of transfer.

#include "logp/messages.hpp"
#include "logp/there_and_back.hpp"
#include "logp/writes.hpp"
#include "support/options.hpp"
#include "support/pin.hpp"
#include "support/samples.hpp"

#include <algorithm>

namespace fabtests_ext::logp {
namespace {

struct Options {
    Choice choice;
    Halves halves;
    std::vector<std::string> transfers{"inline", "gathered", "remote", "fetch-add"};
    std::vector<size_t> sizes{16};
    int batches{100};
    int iterations{256};
    bool copies{false};
    bool csv{false};
};

// Microseconds.
struct Parameters {
    double send, receive, gap, end_to_end;
    double latency() const noexcept { return end_to_end - send - receive; }
};

// Bytes after which a batch of large messages has lasted long enough.
constexpr size_t kBatchBytes = 16u << 20;

size_t iterations(const Options& options, size_t size) {
    const size_t most = std::max<size_t>(kBatchBytes / size, 8);
    return std::min(static_cast<size_t>(options.iterations), most);
}

// What it takes to look at the clock, which is in everything that is timed by itself.
double clock_cost() {
    Samples samples;
    for (int i = 0; i < 1000; ++i) samples.add(Stopwatch{}.nanoseconds() / 1e3);
    return samples.median();
}

// The same, of which the first side times its calls: it looks for the answer only when that must
// have come long since.
template <class Way>
void overheads(Way& way, size_t times, double round_trip, double clock, Samples& send,
               Samples& receive) {
    for (size_t i = 0; i < times; ++i) {
        if (!way.first()) way.receive();
        const Stopwatch sending;
        way.send();
        const double sent = sending.nanoseconds() / 1e3;
        way.prepare();
        if (!way.first()) continue;
        while (sending.nanoseconds() / 1e3 < sent + 2 * round_trip) {
        }
        const Stopwatch receiving;
        way.receive();
        receive.add(std::max(receiving.nanoseconds() / 1e3 - clock, 0.0));
        send.add(std::max(sent - clock, 0.0));
    }
}

template <class Way>
Parameters measure(Way& way, const Options& options, size_t size, double clock) {
    const size_t times = iterations(options, size);
    Samples send, receive, gap, one_way;
    way.begin(size);
    there_and_back(way, times); // not counted
    for (int batch = 0; batch < options.batches; ++batch) {
        way.begin(size);
        one_way.add(there_and_back(way, times));
        overheads(way, std::max<size_t>(times / 10, 1), 2 * one_way.median(), clock, send, receive);
        gap.add(way.stream(times));
    }
    if (!way.first()) return {};
    return {send.median(), receive.median(), gap.median(), one_way.median()};
}

void print(const Options& options, const std::string& transfer, size_t size, const Parameters& p) {
    const double bandwidth = static_cast<double>(size) / p.gap;
    std::printf(options.csv ? "%s,%zu,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g\n"
                            : "%-10s %8zu %9.4g %9.4g %9.4g %9.4g %10.4g %10.5g\n",
                transfer.c_str(), size, p.send, p.receive, p.latency(), p.gap, p.end_to_end,
                bandwidth);
    std::fflush(stdout);
}

template <class Way>
void run(Way&& way, const std::string& transfer, const Options& options) {
    const double clock = clock_cost();
    for (const size_t size : options.sizes) {
        if (size > way.limit()) continue;
        const Parameters parameters = measure(way, options, size, clock);
        if (way.first()) print(options, transfer, size, parameters);
    }
    way.team().barrier();
}

void add(Team& team, const Options& options) {
    Additions additions{team, options.choice};
    const auto times = static_cast<size_t>(options.iterations);
    Samples samples;
    additions.add(times); // not counted
    for (int batch = 0; batch < options.batches; ++batch) samples.add(additions.add(times));
    additions.team().barrier();
    if (!additions.first()) return;
    std::printf(options.csv ? "%s,%d,%s,,,,%.6g,\n" : "%-10s %8d %40s%10.4g\n", "fetch-add", 8, "",
                samples.median());
}

void run(Team& team, const Options& options) {
    if (team.rank() == 0)
        std::puts(options.csv ? "transfer,bytes,os,or,L,g,end_to_end,throughput"
                              : "us            bytes        os        or         L         g "
                                "end-to-end       MB/s");
    const size_t most = std::ranges::max(options.sizes);
    for (const std::string& transfer : options.transfers) {
        if (transfer == "fetch-add")
            add(team, options);
        else if (transfer == "remote")
            run(Writes{team, options.choice, most}, transfer, options);
        else
            run(Messages{team, options.choice,
                         transfer == "inline" ? Messages::Way::injected : Messages::Way::gathered,
                         most, options.copies},
                transfer, options);
    }
}

} // namespace
} // namespace fabtests_ext::logp

int main(int argc, char** argv) {
    using namespace fabtests_ext;
    logp::Options options;
    CommandLine command{"The parameters of the LogP model between two processes."};
    add_choice(command, options.choice);
    add_halves(command, options.halves);
    command.option("-t,--transfer", options.transfers, "ways of transfer, measured in turn")
        .one_of(options.transfers);
    command
        .option("-s,--size", options.sizes, "of a message, in bytes; several are measured in turn")
        .positive();
    command.option("-b,--batches", options.batches).positive();
    command.option("-i,--iterations", options.iterations, "of a batch; fewer for large messages")
        .positive();
    command.flag("--copy", options.copies,
                 "the receiver of a stream copies its messages elsewhere");
    command.flag("--csv", options.csv);
    if (!command.read(argc, argv)) return command.status();
    return run_team(
        2,
        [&](Team& team) {
            pin(team.rank());
            logp::run(team, options);
            return 0;
        },
        options.halves);
}
