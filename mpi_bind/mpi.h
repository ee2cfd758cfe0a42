/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 * Copyright (c) 2026 The odrc authors
 *
 * The C bindings of MPI (MPI: A Message-Passing Interface Standard, 3.1), as far as libodrc_mpi has
 * them: odrc_mpi(7) says what is there and what is not. Names, arguments, constants and meanings
 * are the standard's; its section is named above each group. Functions give MPI_SUCCESS or an error
 * class, after the communicator's error handler was called. All have a second name, PMPI_.
 */

#ifndef ODRC_MPI_H
#define ODRC_MPI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPI_VERSION 3
#define MPI_SUBVERSION 1

/* ---- handles (2.5.1): predefined ones are small numbers, all others point to objects ---- */
typedef struct odrc_mpi_comm* MPI_Comm;
typedef struct odrc_mpi_group* MPI_Group;
typedef struct odrc_mpi_datatype* MPI_Datatype;
typedef struct odrc_mpi_op* MPI_Op;
typedef struct odrc_mpi_request* MPI_Request;
typedef struct odrc_mpi_message* MPI_Message;
typedef struct odrc_mpi_errhandler* MPI_Errhandler;
typedef struct odrc_mpi_info* MPI_Info;

typedef ptrdiff_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;
typedef int MPI_Fint;

/* 3.2.5. The bytes that came are not for programs to read (MPI_Get_count). */
typedef struct {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int odrc_cancelled;
    MPI_Count odrc_bytes;
} MPI_Status;

#define ODRC_MPI_HANDLE(type, number) ((type)(uintptr_t)(number))

#define MPI_COMM_NULL ODRC_MPI_HANDLE(MPI_Comm, 0)
#define MPI_COMM_WORLD ODRC_MPI_HANDLE(MPI_Comm, 1)
#define MPI_COMM_SELF ODRC_MPI_HANDLE(MPI_Comm, 2)
#define MPI_GROUP_NULL ODRC_MPI_HANDLE(MPI_Group, 0)
#define MPI_GROUP_EMPTY ODRC_MPI_HANDLE(MPI_Group, 1)
#define MPI_REQUEST_NULL ODRC_MPI_HANDLE(MPI_Request, 0)
#define MPI_MESSAGE_NULL ODRC_MPI_HANDLE(MPI_Message, 0)
#define MPI_MESSAGE_NO_PROC ODRC_MPI_HANDLE(MPI_Message, 1)
#define MPI_ERRHANDLER_NULL ODRC_MPI_HANDLE(MPI_Errhandler, 0)
#define MPI_ERRORS_ARE_FATAL ODRC_MPI_HANDLE(MPI_Errhandler, 1)
#define MPI_ERRORS_RETURN ODRC_MPI_HANDLE(MPI_Errhandler, 2)
#define MPI_INFO_NULL ODRC_MPI_HANDLE(MPI_Info, 0)

/* ---- constants ---- */
#define MPI_ANY_SOURCE (-1)
#define MPI_PROC_NULL (-2)
#define MPI_ROOT (-3)
#define MPI_ANY_TAG (-1)
#define MPI_UNDEFINED (-32766)
#define MPI_KEYVAL_INVALID 0
#define MPI_BSEND_OVERHEAD 64
#define MPI_BOTTOM ((void*)0)
#define MPI_IN_PLACE ((void*)(intptr_t)-1)
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)

enum { MPI_IDENT, MPI_CONGRUENT, MPI_SIMILAR, MPI_UNEQUAL };
enum { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE };
enum { MPI_GRAPH = 1, MPI_CART, MPI_DIST_GRAPH };
enum { MPI_ORDER_C = 56, MPI_ORDER_FORTRAN };
enum { MPI_DISTRIBUTE_BLOCK = 121, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE };
#define MPI_DISTRIBUTE_DFLT_DARG (-49767)
#define MPI_COMM_TYPE_SHARED 1
enum {
    MPI_MAX_PROCESSOR_NAME = 256,
    MPI_MAX_ERROR_STRING = 256,
    MPI_MAX_OBJECT_NAME = 128,
    MPI_MAX_LIBRARY_VERSION_STRING = 256,
    MPI_MAX_INFO_KEY = 256,
    MPI_MAX_INFO_VAL = 1024
};

/* 8.1.2 and 6.7.2: what is known of an environment and a communicator, by MPI_Comm_get_attr. */
enum {
    MPI_TAG_UB = 1,
    MPI_HOST,
    MPI_IO,
    MPI_WTIME_IS_GLOBAL,
    MPI_UNIVERSE_SIZE,
    MPI_APPNUM,
    MPI_LASTUSEDCODE
};

/* 8.4 */
enum {
    MPI_SUCCESS,
    MPI_ERR_BUFFER,
    MPI_ERR_COUNT,
    MPI_ERR_TYPE,
    MPI_ERR_TAG,
    MPI_ERR_COMM,
    MPI_ERR_RANK,
    MPI_ERR_REQUEST,
    MPI_ERR_ROOT,
    MPI_ERR_GROUP,
    MPI_ERR_OP,
    MPI_ERR_TOPOLOGY,
    MPI_ERR_DIMS,
    MPI_ERR_ARG,
    MPI_ERR_UNKNOWN,
    MPI_ERR_TRUNCATE,
    MPI_ERR_OTHER,
    MPI_ERR_INTERN,
    MPI_ERR_PENDING,
    MPI_ERR_IN_STATUS,
    MPI_ERR_KEYVAL,
    MPI_ERR_NO_MEM,
    MPI_ERR_INFO,
    MPI_ERR_INFO_KEY,
    MPI_ERR_INFO_VALUE,
    MPI_ERR_INFO_NOKEY,
    MPI_ERR_UNSUPPORTED_OPERATION,
    MPI_ERR_LASTCODE
};

/* ---- predefined datatypes (3.2.2, Annex A.1) ---- */
#define MPI_DATATYPE_NULL ODRC_MPI_HANDLE(MPI_Datatype, 0)
#define MPI_CHAR ODRC_MPI_HANDLE(MPI_Datatype, 1)
#define MPI_SIGNED_CHAR ODRC_MPI_HANDLE(MPI_Datatype, 2)
#define MPI_UNSIGNED_CHAR ODRC_MPI_HANDLE(MPI_Datatype, 3)
#define MPI_BYTE ODRC_MPI_HANDLE(MPI_Datatype, 4)
#define MPI_PACKED ODRC_MPI_HANDLE(MPI_Datatype, 5)
#define MPI_WCHAR ODRC_MPI_HANDLE(MPI_Datatype, 6)
#define MPI_SHORT ODRC_MPI_HANDLE(MPI_Datatype, 7)
#define MPI_UNSIGNED_SHORT ODRC_MPI_HANDLE(MPI_Datatype, 8)
#define MPI_INT ODRC_MPI_HANDLE(MPI_Datatype, 9)
#define MPI_UNSIGNED ODRC_MPI_HANDLE(MPI_Datatype, 10)
#define MPI_LONG ODRC_MPI_HANDLE(MPI_Datatype, 11)
#define MPI_UNSIGNED_LONG ODRC_MPI_HANDLE(MPI_Datatype, 12)
#define MPI_LONG_LONG_INT ODRC_MPI_HANDLE(MPI_Datatype, 13)
#define MPI_LONG_LONG MPI_LONG_LONG_INT
#define MPI_UNSIGNED_LONG_LONG ODRC_MPI_HANDLE(MPI_Datatype, 14)
#define MPI_FLOAT ODRC_MPI_HANDLE(MPI_Datatype, 15)
#define MPI_DOUBLE ODRC_MPI_HANDLE(MPI_Datatype, 16)
#define MPI_LONG_DOUBLE ODRC_MPI_HANDLE(MPI_Datatype, 17)
#define MPI_C_BOOL ODRC_MPI_HANDLE(MPI_Datatype, 18)
#define MPI_INT8_T ODRC_MPI_HANDLE(MPI_Datatype, 19)
#define MPI_INT16_T ODRC_MPI_HANDLE(MPI_Datatype, 20)
#define MPI_INT32_T ODRC_MPI_HANDLE(MPI_Datatype, 21)
#define MPI_INT64_T ODRC_MPI_HANDLE(MPI_Datatype, 22)
#define MPI_UINT8_T ODRC_MPI_HANDLE(MPI_Datatype, 23)
#define MPI_UINT16_T ODRC_MPI_HANDLE(MPI_Datatype, 24)
#define MPI_UINT32_T ODRC_MPI_HANDLE(MPI_Datatype, 25)
#define MPI_UINT64_T ODRC_MPI_HANDLE(MPI_Datatype, 26)
#define MPI_AINT ODRC_MPI_HANDLE(MPI_Datatype, 27)
#define MPI_COUNT ODRC_MPI_HANDLE(MPI_Datatype, 28)
#define MPI_OFFSET ODRC_MPI_HANDLE(MPI_Datatype, 29)
#define MPI_C_FLOAT_COMPLEX ODRC_MPI_HANDLE(MPI_Datatype, 30)
#define MPI_C_COMPLEX MPI_C_FLOAT_COMPLEX
#define MPI_C_DOUBLE_COMPLEX ODRC_MPI_HANDLE(MPI_Datatype, 31)
#define MPI_C_LONG_DOUBLE_COMPLEX ODRC_MPI_HANDLE(MPI_Datatype, 32)
#define MPI_FLOAT_INT ODRC_MPI_HANDLE(MPI_Datatype, 33)
#define MPI_DOUBLE_INT ODRC_MPI_HANDLE(MPI_Datatype, 34)
#define MPI_LONG_INT ODRC_MPI_HANDLE(MPI_Datatype, 35)
#define MPI_SHORT_INT ODRC_MPI_HANDLE(MPI_Datatype, 36)
#define MPI_2INT ODRC_MPI_HANDLE(MPI_Datatype, 37)
#define MPI_LONG_DOUBLE_INT ODRC_MPI_HANDLE(MPI_Datatype, 38)
#define MPI_CXX_BOOL ODRC_MPI_HANDLE(MPI_Datatype, 39)
#define MPI_CXX_FLOAT_COMPLEX ODRC_MPI_HANDLE(MPI_Datatype, 40)
#define MPI_CXX_DOUBLE_COMPLEX ODRC_MPI_HANDLE(MPI_Datatype, 41)
#define MPI_CXX_LONG_DOUBLE_COMPLEX ODRC_MPI_HANDLE(MPI_Datatype, 42)
/* Those of Fortran, by their size. */
#define MPI_CHARACTER ODRC_MPI_HANDLE(MPI_Datatype, 43)
#define MPI_LOGICAL ODRC_MPI_HANDLE(MPI_Datatype, 44)
#define MPI_INTEGER ODRC_MPI_HANDLE(MPI_Datatype, 45)
#define MPI_REAL ODRC_MPI_HANDLE(MPI_Datatype, 46)
#define MPI_DOUBLE_PRECISION ODRC_MPI_HANDLE(MPI_Datatype, 47)
#define MPI_COMPLEX ODRC_MPI_HANDLE(MPI_Datatype, 48)
#define MPI_DOUBLE_COMPLEX ODRC_MPI_HANDLE(MPI_Datatype, 49)
#define MPI_INTEGER1 ODRC_MPI_HANDLE(MPI_Datatype, 50)
#define MPI_INTEGER2 ODRC_MPI_HANDLE(MPI_Datatype, 51)
#define MPI_INTEGER4 ODRC_MPI_HANDLE(MPI_Datatype, 52)
#define MPI_INTEGER8 ODRC_MPI_HANDLE(MPI_Datatype, 53)
#define MPI_REAL4 ODRC_MPI_HANDLE(MPI_Datatype, 54)
#define MPI_REAL8 ODRC_MPI_HANDLE(MPI_Datatype, 55)
#define MPI_COMPLEX8 MPI_COMPLEX
#define MPI_COMPLEX16 MPI_DOUBLE_COMPLEX
#define MPI_2INTEGER ODRC_MPI_HANDLE(MPI_Datatype, 56)
#define MPI_2REAL ODRC_MPI_HANDLE(MPI_Datatype, 57)
#define MPI_2DOUBLE_PRECISION ODRC_MPI_HANDLE(MPI_Datatype, 58)

/* ---- predefined operations (5.9.2) ---- */
#define MPI_OP_NULL ODRC_MPI_HANDLE(MPI_Op, 0)
#define MPI_MAX ODRC_MPI_HANDLE(MPI_Op, 1)
#define MPI_MIN ODRC_MPI_HANDLE(MPI_Op, 2)
#define MPI_SUM ODRC_MPI_HANDLE(MPI_Op, 3)
#define MPI_PROD ODRC_MPI_HANDLE(MPI_Op, 4)
#define MPI_LAND ODRC_MPI_HANDLE(MPI_Op, 5)
#define MPI_BAND ODRC_MPI_HANDLE(MPI_Op, 6)
#define MPI_LOR ODRC_MPI_HANDLE(MPI_Op, 7)
#define MPI_BOR ODRC_MPI_HANDLE(MPI_Op, 8)
#define MPI_LXOR ODRC_MPI_HANDLE(MPI_Op, 9)
#define MPI_BXOR ODRC_MPI_HANDLE(MPI_Op, 10)
#define MPI_MAXLOC ODRC_MPI_HANDLE(MPI_Op, 11)
#define MPI_MINLOC ODRC_MPI_HANDLE(MPI_Op, 12)

/* ---- functions of the program's ---- */
typedef void MPI_User_function(void* in, void* inout, int* count, MPI_Datatype* type);
typedef int MPI_Comm_copy_attr_function(MPI_Comm, int, void*, void*, void*, int*);
typedef int MPI_Comm_delete_attr_function(MPI_Comm, int, void*, void*);
typedef void MPI_Comm_errhandler_function(MPI_Comm*, int*, ...);
#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function*)0)
#define MPI_COMM_NULL_DELETE_FN ((MPI_Comm_delete_attr_function*)0)
#define MPI_COMM_DUP_FN odrc_mpi_comm_dup_fn
MPI_Comm_copy_attr_function odrc_mpi_comm_dup_fn;

/* Declares a function by both its names (14.2). */
#define ODRC_MPI_FUNCTION(name, arguments)                                                         \
    int MPI_##name arguments;                                                                      \
    int PMPI_##name arguments;

/* ---- the environment (8) ---- */
ODRC_MPI_FUNCTION(Init, (int* argc, char*** argv))
ODRC_MPI_FUNCTION(Init_thread, (int* argc, char*** argv, int required, int* provided))
ODRC_MPI_FUNCTION(Query_thread, (int* provided))
ODRC_MPI_FUNCTION(Is_thread_main, (int* flag))
ODRC_MPI_FUNCTION(Initialized, (int* flag))
ODRC_MPI_FUNCTION(Finalize, (void))
ODRC_MPI_FUNCTION(Finalized, (int* flag))
ODRC_MPI_FUNCTION(Abort, (MPI_Comm comm, int code))
ODRC_MPI_FUNCTION(Get_version, (int* version, int* subversion))
ODRC_MPI_FUNCTION(Get_library_version, (char* version, int* length))
ODRC_MPI_FUNCTION(Get_processor_name, (char* name, int* length))
ODRC_MPI_FUNCTION(Error_string, (int code, char* text, int* length))
ODRC_MPI_FUNCTION(Error_class, (int code, int* error_class))
ODRC_MPI_FUNCTION(Alloc_mem, (MPI_Aint size, MPI_Info info, void* base))
ODRC_MPI_FUNCTION(Free_mem, (void* base))
ODRC_MPI_FUNCTION(Pcontrol, (const int level, ...))
double MPI_Wtime(void);
double PMPI_Wtime(void);
double MPI_Wtick(void);
double PMPI_Wtick(void);

/* ---- error handlers (8.3) ---- */
ODRC_MPI_FUNCTION(Comm_create_errhandler, (MPI_Comm_errhandler_function*, MPI_Errhandler*))
ODRC_MPI_FUNCTION(Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler handler))
ODRC_MPI_FUNCTION(Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler* handler))
ODRC_MPI_FUNCTION(Comm_call_errhandler, (MPI_Comm comm, int code))
ODRC_MPI_FUNCTION(Errhandler_free, (MPI_Errhandler * handler))

/* ---- messages (3) ---- */
ODRC_MPI_FUNCTION(Send, (const void*, int, MPI_Datatype, int dest, int tag, MPI_Comm))
ODRC_MPI_FUNCTION(Ssend, (const void*, int, MPI_Datatype, int dest, int tag, MPI_Comm))
ODRC_MPI_FUNCTION(Bsend, (const void*, int, MPI_Datatype, int dest, int tag, MPI_Comm))
ODRC_MPI_FUNCTION(Rsend, (const void*, int, MPI_Datatype, int dest, int tag, MPI_Comm))
ODRC_MPI_FUNCTION(Isend,
                  (const void*, int, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request*))
ODRC_MPI_FUNCTION(Issend,
                  (const void*, int, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request*))
ODRC_MPI_FUNCTION(Ibsend,
                  (const void*, int, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request*))
ODRC_MPI_FUNCTION(Irsend,
                  (const void*, int, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request*))
ODRC_MPI_FUNCTION(Buffer_attach, (void* buffer, int size))
ODRC_MPI_FUNCTION(Buffer_detach, (void* buffer, int* size))
ODRC_MPI_FUNCTION(Recv, (void*, int, MPI_Datatype, int source, int tag, MPI_Comm, MPI_Status*))
ODRC_MPI_FUNCTION(Irecv, (void*, int, MPI_Datatype, int source, int tag, MPI_Comm, MPI_Request*))
ODRC_MPI_FUNCTION(Sendrecv, (const void*, int, MPI_Datatype, int dest, int send_tag, void*, int,
                             MPI_Datatype, int source, int tag, MPI_Comm, MPI_Status*))
ODRC_MPI_FUNCTION(Sendrecv_replace, (void*, int, MPI_Datatype, int dest, int send_tag, int source,
                                     int tag, MPI_Comm, MPI_Status*))
ODRC_MPI_FUNCTION(Send_init,
                  (const void*, int, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request*))
ODRC_MPI_FUNCTION(Ssend_init,
                  (const void*, int, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request*))
ODRC_MPI_FUNCTION(Bsend_init,
                  (const void*, int, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request*))
ODRC_MPI_FUNCTION(Rsend_init,
                  (const void*, int, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request*))
ODRC_MPI_FUNCTION(Recv_init,
                  (void*, int, MPI_Datatype, int source, int tag, MPI_Comm, MPI_Request*))
ODRC_MPI_FUNCTION(Start, (MPI_Request*))
ODRC_MPI_FUNCTION(Startall, (int count, MPI_Request*))
ODRC_MPI_FUNCTION(Probe, (int source, int tag, MPI_Comm, MPI_Status*))
ODRC_MPI_FUNCTION(Iprobe, (int source, int tag, MPI_Comm, int* flag, MPI_Status*))
ODRC_MPI_FUNCTION(Mprobe, (int source, int tag, MPI_Comm, MPI_Message*, MPI_Status*))
ODRC_MPI_FUNCTION(Improbe, (int source, int tag, MPI_Comm, int* flag, MPI_Message*, MPI_Status*))
ODRC_MPI_FUNCTION(Mrecv, (void*, int, MPI_Datatype, MPI_Message*, MPI_Status*))
ODRC_MPI_FUNCTION(Imrecv, (void*, int, MPI_Datatype, MPI_Message*, MPI_Request*))
ODRC_MPI_FUNCTION(Wait, (MPI_Request*, MPI_Status*))
ODRC_MPI_FUNCTION(Waitany, (int count, MPI_Request*, int* index, MPI_Status*))
ODRC_MPI_FUNCTION(Waitsome, (int count, MPI_Request*, int* out, int* indices, MPI_Status*))
ODRC_MPI_FUNCTION(Waitall, (int count, MPI_Request*, MPI_Status*))
ODRC_MPI_FUNCTION(Test, (MPI_Request*, int* flag, MPI_Status*))
ODRC_MPI_FUNCTION(Testany, (int count, MPI_Request*, int* index, int* flag, MPI_Status*))
ODRC_MPI_FUNCTION(Testsome, (int count, MPI_Request*, int* out, int* indices, MPI_Status*))
ODRC_MPI_FUNCTION(Testall, (int count, MPI_Request*, int* flag, MPI_Status*))
ODRC_MPI_FUNCTION(Request_free, (MPI_Request*))
ODRC_MPI_FUNCTION(Request_get_status, (MPI_Request, int* flag, MPI_Status*))
ODRC_MPI_FUNCTION(Cancel, (MPI_Request*))
ODRC_MPI_FUNCTION(Test_cancelled, (const MPI_Status*, int* flag))
ODRC_MPI_FUNCTION(Get_count, (const MPI_Status*, MPI_Datatype, int* count))
ODRC_MPI_FUNCTION(Get_elements, (const MPI_Status*, MPI_Datatype, int* count))
ODRC_MPI_FUNCTION(Get_elements_x, (const MPI_Status*, MPI_Datatype, MPI_Count* count))

/* ---- datatypes (4) ---- */
ODRC_MPI_FUNCTION(Type_contiguous, (int count, MPI_Datatype, MPI_Datatype*))
ODRC_MPI_FUNCTION(Type_vector, (int count, int length, int stride, MPI_Datatype, MPI_Datatype*))
ODRC_MPI_FUNCTION(Type_create_hvector,
                  (int count, int length, MPI_Aint stride, MPI_Datatype, MPI_Datatype*))
ODRC_MPI_FUNCTION(Type_indexed, (int count, const int* lengths, const int* displacements,
                                 MPI_Datatype, MPI_Datatype*))
ODRC_MPI_FUNCTION(Type_create_hindexed,
                  (int count, const int* lengths, const MPI_Aint* displacements, MPI_Datatype,
                   MPI_Datatype*))
ODRC_MPI_FUNCTION(Type_create_indexed_block,
                  (int count, int length, const int* displacements, MPI_Datatype, MPI_Datatype*))
ODRC_MPI_FUNCTION(Type_create_hindexed_block, (int count, int length, const MPI_Aint* displacements,
                                               MPI_Datatype, MPI_Datatype*))
ODRC_MPI_FUNCTION(Type_create_struct, (int count, const int* lengths, const MPI_Aint* displacements,
                                       const MPI_Datatype*, MPI_Datatype*))
ODRC_MPI_FUNCTION(Type_create_subarray, (int dims, const int* sizes, const int* subsizes,
                                         const int* starts, int order, MPI_Datatype, MPI_Datatype*))
ODRC_MPI_FUNCTION(Type_create_darray,
                  (int size, int rank, int dims, const int* sizes, const int* distributions,
                   const int* arguments, const int* processes, int order, MPI_Datatype,
                   MPI_Datatype*))
ODRC_MPI_FUNCTION(Type_create_resized, (MPI_Datatype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype*))
ODRC_MPI_FUNCTION(Type_dup, (MPI_Datatype, MPI_Datatype*))
ODRC_MPI_FUNCTION(Type_commit, (MPI_Datatype*))
ODRC_MPI_FUNCTION(Type_free, (MPI_Datatype*))
ODRC_MPI_FUNCTION(Type_size, (MPI_Datatype, int* size))
ODRC_MPI_FUNCTION(Type_size_x, (MPI_Datatype, MPI_Count* size))
ODRC_MPI_FUNCTION(Type_get_extent, (MPI_Datatype, MPI_Aint* lb, MPI_Aint* extent))
ODRC_MPI_FUNCTION(Type_get_extent_x, (MPI_Datatype, MPI_Count* lb, MPI_Count* extent))
ODRC_MPI_FUNCTION(Type_get_true_extent, (MPI_Datatype, MPI_Aint* lb, MPI_Aint* extent))
ODRC_MPI_FUNCTION(Type_get_true_extent_x, (MPI_Datatype, MPI_Count* lb, MPI_Count* extent))
ODRC_MPI_FUNCTION(Type_set_name, (MPI_Datatype, const char* name))
ODRC_MPI_FUNCTION(Type_get_name, (MPI_Datatype, char* name, int* length))
ODRC_MPI_FUNCTION(Pack,
                  (const void*, int, MPI_Datatype, void* out, int size, int* position, MPI_Comm))
ODRC_MPI_FUNCTION(Unpack,
                  (const void* in, int size, int* position, void*, int, MPI_Datatype, MPI_Comm))
ODRC_MPI_FUNCTION(Pack_size, (int count, MPI_Datatype, MPI_Comm, int* size))
ODRC_MPI_FUNCTION(Get_address, (const void* location, MPI_Aint* address))
MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint displacement);
MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint displacement);
MPI_Aint MPI_Aint_diff(MPI_Aint one, MPI_Aint other);
MPI_Aint PMPI_Aint_diff(MPI_Aint one, MPI_Aint other);

/* ---- collectives (5) ---- */
ODRC_MPI_FUNCTION(Barrier, (MPI_Comm))
ODRC_MPI_FUNCTION(Bcast, (void*, int, MPI_Datatype, int root, MPI_Comm))
ODRC_MPI_FUNCTION(Gather,
                  (const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int root, MPI_Comm))
ODRC_MPI_FUNCTION(Gatherv, (const void*, int, MPI_Datatype, void*, const int* counts,
                            const int* displacements, MPI_Datatype, int root, MPI_Comm))
ODRC_MPI_FUNCTION(Scatter,
                  (const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int root, MPI_Comm))
ODRC_MPI_FUNCTION(Scatterv, (const void*, const int* counts, const int* displacements, MPI_Datatype,
                             void*, int, MPI_Datatype, int root, MPI_Comm))
ODRC_MPI_FUNCTION(Allgather, (const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm))
ODRC_MPI_FUNCTION(Allgatherv, (const void*, int, MPI_Datatype, void*, const int* counts,
                               const int* displacements, MPI_Datatype, MPI_Comm))
ODRC_MPI_FUNCTION(Alltoall, (const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm))
ODRC_MPI_FUNCTION(Alltoallv,
                  (const void*, const int* send_counts, const int* send_displacements, MPI_Datatype,
                   void*, const int* counts, const int* displacements, MPI_Datatype, MPI_Comm))
ODRC_MPI_FUNCTION(Alltoallw, (const void*, const int* send_counts, const int* send_displacements,
                              const MPI_Datatype*, void*, const int* counts,
                              const int* displacements, const MPI_Datatype*, MPI_Comm))
ODRC_MPI_FUNCTION(Reduce, (const void*, void*, int, MPI_Datatype, MPI_Op, int root, MPI_Comm))
ODRC_MPI_FUNCTION(Allreduce, (const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm))
ODRC_MPI_FUNCTION(Reduce_scatter,
                  (const void*, void*, const int* counts, MPI_Datatype, MPI_Op, MPI_Comm))
ODRC_MPI_FUNCTION(Reduce_scatter_block,
                  (const void*, void*, int count, MPI_Datatype, MPI_Op, MPI_Comm))
ODRC_MPI_FUNCTION(Scan, (const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm))
ODRC_MPI_FUNCTION(Exscan, (const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm))
ODRC_MPI_FUNCTION(Reduce_local, (const void*, void*, int, MPI_Datatype, MPI_Op))
ODRC_MPI_FUNCTION(Op_create, (MPI_User_function*, int commutes, MPI_Op*))
ODRC_MPI_FUNCTION(Op_free, (MPI_Op*))
ODRC_MPI_FUNCTION(Op_commutative, (MPI_Op, int* commutes))

/* ---- groups and communicators (6) ---- */
ODRC_MPI_FUNCTION(Group_size, (MPI_Group, int* size))
ODRC_MPI_FUNCTION(Group_rank, (MPI_Group, int* rank))
ODRC_MPI_FUNCTION(Group_translate_ranks,
                  (MPI_Group, int count, const int* ranks, MPI_Group other, int* others))
ODRC_MPI_FUNCTION(Group_compare, (MPI_Group, MPI_Group, int* result))
ODRC_MPI_FUNCTION(Group_union, (MPI_Group, MPI_Group, MPI_Group*))
ODRC_MPI_FUNCTION(Group_intersection, (MPI_Group, MPI_Group, MPI_Group*))
ODRC_MPI_FUNCTION(Group_difference, (MPI_Group, MPI_Group, MPI_Group*))
ODRC_MPI_FUNCTION(Group_incl, (MPI_Group, int count, const int* ranks, MPI_Group*))
ODRC_MPI_FUNCTION(Group_excl, (MPI_Group, int count, const int* ranks, MPI_Group*))
ODRC_MPI_FUNCTION(Group_range_incl, (MPI_Group, int count, int ranges[][3], MPI_Group*))
ODRC_MPI_FUNCTION(Group_range_excl, (MPI_Group, int count, int ranges[][3], MPI_Group*))
ODRC_MPI_FUNCTION(Group_free, (MPI_Group*))
ODRC_MPI_FUNCTION(Comm_size, (MPI_Comm, int* size))
ODRC_MPI_FUNCTION(Comm_rank, (MPI_Comm, int* rank))
ODRC_MPI_FUNCTION(Comm_group, (MPI_Comm, MPI_Group*))
ODRC_MPI_FUNCTION(Comm_compare, (MPI_Comm, MPI_Comm, int* result))
ODRC_MPI_FUNCTION(Comm_test_inter, (MPI_Comm, int* flag))
ODRC_MPI_FUNCTION(Comm_dup, (MPI_Comm, MPI_Comm*))
ODRC_MPI_FUNCTION(Comm_dup_with_info, (MPI_Comm, MPI_Info, MPI_Comm*))
ODRC_MPI_FUNCTION(Comm_set_info, (MPI_Comm, MPI_Info))
ODRC_MPI_FUNCTION(Comm_get_info, (MPI_Comm, MPI_Info* used))
ODRC_MPI_FUNCTION(Comm_create, (MPI_Comm, MPI_Group, MPI_Comm*))
ODRC_MPI_FUNCTION(Comm_split, (MPI_Comm, int color, int key, MPI_Comm*))
ODRC_MPI_FUNCTION(Comm_split_type, (MPI_Comm, int type, int key, MPI_Info, MPI_Comm*))
ODRC_MPI_FUNCTION(Comm_free, (MPI_Comm*))
ODRC_MPI_FUNCTION(Comm_set_name, (MPI_Comm, const char* name))
ODRC_MPI_FUNCTION(Comm_get_name, (MPI_Comm, char* name, int* length))
ODRC_MPI_FUNCTION(Comm_create_keyval, (MPI_Comm_copy_attr_function*, MPI_Comm_delete_attr_function*,
                                       int* keyval, void* extra))
ODRC_MPI_FUNCTION(Comm_free_keyval, (int* keyval))
ODRC_MPI_FUNCTION(Comm_set_attr, (MPI_Comm, int keyval, void* value))
ODRC_MPI_FUNCTION(Comm_get_attr, (MPI_Comm, int keyval, void* value, int* flag))
ODRC_MPI_FUNCTION(Comm_delete_attr, (MPI_Comm, int keyval))

/* ---- what a program lets the library know (9) ---- */
ODRC_MPI_FUNCTION(Info_create, (MPI_Info*))
ODRC_MPI_FUNCTION(Info_dup, (MPI_Info, MPI_Info*))
ODRC_MPI_FUNCTION(Info_free, (MPI_Info*))
ODRC_MPI_FUNCTION(Info_set, (MPI_Info, const char* key, const char* value))
ODRC_MPI_FUNCTION(Info_delete, (MPI_Info, const char* key))
ODRC_MPI_FUNCTION(Info_get, (MPI_Info, const char* key, int length, char* value, int* flag))
ODRC_MPI_FUNCTION(Info_get_valuelen, (MPI_Info, const char* key, int* length, int* flag))
ODRC_MPI_FUNCTION(Info_get_nkeys, (MPI_Info, int* count))
ODRC_MPI_FUNCTION(Info_get_nthkey, (MPI_Info, int n, char* key))

/* ---- topologies (7) ---- */
ODRC_MPI_FUNCTION(Dims_create, (int nodes, int dims, int* sizes))
ODRC_MPI_FUNCTION(Cart_create, (MPI_Comm, int dims, const int* sizes, const int* periods,
                                int reorder, MPI_Comm*))
ODRC_MPI_FUNCTION(Cartdim_get, (MPI_Comm, int* dims))
ODRC_MPI_FUNCTION(Cart_get, (MPI_Comm, int most, int* sizes, int* periods, int* coordinates))
ODRC_MPI_FUNCTION(Cart_rank, (MPI_Comm, const int* coordinates, int* rank))
ODRC_MPI_FUNCTION(Cart_coords, (MPI_Comm, int rank, int most, int* coordinates))
ODRC_MPI_FUNCTION(Cart_shift, (MPI_Comm, int direction, int displacement, int* source, int* dest))
ODRC_MPI_FUNCTION(Cart_sub, (MPI_Comm, const int* remain, MPI_Comm*))
ODRC_MPI_FUNCTION(Cart_map, (MPI_Comm, int dims, const int* sizes, const int* periods, int* rank))
ODRC_MPI_FUNCTION(Topo_test, (MPI_Comm, int* kind))

/* ---- names of MPI-1 for functions above (15, 16) ---- */
typedef MPI_Comm_copy_attr_function MPI_Copy_function;
typedef MPI_Comm_delete_attr_function MPI_Delete_function;
typedef MPI_Comm_errhandler_function MPI_Handler_function;
#define MPI_NULL_COPY_FN MPI_COMM_NULL_COPY_FN
#define MPI_NULL_DELETE_FN MPI_COMM_NULL_DELETE_FN
#define MPI_DUP_FN MPI_COMM_DUP_FN
ODRC_MPI_FUNCTION(Address, (void* location, MPI_Aint* address))
ODRC_MPI_FUNCTION(Type_extent, (MPI_Datatype, MPI_Aint* extent))
ODRC_MPI_FUNCTION(Type_lb, (MPI_Datatype, MPI_Aint* lb))
ODRC_MPI_FUNCTION(Type_ub, (MPI_Datatype, MPI_Aint* ub))
ODRC_MPI_FUNCTION(Type_hvector,
                  (int count, int length, MPI_Aint stride, MPI_Datatype, MPI_Datatype*))
ODRC_MPI_FUNCTION(Type_hindexed,
                  (int count, int* lengths, MPI_Aint* displacements, MPI_Datatype, MPI_Datatype*))
ODRC_MPI_FUNCTION(Type_struct,
                  (int count, int* lengths, MPI_Aint* displacements, MPI_Datatype*, MPI_Datatype*))
ODRC_MPI_FUNCTION(Errhandler_create, (MPI_Comm_errhandler_function*, MPI_Errhandler*))
ODRC_MPI_FUNCTION(Errhandler_set, (MPI_Comm, MPI_Errhandler))
ODRC_MPI_FUNCTION(Errhandler_get, (MPI_Comm, MPI_Errhandler*))
ODRC_MPI_FUNCTION(Keyval_create, (MPI_Comm_copy_attr_function*, MPI_Comm_delete_attr_function*,
                                  int* keyval, void* extra))
ODRC_MPI_FUNCTION(Keyval_free, (int* keyval))
ODRC_MPI_FUNCTION(Attr_put, (MPI_Comm, int keyval, void* value))
ODRC_MPI_FUNCTION(Attr_get, (MPI_Comm, int keyval, void* value, int* flag))
ODRC_MPI_FUNCTION(Attr_delete, (MPI_Comm, int keyval))

#undef ODRC_MPI_FUNCTION

#ifdef __cplusplus
}
#endif

#endif
