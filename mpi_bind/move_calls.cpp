// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI 5.3 to 5.8: the calls of collectives that move data as it is. Arguments that count at the
// root alone are looked at there alone.

#include "api.hpp"
#include "collectives.hpp"

using namespace odrc::mpi;

namespace {

int check_counts(const Communicator& c, const int* counts, const Datatype* type) noexcept {
    for (int i = 0; i < c.size(); ++i)
        if (const int error = check_buffer(counts[i], type)) return error;
    return MPI_SUCCESS;
}

int check_counts(const Communicator& c, const int* counts, const MPI_Datatype* types) noexcept {
    for (int i = 0; i < c.size(); ++i)
        if (const int error = check_buffer(counts[i], Datatype::of(types[i]))) return error;
    return MPI_SUCCESS;
}

Slots slots(const void* base, int count, const Datatype& type) noexcept {
    return {base, static_cast<size_t>(count), type};
}

// One's own part, unless it is in its slot already.
struct Own {
    Own(const void* buffer, int count, const Datatype* type)
        : in_place{buffer == MPI_IN_PLACE}
        , error{in_place ? MPI_SUCCESS : check_buffer(count, type)}
        , data{buffer, static_cast<size_t>(count), type && !in_place ? *type : bytes()} {}
    static const Datatype& bytes() noexcept { return *Datatype::of(MPI_BYTE); }
    const Data* get() const noexcept { return in_place ? nullptr : &data; }
    int check_apart_from(const Data& slot) const noexcept {
        return slot.count > 0 ? check_apart(data.address, slot.address) : MPI_SUCCESS;
    }

    bool in_place;
    int error;
    Data data;
};

} // namespace

ODRC_MPI(Barrier, (MPI_Comm comm)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Barrier");
    return c->outcome(barrier(*c), "MPI_Barrier");
}

ODRC_MPI(Bcast, (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Bcast");
    const Datatype* t = Datatype::of(type);
    int error = check_buffer(count, t);
    if (!error) error = check_root(*c, root);
    if (!error) error = broadcast(data_of(buffer, count, *t), root, *c);
    return c->outcome(error, "MPI_Bcast");
}

ODRC_MPI(Gather, (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                  MPI_Datatype in_type, int root, MPI_Comm comm)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Gather");
    const Own own{out, out_count, Datatype::of(out_type)};
    const Datatype* t = Datatype::of(in_type);
    int error = check_root(*c, root);
    if (!error) error = own.error;
    if (error || c->rank() != root)
        return c->outcome(error ? error : gather(own.get(), nullptr, root, *c), "MPI_Gather");
    error = check_buffer(in_count, t);
    if (!error) {
        const Slots all = slots(in, in_count, *t);
        error = own.check_apart_from(all[root]);
        if (!error) error = gather(own.get(), &all, root, *c);
    }
    return c->outcome(error, "MPI_Gather");
}

ODRC_MPI(Gatherv,
         (const void* out, int out_count, MPI_Datatype out_type, void* in, const int* counts,
          const int* displacements, MPI_Datatype in_type, int root, MPI_Comm comm)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Gatherv");
    const Own own{out, out_count, Datatype::of(out_type)};
    const Datatype* t = Datatype::of(in_type);
    int error = check_root(*c, root);
    if (!error) error = own.error;
    if (error || c->rank() != root)
        return c->outcome(error ? error : gather(own.get(), nullptr, root, *c), "MPI_Gatherv");
    error = check_counts(*c, counts, t);
    if (!error) {
        const Slots all{in, counts, displacements, *t};
        error = own.check_apart_from(all[root]);
        if (!error) error = gather(own.get(), &all, root, *c);
    }
    return c->outcome(error, "MPI_Gatherv");
}

ODRC_MPI(Scatter, (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                   MPI_Datatype in_type, int root, MPI_Comm comm)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Scatter");
    const Own own{in, in_count, Datatype::of(in_type)};
    const Datatype* t = Datatype::of(out_type);
    int error = check_root(*c, root);
    if (!error) error = own.error;
    if (error || c->rank() != root)
        return c->outcome(error ? error : scatter(nullptr, own.get(), root, *c), "MPI_Scatter");
    error = check_buffer(out_count, t);
    if (!error) {
        const Slots all = slots(out, out_count, *t);
        error = own.check_apart_from(all[root]);
        if (!error) error = scatter(&all, own.get(), root, *c);
    }
    return c->outcome(error, "MPI_Scatter");
}

ODRC_MPI(Scatterv,
         (const void* out, const int* counts, const int* displacements, MPI_Datatype out_type,
          void* in, int in_count, MPI_Datatype in_type, int root, MPI_Comm comm)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Scatterv");
    const Own own{in, in_count, Datatype::of(in_type)};
    const Datatype* t = Datatype::of(out_type);
    int error = check_root(*c, root);
    if (!error) error = own.error;
    if (error || c->rank() != root)
        return c->outcome(error ? error : scatter(nullptr, own.get(), root, *c), "MPI_Scatterv");
    error = check_counts(*c, counts, t);
    if (!error) {
        const Slots all{out, counts, displacements, *t};
        error = own.check_apart_from(all[root]);
        if (!error) error = scatter(&all, own.get(), root, *c);
    }
    return c->outcome(error, "MPI_Scatterv");
}

ODRC_MPI(Allgather, (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                     MPI_Datatype in_type, MPI_Comm comm)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Allgather");
    const Own own{out, out_count, Datatype::of(out_type)};
    const Datatype* t = Datatype::of(in_type);
    int error = own.error;
    if (!error) error = check_buffer(in_count, t);
    if (!error) error = own.check_apart_from(slots(in, in_count, *t)[c->rank()]);
    if (!error) error = allgather(own.get(), slots(in, in_count, *t), *c);
    return c->outcome(error, "MPI_Allgather");
}

ODRC_MPI(Allgatherv,
         (const void* out, int out_count, MPI_Datatype out_type, void* in, const int* counts,
          const int* displacements, MPI_Datatype in_type, MPI_Comm comm)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Allgatherv");
    const Own own{out, out_count, Datatype::of(out_type)};
    const Datatype* t = Datatype::of(in_type);
    int error = own.error;
    if (!error) error = check_counts(*c, counts, t);
    if (!error) error = own.check_apart_from(Slots{in, counts, displacements, *t}[c->rank()]);
    if (!error) error = allgather(own.get(), {in, counts, displacements, *t}, *c);
    return c->outcome(error, "MPI_Allgatherv");
}

ODRC_MPI(Alltoall, (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                    MPI_Datatype in_type, MPI_Comm comm)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Alltoall");
    const Own own{out, out_count, Datatype::of(out_type)};
    const Datatype* t = Datatype::of(in_type);
    int error = own.error;
    if (!error) error = check_buffer(in_count, t);
    if (!error && in_count > 0) error = check_apart(out, in);
    if (!error) {
        const Slots from = slots(out, out_count, *own.data.type);
        error = alltoall(own.in_place ? nullptr : &from, slots(in, in_count, *t), *c);
    }
    return c->outcome(error, "MPI_Alltoall");
}

ODRC_MPI(Alltoallv, (const void* out, const int* out_counts, const int* out_displacements,
                     MPI_Datatype out_type, void* in, const int* counts, const int* displacements,
                     MPI_Datatype in_type, MPI_Comm comm)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Alltoallv");
    const Datatype* out_t = Datatype::of(out_type);
    const Datatype* in_t = Datatype::of(in_type);
    const bool in_place = out == MPI_IN_PLACE;
    int error = in_place ? MPI_SUCCESS : check_counts(*c, out_counts, out_t);
    if (!error) error = check_counts(*c, counts, in_t);
    if (!error) error = check_apart(out, in);
    if (!error) {
        const Slots from{out, out_counts, out_displacements, out_t ? *out_t : *in_t};
        error = alltoall(in_place ? nullptr : &from, {in, counts, displacements, *in_t}, *c);
    }
    return c->outcome(error, "MPI_Alltoallv");
}

ODRC_MPI(Alltoallw, (const void* out, const int* out_counts, const int* out_displacements,
                     const MPI_Datatype* out_types, void* in, const int* counts,
                     const int* displacements, const MPI_Datatype* types, MPI_Comm comm)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Alltoallw");
    const bool in_place = out == MPI_IN_PLACE;
    int error = in_place ? MPI_SUCCESS : check_counts(*c, out_counts, out_types);
    if (!error) error = check_counts(*c, counts, types);
    if (!error) error = check_apart(out, in);
    if (!error) {
        const Slots from{out, out_counts, out_displacements, out_types};
        error = alltoall(in_place ? nullptr : &from, {in, counts, displacements, types}, *c);
    }
    return c->outcome(error, "MPI_Alltoallw");
}
