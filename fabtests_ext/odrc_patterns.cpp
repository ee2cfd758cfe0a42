// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Who talks to whom: the communication patterns of parallel programs, a few rounds of each. What
// they cost in connections and memory, the provider counts (FI_ODRC_PROFILE for odrc).

#include "support/options.hpp"

#include <cstdio>
#include <map>

namespace fabtests_ext {
namespace {

struct Options {
    Choice choice;
    int processes{16};
    int rounds{10};
    std::string pattern;
};

class Member {
public:
    Member(Team& team, const Options& options)
        : team_{team}
        , endpoint_{options.choice, {.caps = FI_TAGGED | FI_DIRECTED_RECV}}
        , peers_{endpoint_.introduce(team)} {}

    int rank() const noexcept { return team_.rank(); }
    int size() const noexcept { return team_.size(); }

    // Sends a few bytes to one and receives some from another.
    void exchange(int to, int from) {
        int sending = 0, receiving = 0;
        int in = -1;
        const int out = rank();
        retry([&] {
            return fi_trecv(endpoint_.ep(), &in, sizeof in, nullptr, peers_[size_t(from)], 0, 0,
                            &receiving);
        });
        retry([&] {
            return fi_tsend(endpoint_.ep(), &out, sizeof out, nullptr, peers_[size_t(to)], 0,
                            &sending);
        });
        // The two complete in any order.
        bool sent = false, received = false;
        while (!sent || !received) {
            fi_cq_tagged_entry entry;
            if (!endpoint_.poll(entry)) {
                sched_yield();
                continue;
            }
            sent |= entry.op_context == &sending;
            received |= entry.op_context == &receiving;
        }
        if (in != from) throw std::runtime_error{"a message from somebody else"};
    }

private:
    template <class Call>
    void retry(Call&& call) {
        for (;;) {
            const ssize_t r = call();
            if (r != -FI_EAGAIN) return check(r, "fi_tsend or fi_trecv");
            fi_cq_read(endpoint_.cq(), nullptr, 0);
        }
    }

    Team& team_;
    Endpoint endpoint_;
    std::vector<fi_addr_t> peers_;
};

void idle(Member&) {}

void ring(Member& m) {
    m.exchange((m.rank() + 1) % m.size(), (m.rank() + m.size() - 1) % m.size());
}

// Recursive doubling where the size is a power of two, and else with the rest folded in: what
// MPI libraries do for a barrier or a small allreduce.
void barrier(Member& m) {
    int core = 1;
    while (2 * core <= m.size()) core *= 2;
    const int rest = m.size() - core;
    if (m.rank() >= core) {
        m.exchange(m.rank() - core, m.rank() - core);
        m.exchange(m.rank() - core, m.rank() - core);
        return;
    }
    if (m.rank() < rest) m.exchange(m.rank() + core, m.rank() + core);
    for (int distance = 1; distance < core; distance *= 2)
        m.exchange(m.rank() ^ distance, m.rank() ^ distance);
    if (m.rank() < rest) m.exchange(m.rank() + core, m.rank() + core);
}

void alltoall(Member& m) {
    for (int shift = 1; shift < m.size(); ++shift)
        m.exchange((m.rank() + shift) % m.size(), (m.rank() + m.size() - shift) % m.size());
}

const std::map<std::string, void (*)(Member&)> kPatterns{
    {"idle", idle}, {"ring", ring}, {"barrier", barrier}, {"alltoall", alltoall}};

int run(Team& team, const Options& options) {
    Member member{team, options};
    for (int i = 0; i < options.rounds; ++i) kPatterns.at(options.pattern)(member);
    team.barrier();
    if (team.rank() == 0)
        std::printf("%s: %d rounds by %d processes\n", options.pattern.c_str(), options.rounds,
                    team.size());
    return 0;
}

} // namespace
} // namespace fabtests_ext

int main(int argc, char** argv) {
    using namespace fabtests_ext;
    Options options;
    CLI::App app{"Communication patterns of parallel programs."};
    app.add_option("pattern", options.pattern, "idle, ring, barrier or alltoall")
        ->required()
        ->check([](const std::string& name) {
            return kPatterns.contains(name) ? std::string{} : "no such pattern";
        });
    add_choice(app, options.choice);
    app.add_option("-n,--processes", options.processes)->capture_default_str();
    app.add_option("-r,--rounds", options.rounds)->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    return run_team(options.processes, [&](Team& team) { return run(team, options); });
}
