// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The start of a job, until all are connected to all, and their first words.

#include "bench/all_to_all/measurements.hpp"
#include "bench/all_to_all/station.hpp"
#include "bench/job.hpp"
#include "fabtests_ext/support/fabric.hpp"
#include "fabtests_ext/support/samples.hpp"
#include "fabtests_ext/support/shared.hpp"
#include "ondemand/queues_in_wait.hpp"
#include "verbs_rc/turn.hpp"

#include <cstdlib>
#include <cstring>
#include <sched.h>

namespace bench {
namespace {

using namespace fabtests_ext;
using namespace odrc;

constexpr size_t kMost = 1024;

// What stands for the exchange of a launcher: everybody's copy of everybody's bytes.
struct Board {
    uint32_t numbers[kMost][kMost];
    char names[kMost][64];
};

// Milliseconds, of all processes together.
struct Times {
    double made, connected;
    double first{-1}, second{-1};
};

class Lap {
public:
    explicit Lap(Team& team)
        : team_{team} {
        team_.barrier();
        watch_ = {};
    }
    double ms() {
        team_.barrier();
        return watch_.nanoseconds() / 1e6;
    }

private:
    Team& team_;
    Stopwatch watch_;
};

void print(Team& team, const char* what, const Times& t, size_t bytes) {
    if (team.rank() != 0) return;
    std::printf("%-26s %10zu %10.1f %10.1f %10.1f", what, bytes, t.made, t.connected,
                t.made + t.connected);
    if (t.first >= 0) std::printf(" %10.1f %10.1f", t.first, t.second);
    std::printf("\n");
    std::fflush(stdout);
}

// ---- by hand, on queue pairs as the provider makes them ----

enum class Tell { numbers, ranges };

void by_hand(Team& team, Board& board, size_t all, Tell tell, size_t threads, const char* name) {
    const size_t mine = all / static_cast<size_t>(team.size());
    const size_t first = mine * static_cast<size_t>(team.rank());
    std::vector<std::unique_ptr<Station>> stations;
    for (size_t i = 0; i < mine; ++i) stations.push_back(std::make_unique<Station>());
    Times times{};
    Lap making{team};
    for (size_t i = 0; i < mine; ++i) {
        std::optional<verbs::Turn> turn;
        if (tell == Tell::ranges) turn.emplace(stations[i]->port());
        stations[i]->create(all, threads);
    }
    times.made = making.ms();
    Lap connecting{team};
    size_t bytes = 0;
    for (size_t i = 0; i < mine; ++i) {
        const auto numbers = stations[i]->numbers();
        if (tell == Tell::numbers) {
            std::ranges::copy(numbers, board.numbers[first + i]);
            bytes = 24 + 4 * all;
            continue;
        }
        auto address = stations[i]->address();
        address.place = {.rank = static_cast<uint32_t>(first + i),
                         .size = static_cast<uint32_t>(all),
                         .job = 1,
                         .endpoint = 0};
        address.ranges = ondemand::ShortRanges{ondemand::to_ranges(numbers)};
        const auto encoded = address.encode();
        std::memcpy(board.names[first + i], encoded.data(), encoded.size());
        bytes = encoded.size();
    }
    team.barrier();
    // Everybody gets all that everybody has published.
    std::vector<uint32_t> column(all);
    std::vector<uint32_t> published(all);
    for (size_t i = 0; i < mine; ++i) {
        const auto me = static_cast<uint32_t>(first + i);
        for (size_t peer = 0; peer < all; ++peer) {
            if (tell == Tell::numbers) {
                std::copy_n(board.numbers[peer], all, published.begin());
                column[peer] = published[me];
            } else {
                ondemand::NativeAddress::Bytes encoded;
                std::memcpy(encoded.data(), board.names[peer], encoded.size());
                column[peer] = ondemand::NativeAddress::decode(encoded)->ranges.at(me).value_or(0);
            }
        }
        for (size_t peer = 0; peer < all; ++peer)
            if (column[peer]) stations[i]->connect(peer, column[peer]);
    }
    times.connected = connecting.ms();
    print(team, name, times, bytes);
}

// ---- the provider's endpoints ----

// What it takes to enable an endpoint is added to ns; what opens the device is not.
Wishes wishes_for(size_t rank, size_t all, bool beforehand, double& ns) {
    Wishes wishes{.caps = FI_TAGGED, .address_format = FI_SOCKADDR_IN};
    if (beforehand)
        wishes = wishes_in_job(static_cast<uint32_t>(rank), static_cast<uint32_t>(all), FI_TAGGED);
    wishes.prepare = [tell_place = wishes.prepare, &ns](fid_ep* ep) {
        if (tell_place) tell_place(ep);
        const Stopwatch watch;
        check(fi_enable(ep), "fi_enable");
        ns += watch.nanoseconds();
    };
    return wishes;
}

// One word from each to each: a number of eight bytes.
class Words {
public:
    Words(std::vector<std::unique_ptr<Endpoint>>& endpoints,
          const std::vector<std::vector<fi_addr_t>>& numbers)
        : endpoints_{endpoints}
        , numbers_{numbers} {}

    void exchange() {
        size_t left = 0;
        for (auto& endpoint : endpoints_)
            for (size_t i = 0; i < numbers_[0].size(); ++i, ++left)
                later([&] {
                    return fi_trecv(endpoint->ep(), &in_, sizeof in_, nullptr, FI_ADDR_UNSPEC, 1, 0,
                                    &received_);
                });
        // Each begins with another, so that not all speak to the same.
        for (size_t e = 0; e < endpoints_.size(); ++e)
            for (size_t i = 0; i < numbers_[e].size(); ++i)
                later([&] {
                    return fi_tinject(endpoints_[e]->ep(), &in_, sizeof in_, numbers_[e][i], 1);
                });
        while (seen_ < left) poll();
        seen_ = 0;
    }

private:
    template <class Call>
    void later(Call&& call) {
        for (ssize_t result; (result = call()) != 0; poll())
            if (result != -FI_EAGAIN) check(result, "an operation");
    }
    void poll() {
        bool found = false;
        fi_cq_tagged_entry entry;
        for (auto& endpoint : endpoints_)
            while (endpoint->poll(entry)) {
                found = true;
                if (entry.op_context == &received_) ++seen_;
            }
        if (!found) sched_yield();
    }

    std::vector<std::unique_ptr<Endpoint>>& endpoints_;
    const std::vector<std::vector<fi_addr_t>>& numbers_;
    size_t seen_{0};
    uint64_t in_{0};
    int received_{0};
};

void by_provider(Team& team, Board& board, size_t all, bool beforehand, const char* name) {
    const size_t mine = all / static_cast<size_t>(team.size());
    const size_t first = mine * static_cast<size_t>(team.rank());
    std::vector<std::unique_ptr<Endpoint>> endpoints;
    double ns = 0;
    setenv("FI_ODRC_CONNECT", beforehand ? "all" : "ondemand", 1); // whatever seems best here
    for (size_t i = 0; i < mine; ++i)
        endpoints.push_back(
            std::make_unique<Endpoint>(Choice{.provider = "odrc", .domain = "soft0"},
                                       wishes_for(first + i, all, beforehand, ns)));
    Times times{};
    times.made =
        static_cast<double>(std::ranges::max(team.numbers(static_cast<unsigned long long>(ns)))) /
        1e6;
    Lap connecting{team};
    for (size_t i = 0; i < mine; ++i) {
        const std::string own = endpoints[i]->name();
        std::memcpy(board.names[first + i], own.data(), own.size());
    }
    team.barrier();
    std::vector<std::vector<fi_addr_t>> numbers(mine);
    const size_t length = endpoints[0]->name().size();
    for (size_t i = 0; i < mine; ++i)
        for (size_t peer = 0; peer < all; ++peer)
            numbers[i].push_back(
                endpoints[i]->insert({board.names[(first + i + peer) % all], length}));
    times.connected = connecting.ms();
    Words words{endpoints, numbers};
    Lap speaking{team};
    words.exchange();
    times.first = speaking.ms();
    Lap again{team};
    words.exchange();
    times.second = again.ms();
    print(team, name, times, length);
    team.barrier(); // nobody leaves whom another still talks to
}

} // namespace

int set_up(int processes, size_t all) {
    const Shared<Board> board;
    std::printf("\n%zu endpoints in %d processes, all to all; milliseconds\n"
                "%-26s %10s %10s %10s %10s %10s %10s\n",
                all, processes, "", "bytes", "made", "connected", "together", "first word",
                "the next");
    std::fflush(stdout);
    const auto run = [&](auto&& body) {
        return run_team(processes, [&](Team& team) {
            body(team);
            return 0;
        });
    };
    return run([&](Team& t) { by_hand(t, *board, all, Tell::numbers, 1, "numbers"); }) |
           run([&](Team& t) { by_hand(t, *board, all, Tell::ranges, 1, "ranges, one thread"); }) |
           run([&](Team& t) { by_hand(t, *board, all, Tell::ranges, 2, "ranges, two threads"); }) |
           run([&](Team& t) { by_provider(t, *board, all, true, "provider, all"); }) |
           run([&](Team& t) { by_provider(t, *board, all, false, "provider, on demand"); });
}

} // namespace bench
