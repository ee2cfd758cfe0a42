// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI 6.7: what a program keeps with communicators, and what it can learn from them (8.1.2).

#include "api.hpp"
#include "keyvals.hpp"

using namespace odrc::mpi;

namespace {

// Where the value of an attribute lies that is known from the beginning. Null: it has none.
int* find_predefined(int keyval) noexcept {
    static int tag_ub = kMostTag, host = MPI_PROC_NULL, io = MPI_ANY_SOURCE, is_global = 0;
    static int last_code = MPI_ERR_LASTCODE, universe = 0, program = 0;
    switch (keyval) {
    case MPI_TAG_UB:
        return &tag_ub;
    case MPI_HOST:
        return &host;
    case MPI_IO:
        return &io;
    case MPI_WTIME_IS_GLOBAL:
        return &is_global;
    case MPI_UNIVERSE_SIZE:
        universe = Process::get().launch().universe_size();
        return &universe;
    case MPI_APPNUM:
        program = Process::get().launch().program();
        return &program;
    case MPI_LASTUSEDCODE:
        return &last_code;
    default:
        return nullptr;
    }
}

} // namespace

extern "C" int odrc_mpi_comm_dup_fn(MPI_Comm, int, void*, void* value, void* copy, int* flag) {
    *static_cast<void**>(copy) = value;
    *flag = 1;
    return MPI_SUCCESS;
}

ODRC_MPI(Comm_create_keyval, (MPI_Comm_copy_attr_function * copy,
                              MPI_Comm_delete_attr_function* remove, int* keyval, void* extra)) {
    *keyval = make_keyval({.copy = copy, .remove = remove, .extra = extra});
    return MPI_SUCCESS;
}

ODRC_MPI(Comm_free_keyval, (int* keyval)) {
    if (!keyval_of(*keyval)) return fail_in_world(MPI_ERR_KEYVAL, "MPI_Comm_free_keyval");
    free_keyval(*keyval);
    *keyval = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

ODRC_MPI(Comm_set_attr, (MPI_Comm comm, int keyval, void* value)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Comm_set_attr");
    Keyval* kind = keyval_of(keyval);
    if (!kind) return c->outcome(MPI_ERR_KEYVAL, "MPI_Comm_set_attr");
    Attribute* old = c->find_attribute(keyval);
    if (!old) {
        ++kind->users;
        c->attributes.push_back({keyval, value});
        return MPI_SUCCESS;
    }
    if (kind->remove)
        if (const int error = kind->remove(comm, keyval, old->value, kind->extra))
            return c->outcome(error, "MPI_Comm_set_attr");
    old->value = value;
    return MPI_SUCCESS;
}

ODRC_MPI(Comm_get_attr, (MPI_Comm comm, int keyval, void* value, int* flag)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Comm_get_attr");
    void*& to = *static_cast<void**>(value);
    *flag = 1;
    if (int* known = find_predefined(keyval)) {
        to = known;
        return MPI_SUCCESS;
    }
    const Attribute* found = c->find_attribute(keyval);
    *flag = found != nullptr;
    if (found) to = found->value;
    return MPI_SUCCESS;
}

ODRC_MPI(Comm_delete_attr, (MPI_Comm comm, int keyval)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Comm_delete_attr");
    Attribute* found = c->find_attribute(keyval);
    const Keyval* kind = keyval_of(keyval);
    if (!kind || !found) return c->outcome(MPI_ERR_KEYVAL, "MPI_Comm_delete_attr");
    if (kind->remove)
        if (const int error = kind->remove(comm, keyval, found->value, kind->extra))
            return c->outcome(error, "MPI_Comm_delete_attr");
    c->attributes.erase(c->attributes.begin() + (found - c->attributes.data()));
    drop_keyval(keyval);
    return MPI_SUCCESS;
}
