// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Endpoints in one process that know each other, and what tests of collectives do with them.

#include "duo.hpp"

#include <memory>
#include <numeric>
#include <rdma/fi_collective.h>

namespace duo {

inline const Wishes kCollectiveWishes{.caps = kAllCaps | FI_COLLECTIVE, .events = true};

using Ranks = std::vector<size_t>;

inline Ranks first(size_t count) {
    Ranks ranks(count);
    std::iota(ranks.begin(), ranks.end(), size_t{0});
    return ranks;
}

inline Owned<fid_av_set> empty_set(const Endpoint& endpoint) {
    fi_av_set_attr attr{};
    attr.start_addr = attr.end_addr = FI_ADDR_NOTAVAIL;
    fid_av_set* set = nullptr;
    REQUIRE(fi_av_set(endpoint.av(), &attr, &set, nullptr) == 0);
    return Owned<fid_av_set>{set};
}

inline int join(const Endpoint& endpoint, const fid_av_set* set, Owned<fid_mc>& group,
                void* context = nullptr) {
    fi_addr_t address = FI_ADDR_NOTAVAIL;
    REQUIRE(fi_av_set_addr(const_cast<fid_av_set*>(set), &address) == 0);
    fid_mc* mc = nullptr;
    const int result = fi_join_collective(endpoint.ep(), address, set, 0, &mc, context);
    if (result == 0) group.reset(mc);
    return result;
}

class Circle {
public:
    explicit Circle(size_t size, const Wishes& wishes = kCollectiveWishes) {
        for (size_t i = 0; i < size; ++i) members.push_back(std::make_unique<Watched>(wishes));
        for (auto& member : members)
            for (auto& other : members) member->endpoint.insert(other->endpoint.name());
    }

    size_t size() const { return members.size(); }
    Watched& operator[](size_t i) { return *members[i]; }
    fid_ep* ep(size_t i) const { return members[i]->ep(); }

    void poll() {
        for (auto& member : members) member->poll();
    }
    void until(const std::function<bool()>& condition) { poll_until(*this, condition); }
    Outcome outcome(size_t i, const void* context) {
        std::optional<Outcome> found;
        until([&] { return (found = members[i]->take(context)).has_value(); });
        return *found;
    }
    // Polls as often as any collective of a few members would need to end, were it not waiting.
    void idle() {
        for (int i = 0; i < 2000; ++i) poll();
    }

    Owned<fid_av_set> set(size_t i, const Ranks& ranks) const {
        auto set = empty_set(members[i]->endpoint);
        for (const size_t rank : ranks) REQUIRE(fi_av_set_insert(set.get(), rank) == 0);
        return set;
    }
    Owned<fid_mc> join(size_t i, const Ranks& ranks) const {
        Owned<fid_mc> group;
        REQUIRE(duo::join(members[i]->endpoint, set(i, ranks).get(), group) == 0);
        return group;
    }

    // The next event of a member's queue; none yet.
    std::optional<fi_eq_entry> event(size_t i) {
        fi_eq_entry entry{};
        uint32_t type = 0;
        const ssize_t n = fi_eq_read(members[i]->endpoint.eq(), &type, &entry, sizeof entry, 0);
        if (n == -FI_EAGAIN) return std::nullopt;
        REQUIRE(n == sizeof entry);
        REQUIRE(type == FI_JOIN_COMPLETE);
        return entry;
    }
    void await_joins(const Ranks& ranks) {
        for (const size_t i : ranks) {
            until([&] { return event(i).has_value(); });
        }
    }

    std::vector<std::unique_ptr<Watched>> members;
};

// A group of those members, joined; what the members call it, by rank.
struct Joined {
    Joined(Circle& circle, Ranks of)
        : ranks{std::move(of)} {
        for (const size_t i : ranks) groups.push_back(circle.join(i, ranks));
        circle.await_joins(ranks);
    }
    fi_addr_t at(size_t rank) const { return fi_mc_addr(groups[rank].get()); }

    Ranks ranks;
    std::vector<Owned<fid_mc>> groups;
};

} // namespace duo
