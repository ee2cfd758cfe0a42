// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Tagged messages to and fro between two processes of this host, at each of which many receives
// stand that are for other messages, or many messages that no receive is for.

#include "support/batches.hpp"
#include "support/messenger.hpp"
#include "support/options.hpp"
#include "support/pin.hpp"
#include "support/samples.hpp"
#include "support/shared.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <random>

namespace fabtests_ext {
namespace {

struct Options {
    Choice choice;
    std::vector<std::string> kinds{"posted", "unexpected"};
    std::vector<std::string> mixes{"exact", "sources", "masks"};
    std::vector<size_t> entries{1, 10, 100, 1000, 10'000};
    Effort effort{.batches = 10, .iterations = 500};
    unsigned seed{1};
};

// Tags of what is in the way have this bit, whatever else a receive does not look at.
constexpr uint64_t kElsewhere = uint64_t{1} << 40;
constexpr size_t kBytes = 8;
constexpr int kWarm = 50; // messages of the batch that is not counted

constexpr double kPatience = 3; // seconds, with a provider that takes no more messages

// Of both processes, where both see it.
struct Sending {
    std::atomic<size_t> sent[2];
    std::atomic<unsigned> through;
};

class Member {
public:
    Member(Team& team, const Options& options, const std::string& kind, const std::string& mix,
           size_t entries)
        : team_{team}
        , options_{options}
        , entries_{entries}
        , name_{kind + "." + mix + "." + std::to_string(entries)}
        , messenger_{team,           team.rank() == 0 ? 1 : 0,
                     options.choice, Messenger::Kind::tagged,
                     entries + 8,    {.cq_size = std::max<size_t>(4096, 2 * entries)}} {}

    bool first() const noexcept { return team_.rank() == 0; }

    size_t room() const noexcept { return messenger_.info().rx_attr->size; }
    // Whether there is some for so many receives, and the two of the messages themselves.
    bool holds() const noexcept { return entries_ + 2 <= room(); }
    void leave_out(size_t most, const char* of_what) const {
        if (first()) std::printf("%-26s - at most %zu %s\n", name_.c_str(), most, of_what);
    }

    // In no order of their tags. Who keeps them in a list tries each for every message.
    void post_others(const std::string& mix) {
        constexpr std::array<uint64_t, 4> kMasks{0xff, 0xffff, 0xff'ffff, 0xffff'ffff};
        std::mt19937 random{options_.seed};
        for (const uint64_t tag : tags()) {
            const bool wild = random() % 2 == 0;
            const bool any_source = mix == "sources" && wild;
            const uint64_t ignored = mix == "masks" && wild ? kMasks[random() % 4] : 0;
            messenger_.post_receive(in_.data(), kBytes,
                                    any_source ? FI_ADDR_UNSPEC : messenger_.peer(), tag, ignored);
        }
    }
    // What is sent here is unexpected there. Each side makes progress until the other is through,
    // too. Gives how many were taken, of that side of which fewer were.
    size_t send_others(Sending& sending) {
        size_t sent = 0;
        for (const uint64_t tag : tags()) {
            if (!messenger_.inject_within(kPatience, out_.data(), kBytes, tag)) break;
            ++sent;
        }
        sending.sent[team_.rank()] = sent;
        ++sending.through;
        spin_until([&] {
            messenger_.reap();
            return sending.through % 2 == 0;
        });
        team_.barrier();
        return std::min(sending.sent[0], sending.sent[1]);
    }

    void ping_pong() {
        const int others = messenger_.pending();
        post();
        post();
        team_.barrier();
        batch(others, kWarm);
        Samples samples;
        Batches batches{team_, options_.effort.batches, options_.effort.seconds};
        while (batches.next()) samples.add(batch(others, options_.effort.iterations));
        if (first()) samples.report(name_, "us");
        messenger_.send(out_.data(), kBytes);
        messenger_.send(out_.data(), kBytes);
        messenger_.drain(others);
        messenger_.meet(team_);
    }

private:
    std::vector<uint64_t> tags() const {
        std::vector<uint64_t> tags;
        for (size_t i = 0; i < entries_; ++i) tags.push_back(kElsewhere + i);
        std::ranges::shuffle(tags, std::mt19937{options_.seed});
        return tags;
    }
    // The microseconds of each.
    double batch(int others, int times) {
        const Stopwatch watch;
        for (int i = 0; i < times; ++i) {
            if (!first()) messenger_.drain(others + 1);
            messenger_.send(out_.data(), kBytes);
            post();
            if (first()) messenger_.drain(others + 2);
        }
        const double time = watch.nanoseconds() / 2e3 / times;
        messenger_.meet(team_);
        return time;
    }
    void post() { messenger_.post_receive(in_.data(), kBytes); }

    Team& team_;
    const Options& options_;
    size_t entries_;
    std::string name_;
    Messenger messenger_;
    std::array<char, kBytes> in_{}, out_{};
};

void run(Team& team, const Options& options, Shared<Sending>& sending) {
    for (const std::string& kind : options.kinds)
        for (const std::string& mix : options.mixes) {
            // Messages have a source and a tag: there are no others among them.
            if (kind == "unexpected" && mix != "exact") continue;
            for (const size_t entries : options.entries) {
                Member member{team, options, kind, mix, entries};
                if (kind == "posted") {
                    if (!member.holds()) {
                        member.leave_out(member.room(), "receives stand");
                        continue;
                    }
                    member.post_others(mix);
                } else if (const size_t sent = member.send_others(*sending); sent < entries) {
                    member.leave_out(sent, "messages wait");
                    continue;
                }
                member.ping_pong();
            }
        }
}

} // namespace
} // namespace fabtests_ext

int main(int argc, char** argv) {
    using namespace fabtests_ext;
    Options options;
    CommandLine command{"Latency of tagged messages where many others are waited for, or wait."};
    add_choice(command, options.choice);
    command
        .option("-k,--kind", options.kinds,
                "what there are many of: posted receives, unexpected messages")
        .one_of(options.kinds);
    command
        .option("-x,--mix", options.mixes,
                "of posted receives: exact ones; half of them from any source; half of them "
                "that ignore some bits of the tag")
        .one_of(options.mixes);
    command.option("-n,--entries", options.entries, "how many; several are measured in turn");
    add_effort(command, options.effort, "of a batch");
    command.option("--seed", options.seed, "of the order and mix of the others");
    if (!command.read(argc, argv)) return command.status();
    Shared<Sending> sending;
    return run_team(2, [&](Team& team) {
        pin(team.rank());
        run(team, options, sending);
        return 0;
    });
}
