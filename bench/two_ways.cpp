// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Endpoints that connect on demand, and others that were connected to all beforehand, in the same
// processes and in turns: does anybody notice, once there is a connection?

#include "bench/job.hpp"
#include "fabtests_ext/patterns/patterns.hpp"
#include "fabtests_ext/support/command_line.hpp"
#include "fabtests_ext/support/pin.hpp"
#include "fabtests_ext/support/samples.hpp"

#include <array>
#include <cstdlib>
#include <stdexcept>

namespace {

using namespace fabtests_ext;

enum Way : size_t { on_demand, beforehand };

constexpr uint64_t kCaps = FI_TAGGED | FI_DIRECTED_RECV;

Wishes wishes_of(const Team& team, Way way) {
    if (way == on_demand) return {.caps = kCaps, .address_format = FI_SOCKADDR_IN};
    return bench::wishes_in_job(static_cast<uint32_t>(team.rank()),
                                static_cast<uint32_t>(team.size()), kCaps);
}

class Both {
public:
    explicit Both(Team& team)
        : team_{team}
        , members_{Member{team, kChoice, wishes_of(team, on_demand)},
                   Member{team, kChoice, wishes_of(team, beforehand)}} {}

    // What body takes with one and with the other, next to each other, so many times; in which
    // there are so many of what is to be told.
    template <class Body>
    void compare(const char* name, const char* unit, double times, int batches, Body&& body) {
        std::array<Samples, 2> each;
        Samples ratios;
        for (int batch = 0; batch <= batches; ++batch) {
            std::array<double, 2> ns{};
            for (const size_t turn : {0, 1}) {
                const size_t way = (turn + static_cast<size_t>(batch)) % 2;
                team_.barrier();
                const Stopwatch watch;
                body(members_[way]);
                ns[way] = watch.nanoseconds();
            }
            if (batch == 0) continue; // that was for the connections
            for (const size_t way : {on_demand, beforehand}) each[way].add(ns[way] / 1e3 / times);
            ratios.add(ns[on_demand] / ns[beforehand]);
        }
        if (team_.rank() != 0) return;
        const auto [least, most] = ratios.confidence();
        std::printf("%-26s %10.4g %10.4g %-5s %8.4f (%.4f .. %.4f)\n", name,
                    each[on_demand].median(), each[beforehand].median(), unit, ratios.median(),
                    least, most);
        std::fflush(stdout);
    }

    // Throws unless one way was on demand, and the other was not.
    void check_ways() {
        for (const Way way : {on_demand, beforehand}) {
            // A lane that is too shallow gives way to one that is made on demand in any case.
            const fi_odrc_statistics s = statistics_of(members_[way]);
            const auto asked_for =
                team_.sum(s.connections_answered) - team_.sum(s.connections_deepened);
            if ((asked_for > 0) != (way == on_demand))
                throw std::runtime_error{"the connections were made in another way"};
        }
    }

private:
    inline static const Choice kChoice{.provider = "odrc", .domain = "soft0"};

    static fi_odrc_statistics statistics_of(Member& member) {
        void* ops = nullptr;
        fid_ep* ep = member.endpoint().ep();
        check(fi_open_ops(&ep->fid, FI_ODRC_STATISTICS_OPS, 0, &ops, nullptr), "fi_open_ops");
        fi_odrc_statistics statistics{};
        check(static_cast<fi_odrc_statistics_ops*>(ops)->read(ep, &statistics, sizeof statistics),
              "the statistics");
        return statistics;
    }

    Team& team_;
    std::array<Member, 2> members_;
};

void ping_pong(Member& m, int times) {
    for (int i = 0; i < times; ++i) {
        if (m.rank() == 0) m.send(1);
        m.receive(1 - m.rank());
        if (m.rank() == 1) m.send(0);
    }
}

// One way, so many at a time, and a word back.
class Stream {
public:
    static constexpr int kWindow = 32;
    static constexpr size_t kSize = 65'536;

    void window(Member& m) {
        for (int i = 0; i < kWindow; ++i) post(m);
        fi_cq_tagged_entry entry;
        for (int left = kWindow; left > 0; --left)
            while (!m.endpoint().poll(entry)) sched_yield();
        if (m.rank() == 0)
            m.receive(1);
        else
            m.send(0);
    }

private:
    void post(Member& m) {
        fid_ep* ep = m.endpoint().ep();
        for (;;) {
            const ssize_t result =
                m.rank() == 0 ? fi_tsend(ep, bytes_.data(), kSize, nullptr, m.peer(1), 0, this)
                              : fi_trecv(ep, bytes_.data(), kSize, nullptr, m.peer(0), 0, 0, this);
            if (result != -FI_EAGAIN) return check(result, "fi_tsend or fi_trecv");
            fi_cq_read(m.endpoint().cq(), nullptr, 0);
        }
    }

    std::vector<char> bytes_ = std::vector<char>(kSize);
};

void between_two(Team& team, int batches) {
    constexpr int kTimes = 500, kWindows = 8;
    pin(team.rank());
    Both both{team};
    both.compare("latency.4", "us", 2 * kTimes, batches, [](Member& m) { ping_pong(m, kTimes); });
    Stream stream;
    both.compare("stream.65536, a message", "us", kWindows * Stream::kWindow, batches,
                 [&](Member& m) {
                     for (int i = 0; i < kWindows; ++i) stream.window(m);
                 });
    both.check_ways();
}

void among_many(Team& team, int batches) {
    constexpr int kTimes = 20;
    Both both{team};
    const std::string name = "allreduce of " + std::to_string(team.size());
    both.compare(name.c_str(), "us", kTimes, batches, [](Member& m) {
        for (int i = 0; i < kTimes; ++i) allreduce(m);
    });
    both.check_ways();
}

} // namespace

int main(int argc, char** argv) {
    int batches = 400;
    CommandLine command{
        "Connections that were made on demand, and beforehand, side by side on soft0."};
    command.option("-b,--batches", batches);
    if (!command.read(argc, argv)) return command.status();
    setenv("FI_ODRC_CONNECT", "all", 1); // for those whose addresses can tell of their queue pairs
    std::printf("%-26s %10s %10s %-5s %8s\n", "", "on demand", "beforehand", "", "ratio");
    std::fflush(stdout);
    const auto run = [&](int processes, auto&& body) {
        return run_team(processes, [&](Team& team) { return body(team, batches), 0; });
    };
    return run(2, between_two) | run(16, among_many);
}
