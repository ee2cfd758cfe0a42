// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// All members of a group in one thread: messages are copies in queues.

#include "transfer/collective_schedule.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <doctest/doctest.h>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

using namespace odrc::transfer;

namespace {

using Numbers = std::vector<uint64_t>;

struct Member {
    Collective what;
    Numbers data, result, sum, incoming;
    Round round;
    uint32_t next{0}, messages{0};
    bool receiving{false}, over{false};
};

class Simulation {
public:
    Simulation(fi_collective_op kind, uint32_t size, uint32_t root, size_t elements)
        : members(size) {
        for (uint32_t rank = 0; rank < size; ++rank) {
            Member& m = members[rank];
            m.what.kind = kind;
            m.what.rank = rank;
            m.what.size = size;
            m.what.root = root;
            m.what.elements = elements;
            m.what.block = elements * sizeof(uint64_t);
            if (m.what.combines())
                m.what.operation = find_operation(AtomicCall::update, FI_UINT64, FI_SUM);
            for (Numbers* n : {&m.data, &m.result, &m.sum, &m.incoming}) n->resize(size * elements);
            for (size_t i = 0; i < m.data.size(); ++i) m.data[i] = value(rank, i);
            m.what.data = bytes(m.data);
            m.what.result = bytes(m.result);
            m.what.sum = bytes(m.sum);
            m.what.incoming = bytes(m.incoming);
        }
    }

    static uint64_t value(uint32_t rank, size_t i) { return rank * 1000 + i + 1; }

    // In that order, each as far as it gets, until nobody gets on.
    void run(bool backwards) {
        std::vector<Member*> order;
        for (Member& m : members) order.push_back(&m);
        if (backwards) std::ranges::reverse(order);
        for (Member* m : order) contribute(m->what);
        for (bool moved = true; moved;) {
            moved = false;
            for (Member* m : order) moved |= step(*m);
        }
    }
    bool over() const {
        return std::ranges::all_of(members, &Member::over) &&
               std::ranges::all_of(wire, [](const auto& w) { return w.second.empty(); });
    }

    std::vector<Member> members;

private:
    using Bytes = std::vector<std::byte>;

    static std::byte* bytes(Numbers& n) { return reinterpret_cast<std::byte*>(n.data()); }

    bool step(Member& m) {
        if (m.over) return false;
        if (m.receiving) {
            auto& queue = wire[{m.round.receive->rank, m.what.rank}];
            if (queue.empty()) return false;
            const Bytes message = queue.front();
            queue.pop_front();
            REQUIRE(message.size() == m.round.receive->bytes());
            size_t done = 0;
            for (const iovec& v : m.round.receive->list()) {
                std::memcpy(v.iov_base, message.data() + done, v.iov_len);
                done += v.iov_len;
            }
            m.receiving = false;
        }
        if (m.round.combine) combine(m.what);
        const auto next = round_of(m.what, m.next++);
        if (!next) {
            conclude(m.what);
            return m.over = true;
        }
        m.round = *next;
        m.receiving = next->receive.has_value();
        if (!next->send) return true;
        ++m.messages;
        Bytes message;
        for (const iovec& v : next->send->list()) {
            const auto* from = static_cast<const std::byte*>(v.iov_base);
            message.insert(message.end(), from, from + v.iov_len);
        }
        wire[{m.what.rank, next->send->rank}].push_back(message);
        return true;
    }

    std::map<std::pair<uint32_t, uint32_t>, std::deque<Bytes>> wire; // from, to
};

const std::vector<uint32_t> kSizes{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 31, 33};
constexpr size_t kElements = 3;

// Of all members, at a place of their data.
uint64_t total(uint32_t size, size_t i) {
    uint64_t sum = 0;
    for (uint32_t rank = 0; rank < size; ++rank) sum += Simulation::value(rank, i);
    return sum;
}

// What a member has in its result, or in a broadcast in its data, when the collective is over.
uint64_t expected(const Member& m, size_t i) {
    const auto& w = m.what;
    const auto from = static_cast<uint32_t>(i / kElements);
    const size_t within = i % kElements;
    switch (w.kind) {
    case FI_BROADCAST:
        return Simulation::value(w.root, i);
    case FI_ALLTOALL:
        return Simulation::value(from, w.rank * kElements + within);
    case FI_ALLGATHER:
    case FI_GATHER:
        return Simulation::value(from, within);
    case FI_SCATTER:
        return Simulation::value(w.root, w.rank * kElements + i);
    case FI_REDUCE_SCATTER:
        return total(w.size, w.rank * kElements + i);
    default:
        return total(w.size, i);
    }
}

void check_results(const Simulation& s) {
    for (const Member& m : s.members) {
        const auto& w = m.what;
        if (w.kind == FI_BARRIER) return;
        if ((w.kind == FI_REDUCE || w.kind == FI_GATHER) && !w.is_root()) continue;
        const bool of_all = w.kind == FI_ALLTOALL || w.kind == FI_ALLGATHER || w.kind == FI_GATHER;
        const Numbers& got = w.kind == FI_BROADCAST ? m.data : m.result;
        for (size_t i = 0; i < (of_all ? w.size : 1) * kElements; ++i)
            REQUIRE_MESSAGE(got[i] == expected(m, i), "kind ", int(w.kind), ", size ", w.size,
                            ", root ", w.root, ", rank ", w.rank, ", place ", i);
    }
}

uint32_t log2_up(uint32_t n) { return static_cast<uint32_t>(std::bit_width(n - 1)); }

} // namespace

TEST_CASE("every collective ends, with the right result, in groups of any size") {
    for (int kind = FI_BARRIER; kind <= FI_GATHER; ++kind) {
        for (const uint32_t size : kSizes) {
            for (uint32_t root = 0; root < size; ++root) {
                for (const bool backwards : {false, true}) {
                    Simulation s{static_cast<fi_collective_op>(kind), size, root, kElements};
                    s.run(backwards);
                    REQUIRE_MESSAGE(s.over(), "kind ", kind, ", size ", size, ", root ", root);
                    check_results(s);
                }
                if (!Collective{.kind = static_cast<fi_collective_op>(kind)}.has_root()) break;
            }
        }
    }
}

TEST_CASE("nobody leaves a barrier before all have come") {
    for (const uint32_t size : kSizes) {
        for (uint32_t absent = 0; absent < size; ++absent) {
            Simulation s{FI_BARRIER, size, 0, 0};
            s.members[absent].over = true;
            s.run(false);
            for (uint32_t rank = 0; rank < size; ++rank)
                CHECK(s.members[rank].over == (rank == absent));
        }
    }
}

TEST_CASE("where an allgather is agreed upon, all have all before anybody ends") {
    for (const uint32_t size : kSizes) {
        for (uint32_t absent = 0; absent < size; ++absent) {
            Simulation s{FI_ALLGATHER, size, 0, kElements};
            for (Member& m : s.members) m.what.agreed = true;
            s.members[absent].over = true;
            s.run(false);
            for (uint32_t rank = 0; rank < size; ++rank)
                CHECK(s.members[rank].over == (rank == absent));
            s.members[absent].over = false;
            s.run(false);
            CHECK(s.over());
            check_results(s);
        }
    }
}

TEST_CASE("a collective costs as many messages as is said of it") {
    for (const uint32_t size : kSizes) {
        const auto most = [size](fi_collective_op kind) {
            Simulation s{kind, size, 0, 1};
            s.run(false);
            uint32_t messages = 0;
            for (const Member& m : s.members) messages = std::max(messages, m.messages);
            return messages;
        };
        CHECK(most(FI_BARRIER) == log2_up(size));
        CHECK(most(FI_BROADCAST) == log2_up(size));
        CHECK(most(FI_ALLGATHER) == log2_up(size));
        CHECK(most(FI_ALLREDUCE) <= log2_up(size) + 1);
        CHECK(most(FI_REDUCE) <= 1);
        for (const auto kind : {FI_ALLTOALL, FI_REDUCE_SCATTER, FI_SCATTER})
            CHECK(most(kind) == size - 1);
        CHECK(most(FI_GATHER) <= 1);
    }
}

TEST_CASE("an empty piece of memory is none") {
    Simulation s{FI_ALLGATHER, 3, 0, 0};
    s.run(false);
    CHECK(s.over());
    const auto round = round_of(s.members[2].what, 1);
    CHECK(!round_of(s.members[2].what, 2));
    REQUIRE(round);
    CHECK(round->send->list().empty());
}
