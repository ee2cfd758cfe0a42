// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI 4.1.5 and 4.2: addresses, and packing by hand. What is packed is the data and nothing else.

#include "api.hpp"

#include <climits>

using namespace odrc::mpi;

namespace {

// A call's buffer of packed data, and what of it comes next.
int check_packed(Communicator* c, int count, const Datatype* t, int size,
                 const int* position) noexcept {
    if (!c) return MPI_ERR_COMM;
    if (const int error = check_buffer(count, t)) return error;
    if (*position < 0 || size < *position) return MPI_ERR_ARG;
    const auto bytes = static_cast<size_t>(count) * t->size();
    return bytes <= static_cast<size_t>(size - *position) ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

} // namespace

ODRC_MPI(Pack, (const void* buffer, int count, MPI_Datatype type, void* out, int size,
                int* position, MPI_Comm comm)) {
    const Datatype* t = Datatype::of(type);
    if (const int error = check_packed(Communicator::of(comm), count, t, size, position))
        return fail_in_world(error, "MPI_Pack");
    const Data data = data_of(buffer, count, *t);
    data.pack(0, {static_cast<std::byte*>(out) + *position, data.bytes()});
    *position += static_cast<int>(data.bytes());
    return MPI_SUCCESS;
}

ODRC_MPI(Unpack, (const void* in, int size, int* position, void* buffer, int count,
                  MPI_Datatype type, MPI_Comm comm)) {
    const Datatype* t = Datatype::of(type);
    if (const int error = check_packed(Communicator::of(comm), count, t, size, position))
        return fail_in_world(error, "MPI_Unpack");
    const Data data = data_of(buffer, count, *t);
    data.unpack(0, {static_cast<const std::byte*>(in) + *position, data.bytes()});
    *position += static_cast<int>(data.bytes());
    return MPI_SUCCESS;
}

ODRC_MPI(Pack_size, (int count, MPI_Datatype type, MPI_Comm, int* size)) {
    const Datatype* t = Datatype::of(type);
    if (const int error = check_buffer(count, t)) return fail_in_world(error, "MPI_Pack_size");
    const size_t bytes = static_cast<size_t>(count) * t->size();
    *size = bytes > INT_MAX ? MPI_UNDEFINED : static_cast<int>(bytes);
    return MPI_SUCCESS;
}

ODRC_MPI(Get_address, (const void* location, MPI_Aint* address)) {
    *address = reinterpret_cast<MPI_Aint>(location);
    return MPI_SUCCESS;
}

ODRC_MPI_AS(MPI_Aint, Aint_add, (MPI_Aint base, MPI_Aint displacement)) {
    return base + displacement;
}

ODRC_MPI_AS(MPI_Aint, Aint_diff, (MPI_Aint one, MPI_Aint other)) { return one - other; }
