// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Tagged messages one way or both ways at once, between one or more pairs of processes of this
// host: how many go through, and how many bytes.

#include "support/batches.hpp"
#include "support/messenger.hpp"
#include "support/options.hpp"
#include "support/pin.hpp"
#include "support/samples.hpp"

#include <algorithm>

namespace fabtests_ext {
namespace {

struct Options {
    Choice choice;
    std::vector<size_t> sizes{8};
    Effort effort{.batches = 20, .iterations = 2'048};
    int window{64};
    int pairs{1};
    bool both{false};
};

// Bytes after which a batch of large messages has lasted long enough.
constexpr size_t kBatchBytes = 16u << 20;
constexpr size_t kAcknowledgement = 8;

// Ranks 2i and 2i + 1 are a pair.
class Member {
public:
    Member(Team& team, const Options& options)
        : team_{team}
        , options_{options}
        , messenger_{team, team.rank() ^ 1, options.choice, Messenger::Kind::tagged,
                     static_cast<size_t>(options.window) * 4}
        , out_(std::max(std::ranges::max(options.sizes), kAcknowledgement), 'o')
        , in_(out_.size()) {}

    void run() {
        for (const size_t size : options_.sizes) measure(size);
        team_.barrier();
    }

private:
    bool first() const noexcept { return team_.rank() % 2 == 0; }

    void measure(size_t size) {
        const size_t most = kBatchBytes / std::max<size_t>(size, 1);
        const auto times =
            static_cast<int>(std::clamp<size_t>(most, static_cast<size_t>(options_.window),
                                                static_cast<size_t>(options_.effort.iterations)));
        const int windows = (times + options_.window - 1) / options_.window;
        const double messages =
            double(windows) * options_.window * options_.pairs * (options_.both ? 2 : 1);
        batch(size, 1); // not counted
        Samples rate, bandwidth;
        Batches batches{team_, options_.effort.batches, options_.effort.seconds};
        while (batches.next()) {
            const double time = batch(size, windows);
            rate.add(messages * 1e3 / time);
            bandwidth.add(messages * static_cast<double>(size) / time);
        }
        if (team_.rank() != 0) return;
        rate.report("rate." + std::to_string(size), "M/s");
        bandwidth.report("bandwidth." + std::to_string(size), "GB/s");
    }

    // The nanoseconds in which all pairs are through.
    double batch(size_t size, int windows) {
        if (options_.both || !first()) post_window(size);
        team_.barrier();
        const Stopwatch watch;
        if (options_.both)
            both_ways(size, windows);
        else
            one_way(size, windows);
        messenger_.meet(team_);
        return watch.nanoseconds();
    }

    // The receives of a window stand before the one before it is acknowledged.
    void one_way(size_t size, int windows) {
        for (int left = windows; left > 0; --left) {
            if (first()) {
                messenger_.post_receive(in_.data(), kAcknowledgement);
                send_window(size);
                messenger_.drain();
                continue;
            }
            messenger_.drain();
            if (left > 1) post_window(size);
            messenger_.send(out_.data(), kAcknowledgement);
        }
        messenger_.drain();
    }
    // What comes is acknowledged by what goes: neither side gets farther than a window ahead.
    void both_ways(size_t size, int windows) {
        for (int left = windows; left > 0; --left) {
            if (left > 1) post_window(size);
            send_window(size);
            messenger_.drain(left > 1 ? options_.window : 0);
        }
    }

    void post_window(size_t size) {
        for (int i = 0; i < options_.window; ++i) messenger_.post_receive(in_.data(), size);
    }
    void send_window(size_t size) {
        for (int i = 0; i < options_.window; ++i) messenger_.post_send(out_.data(), size);
    }

    Team& team_;
    const Options& options_;
    Messenger messenger_;
    std::vector<char> out_, in_;
};

} // namespace
} // namespace fabtests_ext

int main(int argc, char** argv) {
    using namespace fabtests_ext;
    Options options;
    CommandLine command{"Rate and bandwidth of tagged messages between pairs of processes."};
    add_choice(command, options.choice);
    command.option("-s,--size", options.sizes,
                   "of a message, in bytes; several are measured in turn");
    add_effort(command, options.effort,
               "messages of a batch, of each pair; fewer large ones, but always a window");
    command.option("-w,--window", options.window, "messages under way at a time").positive();
    command.option("-n,--pairs", options.pairs, "of processes, all at the same time")
        .within(1, 250);
    command.flag("--both-ways", options.both, "both processes of a pair send at the same time");
    if (!command.read(argc, argv)) return command.status();
    options.effort.iterations = std::max(options.effort.iterations, options.window);
    return run_team(2 * options.pairs, [&](Team& team) {
        pin(team.rank());
        Member{team, options}.run();
        return 0;
    });
}
