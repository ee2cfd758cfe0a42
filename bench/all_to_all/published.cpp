// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What a process publishes, if it tells every number, and if it tells ranges.

#include "bench/all_to_all/measurements.hpp"
#include "bench/all_to_all/station.hpp"
#include "fabtests_ext/support/samples.hpp"
#include "fabtests_ext/support/team.hpp"
#include "ondemand/native_address.hpp"
#include "verbs_rc/turn.hpp"

namespace bench {
namespace {

using namespace fabtests_ext;
using namespace odrc;

constexpr size_t kBytesOfNumber = 4;
constexpr size_t kBytesOfRange = 5;
constexpr size_t kBesides = 24; // what an address has before the numbers, with an IPv4 socket

struct Found {
    unsigned long long most; // ranges of a process
    double mean;
};

Found ranges_of(Team& team, const Station& station) {
    const auto ranges = ondemand::to_ranges(station.numbers());
    Found found{0, 0};
    for (const auto r : team.numbers(ranges.size())) {
        found.most = std::max(found.most, r);
        found.mean += static_cast<double>(r) / team.size();
    }
    return found;
}

int measure(Team& team, size_t count) {
    Station station;
    team.barrier();
    {
        const verbs::Turn turn{station.port()};
        station.create(count, 1);
    }
    const Found in_turn = ranges_of(team, station);
    station.clear();
    team.barrier();
    station.create(count, 1);
    const Found at_once = ranges_of(team, station);
    if (team.rank() == 0) {
        std::printf("%6zu %10zu %10llu %8llu %12.1f %10llu %10.0f\n", count,
                    kBesides + count * kBytesOfNumber, in_turn.most,
                    kBesides + in_turn.most * kBytesOfRange, at_once.mean, at_once.most,
                    double(kBesides) + at_once.mean * kBytesOfRange);
        std::fflush(stdout);
    }
    team.barrier();
    return 0;
}

} // namespace

int published_bytes(int processes, size_t most) {
    std::printf("Published by each of %d processes of a host (an address has room for 4 ranges)\n"
                "                      one at a time             all at once\n"
                " peers    numbers     ranges    bytes  ranges: mean       most      bytes\n",
                processes);
    std::fflush(stdout);
    for (size_t count = 16; count <= most; count *= 4)
        if (run_team(processes, [&](Team& team) { return measure(team, count); })) return 1;
    return 0;
}

int creation(size_t count) {
    std::printf("\nQueue pairs made in a second, of %zu\n", count);
    std::fflush(stdout);
    return run_team(1, [&](Team&) {
        for (const size_t threads : {1, 2, 4, 8}) {
            Station station;
            const Stopwatch watch;
            station.create(count, threads);
            std::printf("%2zu threads %40.0f\n", threads,
                        static_cast<double>(count) / (watch.nanoseconds() / 1e9));
            std::fflush(stdout);
        }
        return 0;
    });
}

} // namespace bench
