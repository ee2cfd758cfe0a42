// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI 3.8: looking for messages before they are received, and receiving those that were found.

#include "api.hpp"
#include "request.hpp"

using namespace odrc::mpi;

namespace {

// Looks once, or until there is one. Gives the request that has found it, or null.
Request* look(Communicator& c, int source, int tag, bool claims, bool waits) {
    const Data nothing{nullptr, 0, *Datatype::of(MPI_BYTE)};
    Request& request = Request::make(true, nothing, {&c, source, tag}, SendMode::standard);
    for (;;) {
        if (request.look(claims)) return &request;
        if (!waits) break;
        Process::get().advance();
    }
    Process::get().probed_in_vain();
    request.leave();
    return nullptr;
}

void tell_of_nobody(MPI_Status* status) noexcept {
    if (status == MPI_STATUS_IGNORE) return;
    const int error = status->MPI_ERROR;
    *status = empty_status();
    status->MPI_SOURCE = MPI_PROC_NULL;
    status->MPI_ERROR = error;
}

// What looking comes to: flag, and in found the request that has found a message; null where there
// is none, and of nobody, of whom there always is one.
int search(int source, int tag, MPI_Comm comm, bool claims, bool waits, int* flag, Request*& found,
           MPI_Status* status, const char* call) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, call);
    if (const int error = check_source(*c, source, tag)) return c->outcome(error, call);
    found = nullptr;
    *flag = 1;
    if (source == MPI_PROC_NULL) {
        tell_of_nobody(status);
        return MPI_SUCCESS;
    }
    found = look(*c, source, tag, claims, waits);
    *flag = found != nullptr;
    return MPI_SUCCESS;
}

int probe(int source, int tag, MPI_Comm comm, bool waits, int* flag, MPI_Status* status,
          const char* call) {
    Request* found = nullptr;
    const int error = search(source, tag, comm, false, waits, flag, found, status, call);
    if (found) found->finish(status);
    return error;
}

int claim(int source, int tag, MPI_Comm comm, bool waits, int* flag, MPI_Message* message,
          MPI_Status* status, const char* call) {
    Request* found = nullptr;
    if (const int error = search(source, tag, comm, true, waits, flag, found, status, call))
        return error;
    *message = source == MPI_PROC_NULL ? MPI_MESSAGE_NO_PROC : reinterpret_cast<MPI_Message>(found);
    if (found) found->tell(status);
    return MPI_SUCCESS;
}

// What was claimed, as a receive under way. Null: there was nothing to claim, of nobody.
int receive_claimed(void* buffer, int count, MPI_Datatype type, MPI_Message* message,
                    Request*& request, const char* call) {
    const Datatype* t = Datatype::of(type);
    if (const int error = check_buffer(count, t)) return fail_in_world(error, call);
    if (*message == MPI_MESSAGE_NULL) return fail_in_world(MPI_ERR_REQUEST, call);
    request = nullptr;
    if (*message != MPI_MESSAGE_NO_PROC) {
        request = reinterpret_cast<Request*>(*message);
        request->start_claimed(data_of(buffer, count, *t));
    }
    *message = MPI_MESSAGE_NULL;
    return MPI_SUCCESS;
}

} // namespace

ODRC_MPI(Probe, (int source, int tag, MPI_Comm comm, MPI_Status* status)) {
    int flag = 0;
    return probe(source, tag, comm, true, &flag, status, "MPI_Probe");
}

ODRC_MPI(Iprobe, (int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status)) {
    return probe(source, tag, comm, false, flag, status, "MPI_Iprobe");
}

ODRC_MPI(Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status)) {
    int flag = 0;
    return claim(source, tag, comm, true, &flag, message, status, "MPI_Mprobe");
}

ODRC_MPI(Improbe, (int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                   MPI_Status* status)) {
    return claim(source, tag, comm, false, flag, message, status, "MPI_Improbe");
}

ODRC_MPI(Mrecv,
         (void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status)) {
    Request* request = nullptr;
    if (const int error = receive_claimed(buffer, count, type, message, request, "MPI_Mrecv"))
        return error;
    if (!request) {
        tell_of_nobody(status);
        return MPI_SUCCESS;
    }
    const Ref<Communicator> c{request->communicator()};
    return c->outcome(wait(*request, status), "MPI_Mrecv");
}

ODRC_MPI(Imrecv,
         (void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* handle)) {
    Request* request = nullptr;
    if (const int error = receive_claimed(buffer, count, type, message, request, "MPI_Imrecv"))
        return error;
    if (!request) {
        const Data nothing{nullptr, 0, *Datatype::of(MPI_BYTE)};
        request = &begin_receive(nothing, {&Process::get().world(), MPI_PROC_NULL, MPI_ANY_TAG});
    }
    *handle = request->handle();
    return MPI_SUCCESS;
}
