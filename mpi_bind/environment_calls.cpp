// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI 8: the beginning and the end, and what there is.

#include "api.hpp"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace odrc::mpi;

namespace odrc::mpi {

int put_text(std::string_view text, char* to, int most) noexcept {
    const size_t length = std::min(text.size(), static_cast<size_t>(most) - 1);
    std::memcpy(to, text.data(), length);
    to[length] = 0;
    return static_cast<int>(length);
}

} // namespace odrc::mpi

namespace {

int thread_level = MPI_THREAD_SINGLE;

int begin() noexcept {
    if (Process::is_there() || Process::is_over()) fatal("MPI_Init was called before");
    try {
        Process::begin();
    } catch (const std::exception& error) {
        fatal("MPI_Init: {}", error.what());
    }
    return MPI_SUCCESS;
}

} // namespace

ODRC_MPI(Init, (int*, char***)) { return begin(); }

// The calls of one thread at a time may come from any.
ODRC_MPI(Init_thread, (int*, char***, int required, int* provided)) {
    thread_level = std::min<int>(required, MPI_THREAD_SERIALIZED);
    *provided = thread_level;
    return begin();
}

ODRC_MPI(Query_thread, (int* provided)) {
    *provided = thread_level;
    return MPI_SUCCESS;
}

ODRC_MPI(Is_thread_main, (int* flag)) {
    *flag = getpid() == gettid();
    return MPI_SUCCESS;
}

ODRC_MPI(Initialized, (int* flag)) {
    *flag = Process::is_there() || Process::is_over();
    return MPI_SUCCESS;
}

ODRC_MPI(Finalize, (void)) {
    if (!Process::is_there()) return fail_in_world(MPI_ERR_OTHER, "MPI_Finalize");
    Process::end();
    return MPI_SUCCESS;
}

ODRC_MPI(Finalized, (int* flag)) {
    *flag = Process::is_over();
    return MPI_SUCCESS;
}

ODRC_MPI(Abort, (MPI_Comm, int code)) { end_job(code, "MPI_Abort was called"); }

ODRC_MPI_AS(double, Wtime, (void)) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

ODRC_MPI_AS(double, Wtick, (void)) { return 1e-9; }

ODRC_MPI(Get_version, (int* version, int* subversion)) {
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}

ODRC_MPI(Get_library_version, (char* version, int* length)) {
    const std::string over = Process::is_there() ? " over " + Process::get().fabric().name() : "";
    *length = put_text("odrc_mpi " PACKAGE_VERSION + over, version, MPI_MAX_LIBRARY_VERSION_STRING);
    return MPI_SUCCESS;
}

ODRC_MPI(Get_processor_name, (char* name, int* length)) {
    char host[MPI_MAX_PROCESSOR_NAME];
    if (gethostname(host, sizeof host)) std::strcpy(host, "unknown");
    *length = put_text(host, name, MPI_MAX_PROCESSOR_NAME);
    return MPI_SUCCESS;
}

ODRC_MPI(Error_string, (int code, char* text, int* length)) {
    *length = put_text(text_of(code), text, MPI_MAX_ERROR_STRING);
    return MPI_SUCCESS;
}

// Codes are classes.
ODRC_MPI(Error_class, (int code, int* error_class)) {
    *error_class = code;
    return MPI_SUCCESS;
}

ODRC_MPI(Alloc_mem, (MPI_Aint size, MPI_Info, void* base)) {
    if (size < 0) return fail_in_world(MPI_ERR_ARG, "MPI_Alloc_mem");
    void* memory = std::malloc(std::max<size_t>(static_cast<size_t>(size), 1));
    if (!memory) return fail_in_world(MPI_ERR_NO_MEM, "MPI_Alloc_mem");
    *static_cast<void**>(base) = memory;
    return MPI_SUCCESS;
}

ODRC_MPI(Free_mem, (void* base)) {
    std::free(base);
    return MPI_SUCCESS;
}

ODRC_MPI(Pcontrol, (const int, ...)) { return MPI_SUCCESS; }

// ---- error handlers ----------------------------------------------------------------------------

ODRC_MPI(Comm_create_errhandler, (MPI_Comm_errhandler_function * function, MPI_Errhandler* made)) {
    *made = reinterpret_cast<MPI_Errhandler>(new ErrorHandler{function});
    return MPI_SUCCESS;
}

ODRC_MPI(Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler handler)) {
    constexpr const char* kCall = "MPI_Comm_set_errhandler";
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, kCall);
    Ref<ErrorHandler> one = ErrorHandler::of(handler);
    if (!one) return c->outcome(MPI_ERR_ARG, kCall);
    c->handler = std::move(one);
    return MPI_SUCCESS;
}

ODRC_MPI(Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler* handler)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Comm_get_errhandler");
    *handler = c->handler->handle();
    return MPI_SUCCESS;
}

ODRC_MPI(Comm_call_errhandler, (MPI_Comm comm, int code)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Comm_call_errhandler");
    c->outcome(code, "MPI_Comm_call_errhandler");
    return MPI_SUCCESS;
}

ODRC_MPI(Errhandler_free, (MPI_Errhandler * handler)) {
    const Ref<ErrorHandler> one = ErrorHandler::of(*handler);
    if (!one) return fail_in_world(MPI_ERR_ARG, "MPI_Errhandler_free");
    if (number_of(*handler) >= kFirstAddress) one->release();
    *handler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}
