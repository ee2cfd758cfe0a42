// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// fi_collective(3): what comes out, in groups of several sizes.

#include "collectives.hpp"

#include <array>
#include <thread>

using namespace duo;

namespace {

using Numbers = std::vector<uint64_t>;

uint64_t value(size_t rank, size_t i) { return 1'000'000 * (rank + 1) + i; }

// One collective by all members of a circle, in which the one after the other calls it.
class Run {
public:
    Run(Circle& c, fi_collective_op kind, size_t block, size_t root)
        : circle{c}
        , group{c, first(c.size())}
        , what{kind}
        , count{block}
        , root_rank{root} {
        for (size_t rank = 0; rank < c.size(); ++rank) {
            data.emplace_back(c.size() * block);
            result.emplace_back(c.size() * block);
            for (size_t i = 0; i < data[rank].size(); ++i) data[rank][i] = value(rank, i);
        }
        for (size_t rank = 0; rank < c.size(); ++rank) REQUIRE(call(rank) == 0);
        for (size_t rank = 0; rank < c.size(); ++rank) {
            const Outcome o = c.outcome(rank, &data[rank]);
            REQUIRE(!o.error);
            CHECK(o.entry.flags == FI_COLLECTIVE);
        }
    }

    // The sum over all members at a place of their data.
    uint64_t sum(size_t i) const {
        uint64_t n = 0;
        for (size_t rank = 0; rank < circle.size(); ++rank) n += value(rank, i);
        return n;
    }
    void check(size_t rank, size_t blocks, const std::function<uint64_t(size_t, size_t)>& f) const {
        const Numbers& got = what == FI_BROADCAST ? data[rank] : result[rank];
        size_t wrong = 0;
        for (size_t i = 0; i < blocks * count; ++i) wrong += got[i] != f(i / count, i % count);
        CHECK_MESSAGE(wrong == 0, "rank ", rank, " of ", circle.size(), ", kind ", int(what));
    }
    void check_all() const {
        for (size_t rank = 0; rank < circle.size(); ++rank) check_rank(rank);
    }

private:
    ssize_t call(size_t rank) {
        fid_ep* ep = circle.ep(rank);
        const fi_addr_t to = group.at(rank);
        Numbers &in = data[rank], &out = result[rank];
        switch (what) {
        case FI_BARRIER:
            return fi_barrier(ep, to, &in);
        case FI_BROADCAST:
            return fi_broadcast(ep, in.data(), count, nullptr, to, root_rank, FI_UINT64, 0, &in);
        case FI_ALLTOALL:
            return fi_alltoall(ep, in.data(), count, nullptr, out.data(), nullptr, to, FI_UINT64, 0,
                               &in);
        case FI_ALLREDUCE:
            return fi_allreduce(ep, in.data(), count, nullptr, out.data(), nullptr, to, FI_UINT64,
                                FI_SUM, 0, &in);
        case FI_ALLGATHER:
            return fi_allgather(ep, in.data(), count, nullptr, out.data(), nullptr, to, FI_UINT64,
                                0, &in);
        case FI_REDUCE_SCATTER:
            return fi_reduce_scatter(ep, in.data(), count, nullptr, out.data(), nullptr, to,
                                     FI_UINT64, FI_SUM, 0, &in);
        case FI_REDUCE:
            return fi_reduce(ep, in.data(), count, nullptr,
                             rank == root_rank ? out.data() : nullptr, nullptr, to, root_rank,
                             FI_UINT64, FI_SUM, 0, &in);
        case FI_SCATTER:
            return fi_scatter(ep, rank == root_rank ? in.data() : nullptr, count, nullptr,
                              out.data(), nullptr, to, root_rank, FI_UINT64, 0, &in);
        case FI_GATHER:
            return fi_gather(ep, in.data(), count, nullptr,
                             rank == root_rank ? out.data() : nullptr, nullptr, to, root_rank,
                             FI_UINT64, 0, &in);
        }
        return -FI_EINVAL;
    }
    void check_rank(size_t rank) const {
        switch (what) {
        case FI_BARRIER:
            return;
        case FI_BROADCAST:
            return check(rank, 1, [&](size_t, size_t i) { return value(root_rank, i); });
        case FI_ALLTOALL:
            return check(rank, circle.size(),
                         [&](size_t from, size_t i) { return value(from, rank * count + i); });
        case FI_GATHER:
        case FI_ALLGATHER:
            if (what == FI_GATHER && rank != root_rank) return;
            return check(rank, circle.size(),
                         [&](size_t from, size_t i) { return value(from, i); });
        case FI_REDUCE:
        case FI_ALLREDUCE:
            if (what == FI_REDUCE && rank != root_rank) return;
            return check(rank, 1, [&](size_t, size_t i) { return sum(i); });
        case FI_REDUCE_SCATTER:
            return check(rank, 1, [&](size_t, size_t i) { return sum(rank * count + i); });
        case FI_SCATTER:
            return check(rank, 1,
                         [&](size_t, size_t i) { return value(root_rank, rank * count + i); });
        }
    }

    Circle& circle;
    const Joined group;
    const fi_collective_op what;
    const size_t count, root_rank;
    std::vector<Numbers> data, result;
};

} // namespace

TEST_CASE("every collective gives every member its result, whatever the size of the group") {
    for (const size_t size : {1, 2, 5, 8}) {
        Circle circle{size};
        for (int kind = FI_BARRIER; kind <= FI_GATHER; ++kind)
            for (const size_t count : {size_t{0}, size_t{1}, size_t{3000}})
                Run{circle, static_cast<fi_collective_op>(kind), count, size / 2}.check_all();
    }
}

TEST_CASE("both buffers of an allreduce may be the same") {
    Circle circle{3};
    const Joined group{circle, first(3)};
    std::array<uint32_t, 3> value{5, 7, 9};
    for (size_t i = 0; i < 3; ++i)
        REQUIRE(fi_allreduce(circle.ep(i), &value[i], 1, nullptr, &value[i], nullptr, group.at(i),
                             FI_UINT32, FI_MAX, 0, &value[i]) == 0);
    for (size_t i = 0; i < 3; ++i) {
        CHECK(!circle.outcome(i, &value[i]).error);
        CHECK(value[i] == 9);
    }
}

TEST_CASE("a group begins when all have joined, and nobody leaves a barrier before all have come") {
    Circle circle{3};
    std::vector<Owned<fid_mc>> groups;
    for (size_t i = 0; i < 2; ++i) groups.push_back(circle.join(i, first(3)));
    circle.idle();
    for (size_t i = 0; i < 2; ++i) {
        CHECK(!circle.event(i));
        CHECK(fi_barrier(circle.ep(i), fi_mc_addr(groups[i].get()), nullptr) == -FI_EOPBADSTATE);
    }
    auto set = circle.set(2, first(3));
    int context = 0;
    Owned<fid_mc> last;
    REQUIRE(join(circle[2].endpoint, set.get(), last, &context) == 0);
    groups.push_back(std::move(last));
    std::optional<fi_eq_entry> event;
    circle.until([&] { return (event = circle.event(2)).has_value(); });
    CHECK(event->fid == &groups[2]->fid);
    CHECK(event->context == &context);
    circle.await_joins({0, 1});

    std::array<int, 3> done{};
    for (size_t i = 0; i < 2; ++i)
        REQUIRE(fi_barrier(circle.ep(i), fi_mc_addr(groups[i].get()), &done[i]) == 0);
    circle.idle();
    for (size_t i = 0; i < 2; ++i) CHECK(!circle[i].take(&done[i]));
    REQUIRE(fi_barrier2(circle.ep(2), fi_mc_addr(groups[2].get()), FI_COMPLETION, &done[2]) == 0);
    for (size_t i = 0; i < 3; ++i) CHECK(!circle.outcome(i, &done[i]).error);
}

TEST_CASE("groups that overlap, and many collectives in each, do not disturb each other") {
    Circle circle{4};
    const std::vector<Ranks> ranks{{0, 1, 2}, {2, 1, 3}, {0, 1, 2, 3}, {0, 1, 2}, {2}};
    std::vector<std::unique_ptr<Joined>> groups;
    for (const Ranks& r : ranks) groups.push_back(std::make_unique<Joined>(circle, r));

    constexpr uint64_t kRounds = 20;
    struct Sum {
        uint64_t in, out;
    };
    std::deque<Sum> sums; // their addresses are the contexts
    const auto expected = [&](size_t g, uint64_t round) {
        uint64_t sum = 0;
        for (const size_t i : ranks[g]) sum += round * 100 + g * 10 + i;
        return sum;
    };
    std::vector<std::tuple<size_t, Sum*, uint64_t>> posted;
    // Each member calls for all of its groups in turn, before anybody makes progress.
    for (size_t i = 0; i < circle.size(); ++i) {
        for (uint64_t round = 0; round < kRounds; ++round) {
            for (size_t g = 0; g < groups.size(); ++g) {
                const auto at = std::ranges::find(ranks[g], i);
                if (at == ranks[g].end()) continue;
                Sum& s = sums.emplace_back(Sum{round * 100 + g * 10 + i, 0});
                REQUIRE(fi_allreduce(circle.ep(i), &s.in, 1, nullptr, &s.out, nullptr,
                                     groups[g]->at(static_cast<size_t>(at - ranks[g].begin())),
                                     FI_UINT64, FI_SUM, 0, &s) == 0);
                posted.emplace_back(i, &s, expected(g, round));
            }
        }
    }
    for (const auto& [i, sum, result] : posted) {
        CHECK(!circle.outcome(i, sum).error);
        CHECK(sum->out == result);
    }
}

TEST_CASE("the program's receives and a collective's messages do not meet") {
    Circle circle{3};
    char tagged[3][8], untagged[3][8];
    for (size_t i = 0; i < 3; ++i) {
        REQUIRE(fi_trecv(circle.ep(i), tagged[i], 8, nullptr, FI_ADDR_UNSPEC, 0, ~uint64_t{0},
                         tagged[i]) == 0);
        REQUIRE(fi_recv(circle.ep(i), untagged[i], 8, nullptr, FI_ADDR_UNSPEC, untagged[i]) == 0);
    }
    for (const size_t count : {1, 3000}) {
        Run{circle, FI_ALLREDUCE, count, 0}.check_all();
        Run{circle, FI_BROADCAST, count, 2}.check_all();
    }
    for (size_t i = 0; i < 3; ++i) {
        CHECK(!circle[i].take(tagged[i]));
        CHECK(!circle[i].take(untagged[i]));
    }
    // And the messages are still to be had, in the middle of a collective as well.
    const Joined group{circle, first(3)};
    std::array<int, 3> done{};
    for (size_t i = 0; i < 2; ++i) REQUIRE(fi_barrier(circle.ep(i), group.at(i), &done[i]) == 0);
    for (size_t i = 0; i < 3; ++i) {
        REQUIRE(fi_tinject(circle.ep(i), "tagged", 7, (i + 1) % 3, ~uint64_t{0}) == 0);
        REQUIRE(fi_inject(circle.ep(i), "without", 8, (i + 1) % 3) == 0);
    }
    for (size_t i = 0; i < 3; ++i) {
        CHECK(circle.outcome(i, tagged[i]).entry.len == 7);
        CHECK(circle.outcome(i, untagged[i]).entry.len == 8);
    }
    REQUIRE(fi_barrier(circle.ep(2), group.at(2), &done[2]) == 0);
    for (size_t i = 0; i < 3; ++i) CHECK(!circle.outcome(i, &done[i]).error);
}

TEST_CASE("collectives are counted with what is sent, and complete silently where that is asked") {
    Wishes wishes = kCollectiveWishes;
    wishes.selective = wishes.counters = true;
    Circle circle{2, wishes};
    const Joined group{circle, first(2)};
    int silent = 0, told = 0;
    for (size_t i = 0; i < 2; ++i) {
        REQUIRE(fi_barrier(circle.ep(i), group.at(i), &silent) == 0);
        REQUIRE(fi_barrier2(circle.ep(i), group.at(i), FI_COMPLETION, &told) == 0);
    }
    for (size_t i = 0; i < 2; ++i) {
        CHECK(!circle.outcome(i, &told).error);
        circle.until([&] { return fi_cntr_read(circle[i].endpoint.sent()) == 2; });
        CHECK(!circle[i].take(&silent));
        CHECK(fi_cntr_read(circle[i].endpoint.received()) == 0);
    }
}

TEST_CASE("whoever sleeps is woken by the end of a join, and of a collective") {
    Wishes wishes = kCollectiveWishes;
    wishes.wait = FI_WAIT_FD;
    Circle circle{2, wishes};
    const Owned<fid_mc> group = circle.join(0, first(2));
    ssize_t event_read = 0, completion_read = 0;
    int done[2];
    std::jthread sleeper{[&] {
        constexpr int kMilliseconds = 40'000;
        const Endpoint& e = circle[0].endpoint;
        uint32_t event = 0;
        fi_eq_entry entry{};
        event_read = fi_eq_sread(e.eq(), &event, &entry, sizeof entry, kMilliseconds, 0);
        fi_barrier(e.ep(), fi_mc_addr(group.get()), &done[0]);
        fi_cq_tagged_entry completion{};
        completion_read = fi_cq_sread(e.cq(), &completion, 1, nullptr, kMilliseconds);
    }};
    const Owned<fid_mc> other = circle.join(1, first(2));
    const auto until = [&](const std::function<bool()>& condition) {
        const auto end = Clock::now() + kPatience;
        while (!condition()) {
            REQUIRE(Clock::now() < end);
            circle[1].poll();
        }
    };
    until([&] { return circle.event(1).has_value(); });
    CHECK(fi_barrier(circle.ep(1), fi_mc_addr(other.get()), &done[1]) == 0);
    until([&] { return circle[1].take(&done[1]).has_value(); });
    sleeper.join();
    CHECK(event_read == sizeof(fi_eq_entry));
    CHECK(completion_read == 1);
}
