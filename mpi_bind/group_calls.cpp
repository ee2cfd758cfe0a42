// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI 6.3: groups.

#include "api.hpp"

using namespace odrc::mpi;

namespace {

// For the program: with a user of its own.
int give(std::vector<int> ranks, MPI_Group* made) {
    *made = Group::make(std::move(ranks))->handle();
    return MPI_SUCCESS;
}

bool holds(const Group& group, int world_rank) noexcept {
    return group.rank_of(world_rank) != MPI_UNDEFINED;
}

// Calls f(one, other, ranks), which puts the ranks of a new group together.
template <class F>
int combine(MPI_Group one, MPI_Group other, MPI_Group* made, const char* call, F&& f) {
    const Group* a = Group::of(one);
    const Group* b = Group::of(other);
    if (!a || !b) return fail_in_world(MPI_ERR_GROUP, call);
    std::vector<int> ranks;
    f(*a, *b, ranks);
    return give(std::move(ranks), made);
}

// Those that ranges name, each as first, last and stride. False: some of it cannot be.
bool expand(const Group& group, int count, int ranges[][3], std::vector<int>& ranks) {
    for (int i = 0; i < count; ++i) {
        const auto [first, last, stride] = ranges[i];
        if (stride == 0) return false;
        for (int rank = first; stride > 0 ? rank <= last : rank >= last; rank += stride)
            ranks.push_back(rank);
    }
    return std::ranges::all_of(ranks, [&](int rank) { return rank >= 0 && rank < group.size(); });
}

int include(const Group& group, std::span<const int> ranks, MPI_Group* made) {
    std::vector<int> members;
    for (const int rank : ranks) members.push_back(group.world_rank(rank));
    return give(std::move(members), made);
}

int exclude(const Group& group, std::span<const int> ranks, MPI_Group* made) {
    std::vector<bool> out(static_cast<size_t>(group.size()));
    for (const int rank : ranks) out[static_cast<size_t>(rank)] = true;
    std::vector<int> members;
    for (int rank = 0; rank < group.size(); ++rank)
        if (!out[static_cast<size_t>(rank)]) members.push_back(group.world_rank(rank));
    return give(std::move(members), made);
}

// Ranks of the group, each once.
int check_ranks(const Group* group, int count, const int* ranks) {
    if (!group) return MPI_ERR_GROUP;
    if (count < 0) return MPI_ERR_ARG;
    std::vector<bool> seen(static_cast<size_t>(group->size()));
    for (int i = 0; i < count; ++i) {
        if (ranks[i] < 0 || ranks[i] >= group->size()) return MPI_ERR_RANK;
        if (seen[static_cast<size_t>(ranks[i])]) return MPI_ERR_RANK;
        seen[static_cast<size_t>(ranks[i])] = true;
    }
    return MPI_SUCCESS;
}

} // namespace

ODRC_MPI(Group_size, (MPI_Group group, int* size)) {
    const Group* g = Group::of(group);
    if (!g) return fail_in_world(MPI_ERR_GROUP, "MPI_Group_size");
    *size = g->size();
    return MPI_SUCCESS;
}

ODRC_MPI(Group_rank, (MPI_Group group, int* rank)) {
    const Group* g = Group::of(group);
    if (!g || !Process::is_there()) return fail_in_world(MPI_ERR_GROUP, "MPI_Group_rank");
    *rank = g->rank_of(Process::get().launch().rank());
    return MPI_SUCCESS;
}

ODRC_MPI(Group_translate_ranks,
         (MPI_Group group, int count, const int* ranks, MPI_Group other, int* others)) {
    constexpr const char* kCall = "MPI_Group_translate_ranks";
    const Group* from = Group::of(group);
    const Group* to = Group::of(other);
    if (!from || !to) return fail_in_world(MPI_ERR_GROUP, kCall);
    for (int i = 0; i < count; ++i) {
        if (ranks[i] == MPI_PROC_NULL) {
            others[i] = MPI_PROC_NULL;
            continue;
        }
        if (ranks[i] < 0 || ranks[i] >= from->size()) return fail_in_world(MPI_ERR_RANK, kCall);
        others[i] = to->rank_of(from->world_rank(ranks[i]));
    }
    return MPI_SUCCESS;
}

ODRC_MPI(Group_compare, (MPI_Group one, MPI_Group other, int* result)) {
    const Group* a = Group::of(one);
    const Group* b = Group::of(other);
    if (!a || !b) return fail_in_world(MPI_ERR_GROUP, "MPI_Group_compare");
    if (std::ranges::equal(a->ranks(), b->ranks()))
        *result = MPI_IDENT;
    else if (a->size() == b->size() &&
             std::ranges::all_of(a->ranks(), [&](int rank) { return holds(*b, rank); }))
        *result = MPI_SIMILAR;
    else
        *result = MPI_UNEQUAL;
    return MPI_SUCCESS;
}

ODRC_MPI(Group_union, (MPI_Group one, MPI_Group other, MPI_Group* made)) {
    return combine(one, other, made, "MPI_Group_union",
                   [](const Group& a, const Group& b, std::vector<int>& ranks) {
                       ranks.assign(a.ranks().begin(), a.ranks().end());
                       for (const int rank : b.ranks())
                           if (!holds(a, rank)) ranks.push_back(rank);
                   });
}

ODRC_MPI(Group_intersection, (MPI_Group one, MPI_Group other, MPI_Group* made)) {
    return combine(one, other, made, "MPI_Group_intersection",
                   [](const Group& a, const Group& b, std::vector<int>& ranks) {
                       for (const int rank : a.ranks())
                           if (holds(b, rank)) ranks.push_back(rank);
                   });
}

ODRC_MPI(Group_difference, (MPI_Group one, MPI_Group other, MPI_Group* made)) {
    return combine(one, other, made, "MPI_Group_difference",
                   [](const Group& a, const Group& b, std::vector<int>& ranks) {
                       for (const int rank : a.ranks())
                           if (!holds(b, rank)) ranks.push_back(rank);
                   });
}

ODRC_MPI(Group_incl, (MPI_Group group, int count, const int* ranks, MPI_Group* made)) {
    const Group* g = Group::of(group);
    if (const int error = check_ranks(g, count, ranks))
        return fail_in_world(error, "MPI_Group_incl");
    return include(*g, {ranks, static_cast<size_t>(count)}, made);
}

ODRC_MPI(Group_excl, (MPI_Group group, int count, const int* ranks, MPI_Group* made)) {
    const Group* g = Group::of(group);
    if (const int error = check_ranks(g, count, ranks))
        return fail_in_world(error, "MPI_Group_excl");
    return exclude(*g, {ranks, static_cast<size_t>(count)}, made);
}

ODRC_MPI(Group_range_incl, (MPI_Group group, int count, int ranges[][3], MPI_Group* made)) {
    const Group* g = Group::of(group);
    std::vector<int> ranks;
    if (!g) return fail_in_world(MPI_ERR_GROUP, "MPI_Group_range_incl");
    if (!expand(*g, count, ranges, ranks))
        return fail_in_world(MPI_ERR_RANK, "MPI_Group_range_incl");
    return include(*g, ranks, made);
}

ODRC_MPI(Group_range_excl, (MPI_Group group, int count, int ranges[][3], MPI_Group* made)) {
    const Group* g = Group::of(group);
    std::vector<int> ranks;
    if (!g) return fail_in_world(MPI_ERR_GROUP, "MPI_Group_range_excl");
    if (!expand(*g, count, ranges, ranks))
        return fail_in_world(MPI_ERR_RANK, "MPI_Group_range_excl");
    return exclude(*g, ranks, made);
}

ODRC_MPI(Group_free, (MPI_Group * group)) {
    Group* g = Group::of(*group);
    if (!g) return fail_in_world(MPI_ERR_GROUP, "MPI_Group_free");
    if (*group != MPI_GROUP_EMPTY) g->release();
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}
