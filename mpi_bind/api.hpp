// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "datatype.hpp"
#include "op.hpp"
#include "process.hpp"
#include "tag.hpp"

// Defines a function of mpi.h by its profiling name; the other one is a weak alias, which a tool
// may take (MPI 14.2).
#define ODRC_MPI_AS(type, name, arguments)                                                         \
    extern "C" [[gnu::weak, gnu::alias("PMPI_" #name)]] type MPI_##name arguments;                 \
    extern "C" type PMPI_##name arguments
#define ODRC_MPI(name, arguments) ODRC_MPI_AS(int, name, arguments)

// What calls have to be sure of before they do anything. Each gives an error class.
namespace odrc::mpi {

inline int check_buffer(int count, const Datatype* type) noexcept {
    if (count < 0) return MPI_ERR_COUNT;
    return type && type->is_committed() ? MPI_SUCCESS : MPI_ERR_TYPE;
}

inline int check_send(const Communicator& c, int count, const Datatype* type, int dest,
                      int tag) noexcept {
    if (const int error = check_buffer(count, type)) return error;
    if (tag < 0 || tag > kMostTag) return MPI_ERR_TAG;
    return dest == MPI_PROC_NULL || (dest >= 0 && dest < c.size()) ? MPI_SUCCESS : MPI_ERR_RANK;
}

inline int check_source(const Communicator& c, int source, int tag) noexcept {
    if (tag != MPI_ANY_TAG && (tag < 0 || tag > kMostTag)) return MPI_ERR_TAG;
    return source == MPI_PROC_NULL || source == MPI_ANY_SOURCE || (source >= 0 && source < c.size())
               ? MPI_SUCCESS
               : MPI_ERR_RANK;
}

inline int check_receive(const Communicator& c, int count, const Datatype* type, int source,
                         int tag) noexcept {
    if (const int error = check_buffer(count, type)) return error;
    return check_source(c, source, tag);
}

inline int check_root(const Communicator& c, int root) noexcept {
    return root >= 0 && root < c.size() ? MPI_SUCCESS : MPI_ERR_ROOT;
}

// What a collective reads and what it writes have to be apart (MPI 5.2.1): that they begin at the
// same place is what can be seen.
inline int check_apart(const void* out, const void* in) noexcept {
    return out && out == in ? MPI_ERR_BUFFER : MPI_SUCCESS;
}

inline Data data_of(const void* buffer, int count, const Datatype& type) noexcept {
    return {buffer, static_cast<size_t>(count), type};
}

// Writes a text with its end, as far as it goes. Gives its length without that.
int put_text(std::string_view text, char* to, int most) noexcept;

} // namespace odrc::mpi
