// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Names of MPI-1 that MPI-2 replaced, and programs still have (MPI 15 and 16).

#include "api.hpp"

ODRC_MPI(Address, (void* location, MPI_Aint* address)) {
    return PMPI_Get_address(location, address);
}

ODRC_MPI(Type_extent, (MPI_Datatype type, MPI_Aint* extent)) {
    MPI_Aint lb = 0;
    return PMPI_Type_get_extent(type, &lb, extent);
}

ODRC_MPI(Type_lb, (MPI_Datatype type, MPI_Aint* lb)) {
    MPI_Aint extent = 0;
    return PMPI_Type_get_extent(type, lb, &extent);
}

ODRC_MPI(Type_ub, (MPI_Datatype type, MPI_Aint* ub)) {
    MPI_Aint lb = 0, extent = 0;
    const int error = PMPI_Type_get_extent(type, &lb, &extent);
    *ub = lb + extent;
    return error;
}

ODRC_MPI(Type_hvector,
         (int count, int length, MPI_Aint stride, MPI_Datatype type, MPI_Datatype* made)) {
    return PMPI_Type_create_hvector(count, length, stride, type, made);
}

ODRC_MPI(Type_hindexed, (int count, int* lengths, MPI_Aint* displacements, MPI_Datatype type,
                         MPI_Datatype* made)) {
    return PMPI_Type_create_hindexed(count, lengths, displacements, type, made);
}

ODRC_MPI(Type_struct, (int count, int* lengths, MPI_Aint* displacements, MPI_Datatype* types,
                       MPI_Datatype* made)) {
    return PMPI_Type_create_struct(count, lengths, displacements, types, made);
}

ODRC_MPI(Errhandler_create, (MPI_Comm_errhandler_function * function, MPI_Errhandler* handler)) {
    return PMPI_Comm_create_errhandler(function, handler);
}

ODRC_MPI(Errhandler_set, (MPI_Comm comm, MPI_Errhandler handler)) {
    return PMPI_Comm_set_errhandler(comm, handler);
}

ODRC_MPI(Errhandler_get, (MPI_Comm comm, MPI_Errhandler* handler)) {
    return PMPI_Comm_get_errhandler(comm, handler);
}

ODRC_MPI(Keyval_create, (MPI_Comm_copy_attr_function * copy, MPI_Comm_delete_attr_function* remove,
                         int* keyval, void* extra)) {
    return PMPI_Comm_create_keyval(copy, remove, keyval, extra);
}

ODRC_MPI(Keyval_free, (int* keyval)) { return PMPI_Comm_free_keyval(keyval); }

ODRC_MPI(Attr_put, (MPI_Comm comm, int keyval, void* value)) {
    return PMPI_Comm_set_attr(comm, keyval, value);
}

ODRC_MPI(Attr_get, (MPI_Comm comm, int keyval, void* value, int* flag)) {
    return PMPI_Comm_get_attr(comm, keyval, value, flag);
}

ODRC_MPI(Attr_delete, (MPI_Comm comm, int keyval)) { return PMPI_Comm_delete_attr(comm, keyval); }
