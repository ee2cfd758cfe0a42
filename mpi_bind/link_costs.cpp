// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "link_costs.hpp"

#include "broadcast.hpp"
#include "collectives.hpp"
#include "process.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

namespace odrc::mpi {
namespace {

double now() noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// One of the two between whom messages go: the first one measures.
class Pair {
public:
    explicit Pair(Communicator& c)
        : first_{c.rank() == 0}
        , other_{&c, first_ ? 1 : 0, c.next_collective(), true}
        , bytes_(LinkCosts::kSizes.back()) {}

    LinkCosts::Cost cost(size_t bytes) {
        constexpr size_t kBytes = size_t{1} << 20; // at a time, about
        const int times = static_cast<int>(std::clamp<size_t>(kBytes / bytes, 4, 64));
        const double one_way = hop(bytes, times);
        const double first = gap(bytes, times), second = gap(bytes, times);
        return {.hop = one_way, .send = std::min(first, second)}; // one may have been interrupted
    }

private:
    // Half of the shortest time there and back. The first ones connect, and fill caches.
    double hop(size_t bytes, int times) {
        double least = std::numeric_limits<double>::infinity();
        for (int i = 0; i < times; ++i) {
            const double begin = now();
            first_ ? out(bytes) : in(bytes);
            first_ ? in(bytes) : out(bytes);
            if (i >= times / 4) least = std::min(least, (now() - begin) / 2);
        }
        return least;
    }
    // Of many in a row, until the other one says that it has them.
    double gap(size_t bytes, int times) {
        const double begin = now();
        for (int i = 0; i < times; ++i) first_ ? out(bytes) : in(bytes);
        first_ ? in(0) : out(0);
        return (now() - begin) / times;
    }
    void out(size_t bytes) { send({bytes_.data(), bytes, *Datatype::of(MPI_BYTE)}, other_); }
    void in(size_t bytes) { receive({bytes_.data(), bytes, *Datatype::of(MPI_BYTE)}, other_); }

    const bool first_;
    const Address other_;
    std::vector<std::byte> bytes_;
};

} // namespace

double LinkCosts::between(size_t bytes, double Cost::*what) const noexcept {
    size_t i = 1;
    while (i + 1 < kSizes.size() && bytes > kSizes[i]) ++i;
    const double low = at[i - 1].*what, high = at[i].*what;
    const auto from_low = static_cast<double>(bytes) - static_cast<double>(kSizes[i - 1]);
    const auto whole = static_cast<double>(kSizes[i] - kSizes[i - 1]);
    return std::max(low + (high - low) * from_low / whole, std::min(low, high) / 2);
}

LinkCosts measure_link(Communicator& c) {
    LinkCosts costs;
    if (c.rank() < 2) {
        Pair pair{c};
        for (size_t i = 0; i < costs.at.size(); ++i) costs.at[i] = pair.cost(LinkCosts::kSizes[i]);
        const auto processors = std::max(std::thread::hardware_concurrency(), 1u);
        const auto processes = static_cast<double>(Process::get().launch().neighbours().size());
        costs.crowding = std::max(processes / processors, 1.0);
    } else {
        c.next_collective();
    }
    const Data all{&costs, sizeof costs, *Datatype::of(MPI_BYTE)};
    broadcast_along(Tree::binomial, sizeof costs, all, 0, c);
    return costs;
}

} // namespace odrc::mpi
