// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "error_handler.hpp"

#include "process.hpp"

namespace odrc::mpi {

ErrorHandler& ErrorHandler::fatal() noexcept {
    static ErrorHandler handler{nullptr};
    return handler;
}

ErrorHandler& ErrorHandler::gives_back() noexcept {
    static ErrorHandler handler{nullptr};
    return handler;
}

Ref<ErrorHandler> ErrorHandler::of(MPI_Errhandler handle) noexcept {
    if (handle == MPI_ERRORS_ARE_FATAL) return Ref{fatal()};
    if (handle == MPI_ERRORS_RETURN) return Ref{gives_back()};
    if (number_of(handle) < kFirstAddress) return {};
    return Ref{*reinterpret_cast<ErrorHandler*>(handle)};
}

MPI_Errhandler ErrorHandler::handle() noexcept {
    if (this == &fatal()) return MPI_ERRORS_ARE_FATAL;
    if (this == &gives_back()) return MPI_ERRORS_RETURN;
    use();
    return reinterpret_cast<MPI_Errhandler>(this);
}

const char* text_of(int error) noexcept {
    switch (error) {
    case MPI_SUCCESS:
        return "no error";
    case MPI_ERR_BUFFER:
        return "a buffer that is missing or too small";
    case MPI_ERR_COUNT:
        return "a negative count";
    case MPI_ERR_TYPE:
        return "no such datatype, or one that is not committed";
    case MPI_ERR_TAG:
        return "a tag that cannot be";
    case MPI_ERR_COMM:
        return "no such communicator";
    case MPI_ERR_RANK:
        return "no such rank";
    case MPI_ERR_REQUEST:
        return "no such request";
    case MPI_ERR_ROOT:
        return "a root that cannot be";
    case MPI_ERR_GROUP:
        return "no such group";
    case MPI_ERR_OP:
        return "no such operation, or not for this datatype";
    case MPI_ERR_TOPOLOGY:
        return "no such topology";
    case MPI_ERR_DIMS:
        return "dimensions that cannot be";
    case MPI_ERR_ARG:
        return "an argument that cannot be";
    case MPI_ERR_UNKNOWN:
        return "unknown";
    case MPI_ERR_TRUNCATE:
        return "a message is longer than its receive";
    case MPI_ERR_OTHER:
        return "a message is lost, or something else went wrong";
    case MPI_ERR_INTERN:
        return "an error of the library's own";
    case MPI_ERR_PENDING:
        return "not over yet";
    case MPI_ERR_IN_STATUS:
        return "see the statuses";
    case MPI_ERR_KEYVAL:
        return "no such keyval";
    case MPI_ERR_INFO:
        return "no such info object";
    case MPI_ERR_INFO_KEY:
        return "a key that is missing, empty or too long";
    case MPI_ERR_INFO_VALUE:
        return "a value that is missing or too long";
    case MPI_ERR_INFO_NOKEY:
        return "no such key";
    case MPI_ERR_NO_MEM:
        return "memory is out";
    case MPI_ERR_UNSUPPORTED_OPERATION:
        return "this library cannot do that";
    default:
        return "no such error";
    }
}

int fail_in_world(int error, const char* call) noexcept {
    if (Process::is_there()) return Process::get().world().outcome(error, call);
    fatal("{}: {}", call, Process::is_over() ? "after MPI_Finalize" : "before MPI_Init");
}

} // namespace odrc::mpi
