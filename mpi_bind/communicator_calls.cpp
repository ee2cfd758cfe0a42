// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI 6.4 and 6.8: communicators and their names.

#include "api.hpp"
#include "collectives.hpp"
#include "info.hpp"

#include <array>

using namespace odrc::mpi;

namespace {

int give(int error, Communicator* made, Communicator& parent, MPI_Comm* to, const char* call) {
    if (error && made) { // without all of the parent's attributes
        made->delete_attributes();
        made->release();
        made = nullptr;
    }
    *to = made ? made->handle() : MPI_COMM_NULL;
    return parent.outcome(error, call);
}

// Those of the same color, by their keys and, where these are the same, their ranks.
int split(Communicator& parent, int color, int key, Communicator*& made) {
    using Wish = std::array<int, 2>; // color and key
    made = nullptr;
    const Wish wish{color, key};
    std::vector<Wish> wishes(static_cast<size_t>(parent.size()));
    const Datatype& number = *Datatype::of(MPI_INT);
    const Data mine{wish.data(), 2, number};
    if (const int error = allgather(&mine, {wishes.data(), 2, number}, parent)) return error;
    std::vector<int> ranks;
    for (int rank = 0; rank < parent.size(); ++rank)
        if (wishes[static_cast<size_t>(rank)][0] == color) ranks.push_back(rank);
    std::ranges::stable_sort(ranks, {},
                             [&](int rank) { return wishes[static_cast<size_t>(rank)][1]; });
    for (int& rank : ranks) rank = parent.group().world_rank(rank);
    if (color == MPI_UNDEFINED) return make_communicator(parent, std::nullopt, made);
    return make_communicator(parent, std::move(ranks), made);
}

// All that its parent has, and other hints, where there are some.
int duplicate(Communicator& parent, const Info* info, MPI_Comm* copy, const char* call) {
    Communicator* made = nullptr;
    const auto ranks = parent.group().ranks();
    int error = make_communicator(parent, std::vector<int>{ranks.begin(), ranks.end()}, made);
    if (made) {
        made->grid = parent.grid;
        made->hints = parent.hints;
        if (info) made->hints.take(*info);
        parent.copy_attributes_to(*made, error);
    }
    return give(error, made, parent, copy, call);
}

} // namespace

ODRC_MPI(Comm_size, (MPI_Comm comm, int* size)) {
    const Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Comm_size");
    *size = c->size();
    return MPI_SUCCESS;
}

ODRC_MPI(Comm_rank, (MPI_Comm comm, int* rank)) {
    const Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Comm_rank");
    *rank = c->rank();
    return MPI_SUCCESS;
}

ODRC_MPI(Comm_group, (MPI_Comm comm, MPI_Group* group)) {
    const Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Comm_group");
    *group = c->group().handle();
    return MPI_SUCCESS;
}

ODRC_MPI(Comm_compare, (MPI_Comm one, MPI_Comm other, int* result)) {
    const Communicator* a = Communicator::of(one);
    const Communicator* b = Communicator::of(other);
    if (!a || !b) return fail_in_world(MPI_ERR_COMM, "MPI_Comm_compare");
    if (a == b) {
        *result = MPI_IDENT;
        return MPI_SUCCESS;
    }
    const Ref<Group> of_a{a->group()}, of_b{b->group()};
    const MPI_Group first = of_a->handle(), second = of_b->handle();
    PMPI_Group_compare(first, second, result);
    if (*result == MPI_IDENT) *result = MPI_CONGRUENT;
    for (MPI_Group group : {first, second}) PMPI_Group_free(&group);
    return MPI_SUCCESS;
}

// There are none of two groups here.
ODRC_MPI(Comm_test_inter, (MPI_Comm comm, int* flag)) {
    if (!Communicator::of(comm)) return fail_in_world(MPI_ERR_COMM, "MPI_Comm_test_inter");
    *flag = 0;
    return MPI_SUCCESS;
}

ODRC_MPI(Comm_dup, (MPI_Comm comm, MPI_Comm* copy)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Comm_dup");
    return duplicate(*c, nullptr, copy, "MPI_Comm_dup");
}

ODRC_MPI(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* copy)) {
    constexpr const char* kCall = "MPI_Comm_dup_with_info";
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, kCall);
    const Info* i = Info::of(info);
    if (!i && info != MPI_INFO_NULL) return c->outcome(MPI_ERR_INFO, kCall);
    return duplicate(*c, i, copy, kCall);
}

ODRC_MPI(Comm_set_info, (MPI_Comm comm, MPI_Info info)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Comm_set_info");
    const Info* i = Info::of(info);
    if (!i) return c->outcome(MPI_ERR_INFO, "MPI_Comm_set_info");
    c->hints.take(*i);
    return MPI_SUCCESS;
}

ODRC_MPI(Comm_get_info, (MPI_Comm comm, MPI_Info* used)) {
    const Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Comm_get_info");
    auto* info = new Info;
    c->hints.tell(*info);
    *used = info->handle();
    return MPI_SUCCESS;
}

ODRC_MPI(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* created)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Comm_create");
    const Group* g = Group::of(group);
    if (!g) return c->outcome(MPI_ERR_GROUP, "MPI_Comm_create");
    const auto is_outside = [&](int rank) { return c->group().rank_of(rank) == MPI_UNDEFINED; };
    if (std::ranges::any_of(g->ranks(), is_outside))
        return c->outcome(MPI_ERR_GROUP, "MPI_Comm_create");
    std::optional<std::vector<int>> ranks;
    if (g->rank_of(Process::get().launch().rank()) != MPI_UNDEFINED)
        ranks.emplace(g->ranks().begin(), g->ranks().end());
    Communicator* made = nullptr;
    const int error = make_communicator(*c, std::move(ranks), made);
    return give(error, made, *c, created, "MPI_Comm_create");
}

ODRC_MPI(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* part)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Comm_split");
    if (color < 0 && color != MPI_UNDEFINED) return c->outcome(MPI_ERR_ARG, "MPI_Comm_split");
    Communicator* made = nullptr;
    const int error = split(*c, color, key, made);
    return give(error, made, *c, part, "MPI_Comm_split");
}

// Those of a host: the first of them stands for it.
ODRC_MPI(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info, MPI_Comm* part)) {
    constexpr const char* kCall = "MPI_Comm_split_type";
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, kCall);
    if (type != MPI_COMM_TYPE_SHARED && type != MPI_UNDEFINED)
        return c->outcome(MPI_ERR_ARG, kCall);
    Communicator* made = nullptr;
    const int host = Process::get().launch().neighbours().front();
    const int error = split(*c, type == MPI_UNDEFINED ? MPI_UNDEFINED : host, key, made);
    return give(error, made, *c, part, kCall);
}

ODRC_MPI(Comm_free, (MPI_Comm * comm)) {
    Communicator* c = Communicator::of(*comm);
    if (!c || c->is_predefined()) return fail_in_world(MPI_ERR_COMM, "MPI_Comm_free");
    if (const int error = c->delete_attributes()) return c->outcome(error, "MPI_Comm_free");
    // Others may still need us to pass on what was broadcast, till they are here, too.
    const int error = c->broadcasts ? barrier(*c) : MPI_SUCCESS;
    c->release();
    *comm = MPI_COMM_NULL;
    return outcome_in_world(error, "MPI_Comm_free");
}

ODRC_MPI(Comm_set_name, (MPI_Comm comm, const char* name)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Comm_set_name");
    c->name = name;
    return MPI_SUCCESS;
}

ODRC_MPI(Comm_get_name, (MPI_Comm comm, char* name, int* length)) {
    const Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Comm_get_name");
    *length = put_text(c->name, name, MPI_MAX_OBJECT_NAME);
    return MPI_SUCCESS;
}
