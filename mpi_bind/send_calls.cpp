// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI 3.4, 3.6, 3.7.2, 3.9: sends in all modes.

#include "api.hpp"
#include "bsend_buffer.hpp"
#include "request.hpp"

using namespace odrc::mpi;

namespace {

// What a call's arguments come to, once they are checked: f(data, address) gives an error class.
template <class F>
int checked(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
            const char* call, F&& f) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, call);
    const Datatype* t = Datatype::of(type);
    int error = check_send(*c, count, t, dest, tag);
    if (!error) error = f(data_of(buffer, count, *t), Address{c, dest, tag});
    return c->outcome(error, call);
}

int send_now(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
             SendMode mode, const char* call) {
    return checked(
        buffer, count, type, dest, tag, comm, call, [mode](const Data& data, const Address& to) {
            return mode == SendMode::buffered ? send_buffered(data, to) : send(data, to, mode);
        });
}

int send_later(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
               SendMode mode, MPI_Request* request, const char* call) {
    return checked(
        buffer, count, type, dest, tag, comm, call, [&](const Data& data, const Address& to) {
            const bool buffered = mode == SendMode::buffered;
            const int error = buffered ? send_buffered(data, to) : MPI_SUCCESS;
            if (!error)
                *request = (buffered ? Request::over() : begin_send(data, to, mode)).handle();
            return error;
        });
}

int prepare(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
            SendMode mode, MPI_Request* request, const char* call) {
    return checked(buffer, count, type, dest, tag, comm, call,
                   [&](const Data& data, const Address& to) {
                       Request& made = Request::make(false, data, to, mode);
                       made.set_persistent();
                       *request = made.handle();
                       return MPI_SUCCESS;
                   });
}

} // namespace

#define SENDS(letter, lower, mode)                                                                 \
    ODRC_MPI(letter##send, (const void* buffer, int count, MPI_Datatype type, int dest, int tag,   \
                            MPI_Comm comm)) {                                                      \
        return send_now(buffer, count, type, dest, tag, comm, mode, "MPI_" #letter "send");        \
    }                                                                                              \
    ODRC_MPI(I##lower##send, (const void* buffer, int count, MPI_Datatype type, int dest, int tag, \
                              MPI_Comm comm, MPI_Request* request)) {                              \
        return send_later(buffer, count, type, dest, tag, comm, mode, request,                     \
                          "MPI_I" #lower "send");                                                  \
    }                                                                                              \
    ODRC_MPI(letter##send_init, (const void* buffer, int count, MPI_Datatype type, int dest,       \
                                 int tag, MPI_Comm comm, MPI_Request* request)) {                  \
        return prepare(buffer, count, type, dest, tag, comm, mode, request,                        \
                       "MPI_" #letter "send_init");                                                \
    }

SENDS(S, s, SendMode::synchronous)
SENDS(B, b, SendMode::buffered)
SENDS(R, r, SendMode::standard)
#undef SENDS

ODRC_MPI(Send,
         (const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)) {
    return send_now(buffer, count, type, dest, tag, comm, SendMode::standard, "MPI_Send");
}

ODRC_MPI(Isend, (const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                 MPI_Request* request)) {
    return send_later(buffer, count, type, dest, tag, comm, SendMode::standard, request,
                      "MPI_Isend");
}

ODRC_MPI(Send_init, (const void* buffer, int count, MPI_Datatype type, int dest, int tag,
                     MPI_Comm comm, MPI_Request* request)) {
    return prepare(buffer, count, type, dest, tag, comm, SendMode::standard, request,
                   "MPI_Send_init");
}

ODRC_MPI(Buffer_attach, (void* buffer, int size)) {
    const bool attached = size >= 0 && BsendBuffer::attach(buffer, static_cast<size_t>(size));
    return outcome_in_world(attached ? MPI_SUCCESS : MPI_ERR_BUFFER, "MPI_Buffer_attach");
}

ODRC_MPI(Buffer_detach, (void* buffer, int* size)) {
    size_t bytes = 0;
    *static_cast<void**>(buffer) = BsendBuffer::detach(bytes);
    *size = static_cast<int>(bytes);
    return MPI_SUCCESS;
}
