// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI 3.2.4, 3.7.2, 3.9, 3.10: receives, and sends with them.

#include "api.hpp"
#include "request.hpp"

using namespace odrc::mpi;

ODRC_MPI(Recv, (void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                MPI_Status* status)) {
    constexpr const char* kCall = "MPI_Recv";
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, kCall);
    const Datatype* t = Datatype::of(type);
    if (const int error = check_receive(*c, count, t, source, tag)) return c->outcome(error, kCall);
    return c->outcome(receive(data_of(buffer, count, *t), {c, source, tag}, status), kCall);
}

ODRC_MPI(Irecv, (void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                 MPI_Request* request)) {
    constexpr const char* kCall = "MPI_Irecv";
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, kCall);
    const Datatype* t = Datatype::of(type);
    if (const int error = check_receive(*c, count, t, source, tag)) return c->outcome(error, kCall);
    *request = begin_receive(data_of(buffer, count, *t), {c, source, tag}).handle();
    return MPI_SUCCESS;
}

ODRC_MPI(Recv_init, (void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                     MPI_Request* request)) {
    constexpr const char* kCall = "MPI_Recv_init";
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, kCall);
    const Datatype* t = Datatype::of(type);
    if (const int error = check_receive(*c, count, t, source, tag)) return c->outcome(error, kCall);
    Request& made =
        Request::make(true, data_of(buffer, count, *t), {c, source, tag}, SendMode::standard);
    made.set_persistent();
    *request = made.handle();
    return MPI_SUCCESS;
}

ODRC_MPI(Sendrecv, (const void* out, int out_count, MPI_Datatype out_type, int dest, int out_tag,
                    void* in, int in_count, MPI_Datatype in_type, int source, int in_tag,
                    MPI_Comm comm, MPI_Status* status)) {
    constexpr const char* kCall = "MPI_Sendrecv";
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, kCall);
    const Datatype* out_t = Datatype::of(out_type);
    const Datatype* in_t = Datatype::of(in_type);
    if (const int error = check_send(*c, out_count, out_t, dest, out_tag))
        return c->outcome(error, kCall);
    if (const int error = check_receive(*c, in_count, in_t, source, in_tag))
        return c->outcome(error, kCall);
    return c->outcome(exchange(data_of(out, out_count, *out_t), {c, dest, out_tag},
                               data_of(in, in_count, *in_t), {c, source, in_tag}, status),
                      kCall);
}

ODRC_MPI(Sendrecv_replace, (void* buffer, int count, MPI_Datatype type, int dest, int out_tag,
                            int source, int in_tag, MPI_Comm comm, MPI_Status* status)) {
    constexpr const char* kCall = "MPI_Sendrecv_replace";
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, kCall);
    const Datatype* t = Datatype::of(type);
    if (const int error = check_send(*c, count, t, dest, out_tag)) return c->outcome(error, kCall);
    if (const int error = check_source(*c, source, in_tag)) return c->outcome(error, kCall);
    const Data data = data_of(buffer, count, *t);
    std::vector<std::byte> copy(data.bytes());
    data.pack(0, copy);
    const Data out{copy.data(), copy.size(), *Datatype::of(MPI_BYTE)};
    return c->outcome(exchange(out, {c, dest, out_tag}, data, {c, source, in_tag}, status), kCall);
}
