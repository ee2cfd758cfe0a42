// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The messages of an application, as far as its profile tells: how many go through in a second.

#include "fabtests_ext/replay/plan.hpp"
#include "support/options.hpp"
#include "support/samples.hpp"

#include <cstring>
#include <stdexcept>

namespace fabtests_ext {
namespace {

struct Options {
    Choice choice;
    std::string profile;
    int processes{8};
    int rounds{50};   // of a batch
    int messages{64}; // that each process sends in a round
    int batches{10};
    size_t size{0}; // of all messages; 0: those of the profile
    uint64_t seed{1};
};

class Member {
public:
    Member(Team& team, const Options& options, const Profile& profile)
        : team_{team}
        , options_{options}
        , plan_{make_plan(profile, team.rank(), team.size(), options.rounds, options.messages,
                          options.seed)}
        , endpoint_{options.choice, {.caps = FI_TAGGED}}
        , peers_{endpoint_.introduce(team)}
        , in_(plan_.most)
        , out_(static_cast<size_t>(options.messages)) {
        for (auto* slots : {&in_, &out_})
            for (Slot& slot : *slots) slot.bytes.resize(std::max(plan_.longest, sizeof slot.tag));
    }

    void run() {
        Samples rate;
        for (int batch = 0; batch <= options_.batches; ++batch) {
            team_.barrier();
            const Stopwatch watch;
            for (const Plan::Round& round : plan_.rounds) play(round);
            team_.barrier();
            const double messages = double(options_.rounds) * options_.messages * team_.size();
            if (batch > 0) rate.add(messages * 1e6 / watch.nanoseconds()); // the first one connects
        }
        if (team_.rank() == 0) rate.report("replay." + options_.profile, "k/s");
    }

private:
    struct Slot {
        bool receives{false};
        uint64_t tag{0};
        size_t size{0};
        std::vector<std::byte> bytes;
    };

    void play(const Plan::Round& round) {
        size_t slot = 0;
        for (const Plan::Message& m : round.in) receive(m, in_[slot++]);
        for (size_t i = 0; i < round.out.size(); ++i) send(round.out[i], out_[i]);
        // A long message is not sent before it is received: the late ones hold up nobody's sends.
        while (receiving_ > 0) reap();
        for (const Plan::Message& m : round.late) receive(m, in_[slot++]);
        while (receiving_ > 0 || sending_ > 0) reap();
    }

    void receive(const Plan::Message& m, Slot& slot) {
        ++receiving_;
        slot.receives = true;
        slot.tag = m.tag;
        slot.size = m.size;
        call("fi_trecv", [&] {
            return fi_trecv(endpoint_.ep(), slot.bytes.data(), slot.bytes.size(), nullptr,
                            FI_ADDR_UNSPEC, m.tag, 0, &slot);
        });
    }
    // A message says which one it is, if it has room for that.
    void send(const Plan::Message& m, Slot& slot) {
        ++sending_;
        std::memcpy(slot.bytes.data(), &m.tag, sizeof m.tag);
        call("fi_tsend", [&] {
            return fi_tsend(endpoint_.ep(), slot.bytes.data(), m.size, nullptr,
                            peers_[static_cast<size_t>(m.peer)], m.tag, &slot);
        });
    }

    // Until it is taken: what has completed meanwhile is not to be lost.
    template <class Call>
    void call(const char* what, Call&& call) {
        for (;;) {
            const ssize_t result = call();
            if (result == 0) return;
            if (result != -FI_EAGAIN) check(result, what);
            reap();
        }
    }
    void reap() {
        fi_cq_tagged_entry entry;
        if (!endpoint_.poll(entry)) {
            sched_yield();
            return;
        }
        const auto& slot = *static_cast<const Slot*>(entry.op_context);
        --(slot.receives ? receiving_ : sending_);
        if (!slot.receives) return;
        const size_t named = std::min(slot.size, sizeof slot.tag);
        if (entry.len != slot.size || std::memcmp(slot.bytes.data(), &slot.tag, named) != 0)
            throw std::runtime_error{"another message than was sent"};
    }

    Team& team_;
    const Options& options_;
    const Plan plan_;
    Endpoint endpoint_;
    std::vector<fi_addr_t> peers_;
    std::vector<Slot> in_, out_;
    size_t receiving_{0}; // messages that are not there yet
    size_t sending_{0};
};

int run(Team& team, const Options& options) {
    Profile profile = profiles().at(options.profile);
    if (options.size > 0) profile.sizes = {{1, options.size}};
    Member{team, options, profile}.run();
    return 0;
}

std::string names() {
    std::string all;
    for (const auto& [name, profile] : profiles()) all += (all.empty() ? "" : ", ") + name;
    return all;
}

} // namespace
} // namespace fabtests_ext

int main(int argc, char** argv) {
    using namespace fabtests_ext;
    Options options;
    CommandLine command{"The messages of an application, as far as its profile tells."};
    command.option("profile", options.profile, names())
        .required()
        .checked_by([](const std::string& name) {
            return profiles().contains(name) ? std::string{} : "no such profile";
        });
    add_choice(command, options.choice);
    command.option("-n,--processes", options.processes).within(2, 4096);
    command.option("-m,--messages", options.messages, "that each process sends in a round")
        .positive();
    command.option("-r,--rounds", options.rounds, "of a batch").positive();
    command.option("-b,--batches", options.batches).positive();
    command.option("-s,--size", options.size, "of all messages, in bytes; 0: the profile's");
    command.option("--seed", options.seed);
    if (!command.read(argc, argv)) return command.status();
    return run_team(options.processes, [&](Team& team) { return run(team, options); });
}
