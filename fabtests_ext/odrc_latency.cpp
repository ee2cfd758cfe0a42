// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Messages to and fro between two processes of this host: how long one takes, the first one with
// the connection that it needs or those after it.

#include "support/batches.hpp"
#include "support/crowd.hpp"
#include "support/messenger.hpp"
#include "support/options.hpp"
#include "support/pin.hpp"
#include "support/samples.hpp"
#include "support/stretches.hpp"

#include <algorithm>
#include <optional>

namespace fabtests_ext {
namespace {

struct Options {
    Choice choice;
    AddressFormat format;
    std::vector<size_t> sizes{8};
    Effort effort{.batches = 50, .iterations = 1'000};
    std::string memory{"one"};
    bool untagged{false};
    bool first{false};
    int connected{0}; // endpoints besides
};

// Bytes after which a batch of large messages has lasted long enough.
constexpr size_t kBatchBytes = 16u << 20;
constexpr size_t kWarm = 50; // messages of the batch that is not counted

class Member {
public:
    Member(Team& team, const Options& options)
        : team_{team}
        , options_{options}
        , messenger_{team,
                     team.rank() == 0 ? 1 : 0,
                     options.choice,
                     options.untagged ? Messenger::Kind::untagged : Messenger::Kind::tagged,
                     4,
                     {.address_format = options.format.value()}} {}

    // The first one's endpoint gets as many more peers, of the other process.
    void meet_crowd(const Names& names) {
        if (!first()) crowd_.emplace(options_.choice, options_.format.value(), names);
        team_.barrier();
        if (first())
            for (int i = 0; i < names.size(); ++i) messenger_.greet(names, i);
        else
            crowd_->listen();
        messenger_.meet(team_);
    }

    void run() {
        for (const size_t size : options_.sizes) ping_pong(size);
        team_.barrier();
    }

    // Nothing has gone between the two before: how long it takes there and back.
    void first_word(Samples& samples) {
        const size_t size = options_.sizes.front();
        const Stretches out{1, size}, in{1, size};
        messenger_.post_receive(in[0], size);
        team_.barrier();
        const Stopwatch watch;
        if (first()) messenger_.send(out[0], size);
        messenger_.drain();
        if (!first()) messenger_.send(out[0], size);
        messenger_.drain();
        samples.add(watch.nanoseconds() / 1e3);
        messenger_.meet(team_);
    }

private:
    bool first() const noexcept { return team_.rank() == 0; }
    size_t iterations(size_t size) const noexcept {
        const size_t most = std::max<size_t>(kBatchBytes / std::max<size_t>(size, 1), 1);
        return std::min(static_cast<size_t>(options_.effort.iterations), most);
    }

    // A receive always stands before the message that it is for, and is posted while another one is
    // on its way: there are two of them.
    void ping_pong(size_t size) {
        const size_t times = iterations(size);
        const size_t stretches = options_.memory == "one" ? 1 : times + 2;
        Stretches out{stretches, size}, in{stretches, size};
        batch(out, in, size, std::min(times, kWarm), stretches);
        Samples samples;
        Batches batches{team_, options_.effort.batches, options_.effort.seconds};
        while (batches.next()) {
            if (options_.memory == "fresh") {
                out.renew();
                in.renew();
            }
            samples.add(batch(out, in, size, times, stretches));
        }
        if (first()) samples.report("latency." + std::to_string(size), "us");
    }
    // The microseconds of each.
    double batch(const Stretches& out, const Stretches& in, size_t size, size_t times,
                 size_t stretches) {
        messenger_.post_receive(in[0], size);
        messenger_.post_receive(in[1 % stretches], size);
        team_.barrier();
        const Stopwatch watch;
        for (size_t i = 0; i < times; ++i) {
            if (!first()) messenger_.drain(1);
            messenger_.send(out[i % stretches], size);
            messenger_.post_receive(in[(i + 2) % stretches], size);
            if (first()) messenger_.drain(2);
        }
        const double time = watch.nanoseconds() / 2e3 / static_cast<double>(times);
        // The receives that are left take a last word each.
        messenger_.send(out[0], size);
        messenger_.send(out[0], size);
        messenger_.drain();
        messenger_.meet(team_);
        return time;
    }

    Team& team_;
    const Options& options_;
    Messenger messenger_;
    std::optional<Crowd> crowd_; // of the second one
};

void run(Team& team, const Options& options, const Names& names) {
    if (!options.first) {
        Member member{team, options};
        if (names.size() > 0) member.meet_crowd(names);
        return member.run();
    }
    Samples samples;
    for (int i = 0; i < options.effort.batches; ++i) Member{team, options}.first_word(samples);
    if (team.rank() == 0) samples.report("first." + std::to_string(options.sizes.front()), "us");
}

} // namespace
} // namespace fabtests_ext

int main(int argc, char** argv) {
    using namespace fabtests_ext;
    Options options;
    CommandLine command{"Latency of messages between two processes."};
    add_choice(command, options.choice);
    add_format(command, options.format);
    command.option("-s,--size", options.sizes,
                   "of a message, in bytes; several are measured in turn");
    add_effort(command, options.effort, "of a batch; fewer for large messages");
    command.flag("-u,--untagged", options.untagged, "messages without tags");
    command
        .option("-m,--memory", options.memory,
                "one: all messages go from and into the same memory; kept: each of a batch from "
                "other memory than the one before; fresh: from such as never was used")
        .one_of({"one", "kept", "fresh"});
    command.flag("-f,--first", options.first,
                 "the first word between new endpoints, there and back, once in a batch");
    command
        .option("-c,--connected", options.connected,
                "other endpoints that the first one is connected to as well")
        .within(1, 1 << 20)
        .excludes("--untagged")
        .excludes("--first");
    if (!command.read(argc, argv)) return command.status();
    const Names names{options.connected};
    return run_team(2, [&](Team& team) {
        pin(team.rank());
        run(team, options, names);
        return 0;
    });
}
