// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI 5.9 to 5.11: operations, and the calls of collectives with them.

#include "api.hpp"
#include "collectives.hpp"

#include <numeric>

using namespace odrc::mpi;

namespace {

int check_operation(int count, const Datatype* type, const Op* op) noexcept {
    if (const int error = check_buffer(count, type)) return error;
    return op && op->takes(*type) ? MPI_SUCCESS : MPI_ERR_OP;
}

bool always(const Communicator&) noexcept { return true; }

// What calls have in common whose result is where `writes` says so.
template <class F, class Writes>
int reduce_by(F&& f, Writes&& writes, const void* in, void* result, int count, MPI_Datatype type,
              MPI_Op op, MPI_Comm comm, const char* call) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, call);
    const Datatype* t = Datatype::of(type);
    const Op* o = Op::of(op);
    int error = check_operation(count, t, o);
    if (!error && count > 0 && writes(*c)) error = check_apart(in, result);
    if (!error && count > 0) error = f(in, data_of(result, count, *t), *o, *c);
    return c->outcome(error, call);
}

int reduce_and_scatter(const void* in, void* result, const int* counts, const Datatype& type,
                       const Op& op, Communicator& c) {
    std::vector<int> places(static_cast<size_t>(c.size()));
    std::exclusive_scan(counts, counts + c.size(), places.begin(), 0);
    const Slots out{in == MPI_IN_PLACE ? result : in, counts, places.data(), type};
    return reduce_parts(out, data_of(result, counts[c.rank()], type), op, c);
}

int reduce_scatter_call(const void* in, void* result, const int* counts, MPI_Datatype type,
                        MPI_Op op, Communicator& c, const char* call) {
    const Datatype* t = Datatype::of(type);
    const Op* o = Op::of(op);
    int error = MPI_SUCCESS;
    for (int i = 0; i < c.size() && !error; ++i) error = check_operation(counts[i], t, o);
    if (!error) error = check_apart(in, result);
    if (!error) error = reduce_and_scatter(in, result, counts, *t, *o, c);
    return c.outcome(error, call);
}

} // namespace

ODRC_MPI(Reduce, (const void* in, void* result, int count, MPI_Datatype type, MPI_Op op, int root,
                  MPI_Comm comm)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Reduce");
    if (const int error = check_root(*c, root)) return c->outcome(error, "MPI_Reduce");
    return reduce_by([root](const void* from, const Data& data, const Op& o,
                            Communicator& all) { return reduce(from, data, o, root, all); },
                     [root](const Communicator& all) { return all.rank() == root; }, in, result,
                     count, type, op, comm, "MPI_Reduce");
}

ODRC_MPI(Allreduce,
         (const void* in, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)) {
    return reduce_by(allreduce, always, in, result, count, type, op, comm, "MPI_Allreduce");
}

ODRC_MPI(Scan,
         (const void* in, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)) {
    return reduce_by(scan, always, in, result, count, type, op, comm, "MPI_Scan");
}

ODRC_MPI(Exscan,
         (const void* in, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)) {
    return reduce_by(exclusive_scan, always, in, result, count, type, op, comm, "MPI_Exscan");
}

ODRC_MPI(Reduce_scatter, (const void* in, void* result, const int* counts, MPI_Datatype type,
                          MPI_Op op, MPI_Comm comm)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Reduce_scatter");
    return reduce_scatter_call(in, result, counts, type, op, *c, "MPI_Reduce_scatter");
}

ODRC_MPI(Reduce_scatter_block,
         (const void* in, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Reduce_scatter_block");
    const std::vector<int> counts(static_cast<size_t>(c->size()), count);
    return reduce_scatter_call(in, result, counts.data(), type, op, *c, "MPI_Reduce_scatter_block");
}

ODRC_MPI(Reduce_local, (const void* in, void* inout, int count, MPI_Datatype type, MPI_Op op)) {
    Datatype* t = Datatype::of(type);
    const Op* o = Op::of(op);
    const int error = check_operation(count, t, o);
    if (!error) o->apply(in, inout, static_cast<size_t>(count), *t);
    return outcome_in_world(error, "MPI_Reduce_local");
}

ODRC_MPI(Op_create, (MPI_User_function * function, int commutes, MPI_Op* made)) {
    *made = (new Op{function, commutes != 0})->handle();
    return MPI_SUCCESS;
}

ODRC_MPI(Op_free, (MPI_Op * op)) {
    Op* o = Op::of(*op);
    if (!o || o->is_predefined()) return fail_in_world(MPI_ERR_OP, "MPI_Op_free");
    o->release();
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

ODRC_MPI(Op_commutative, (MPI_Op op, int* commutes)) {
    const Op* o = Op::of(op);
    if (!o) return fail_in_world(MPI_ERR_OP, "MPI_Op_commutative");
    *commutes = o->commutes();
    return MPI_SUCCESS;
}
