// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI 4.1: making datatypes. (Parts of arrays: array_type_calls.cpp.)

#include "api.hpp"
#include "types.hpp"

#include <limits>

using namespace odrc::mpi;

namespace {

int give(Datatype* made, MPI_Datatype* to) noexcept {
    *to = made->handle();
    return MPI_SUCCESS;
}

// Blocks of one type, whose length and place the functions tell.
template <class Length, class At>
int make_indexed(int count, MPI_Datatype type, MPI_Datatype* made, const char* call,
                 Length&& length, At&& at) {
    const Datatype* t = Datatype::of(type);
    if (!t) return fail_in_world(MPI_ERR_TYPE, call);
    if (count < 0) return fail_in_world(MPI_ERR_COUNT, call);
    std::vector<Block> blocks;
    blocks.reserve(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
        if (length(i) < 0) return fail_in_world(MPI_ERR_ARG, call);
        blocks.push_back({at(i, t->extent()), static_cast<size_t>(length(i)), t});
    }
    return give(make_blocks(blocks), made);
}

int make_vector_of(int count, int length, ptrdiff_t stride, const Datatype& type,
                   MPI_Datatype* made, const char* call) {
    if (count < 0 || length < 0) return fail_in_world(MPI_ERR_COUNT, call);
    return give(make_vector(static_cast<size_t>(count), static_cast<size_t>(length), stride, type),
                made);
}

} // namespace

ODRC_MPI(Type_contiguous, (int count, MPI_Datatype type, MPI_Datatype* made)) {
    const Datatype* t = Datatype::of(type);
    if (!t) return fail_in_world(MPI_ERR_TYPE, "MPI_Type_contiguous");
    if (count < 0) return fail_in_world(MPI_ERR_COUNT, "MPI_Type_contiguous");
    return give(make_contiguous(static_cast<size_t>(count), *t), made);
}

ODRC_MPI(Type_vector, (int count, int length, int stride, MPI_Datatype type, MPI_Datatype* made)) {
    const Datatype* t = Datatype::of(type);
    if (!t) return fail_in_world(MPI_ERR_TYPE, "MPI_Type_vector");
    return make_vector_of(count, length, stride * t->extent(), *t, made, "MPI_Type_vector");
}

ODRC_MPI(Type_create_hvector,
         (int count, int length, MPI_Aint stride, MPI_Datatype type, MPI_Datatype* made)) {
    const Datatype* t = Datatype::of(type);
    if (!t) return fail_in_world(MPI_ERR_TYPE, "MPI_Type_create_hvector");
    return make_vector_of(count, length, stride, *t, made, "MPI_Type_create_hvector");
}

ODRC_MPI(Type_indexed, (int count, const int* lengths, const int* displacements, MPI_Datatype type,
                        MPI_Datatype* made)) {
    return make_indexed(
        count, type, made, "MPI_Type_indexed", [&](int i) { return lengths[i]; },
        [&](int i, ptrdiff_t extent) { return displacements[i] * extent; });
}

ODRC_MPI(Type_create_hindexed, (int count, const int* lengths, const MPI_Aint* displacements,
                                MPI_Datatype type, MPI_Datatype* made)) {
    return make_indexed(
        count, type, made, "MPI_Type_create_hindexed", [&](int i) { return lengths[i]; },
        [&](int i, ptrdiff_t) { return displacements[i]; });
}

ODRC_MPI(Type_create_indexed_block,
         (int count, int length, const int* displacements, MPI_Datatype type, MPI_Datatype* made)) {
    return make_indexed(
        count, type, made, "MPI_Type_create_indexed_block", [&](int) { return length; },
        [&](int i, ptrdiff_t extent) { return displacements[i] * extent; });
}

ODRC_MPI(Type_create_hindexed_block, (int count, int length, const MPI_Aint* displacements,
                                      MPI_Datatype type, MPI_Datatype* made)) {
    return make_indexed(
        count, type, made, "MPI_Type_create_hindexed_block", [&](int) { return length; },
        [&](int i, ptrdiff_t) { return displacements[i]; });
}

ODRC_MPI(Type_create_struct, (int count, const int* lengths, const MPI_Aint* displacements,
                              const MPI_Datatype* types, MPI_Datatype* made)) {
    constexpr const char* kCall = "MPI_Type_create_struct";
    if (count < 0) return fail_in_world(MPI_ERR_COUNT, kCall);
    std::vector<Block> blocks;
    for (int i = 0; i < count; ++i) {
        const Datatype* t = Datatype::of(types[i]);
        if (!t) return fail_in_world(MPI_ERR_TYPE, kCall);
        if (lengths[i] < 0) return fail_in_world(MPI_ERR_ARG, kCall);
        blocks.push_back({displacements[i], static_cast<size_t>(lengths[i]), t});
    }
    return give(make_struct(blocks), made);
}

ODRC_MPI(Type_create_resized,
         (MPI_Datatype type, MPI_Aint lb, MPI_Aint extent, MPI_Datatype* made)) {
    const Datatype* t = Datatype::of(type);
    if (!t) return fail_in_world(MPI_ERR_TYPE, "MPI_Type_create_resized");
    return give(make_resized(*t, lb, extent), made);
}

ODRC_MPI(Type_dup, (MPI_Datatype type, MPI_Datatype* made)) {
    const Datatype* t = Datatype::of(type);
    if (!t) return fail_in_world(MPI_ERR_TYPE, "MPI_Type_dup");
    auto* copy = new Datatype{t->layout(), t->lb(), t->ub(), t->alignment()};
    if (t->is_committed()) copy->commit();
    return give(copy, made);
}

ODRC_MPI(Type_commit, (MPI_Datatype * type)) {
    Datatype* t = Datatype::of(*type);
    if (!t) return fail_in_world(MPI_ERR_TYPE, "MPI_Type_commit");
    t->commit();
    return MPI_SUCCESS;
}

ODRC_MPI(Type_free, (MPI_Datatype * type)) {
    Datatype* t = Datatype::of(*type);
    if (!t || t->is_predefined()) return fail_in_world(MPI_ERR_TYPE, "MPI_Type_free");
    t->release();
    *type = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

// ---- what they are -----------------------------------------------------------------------------

namespace {

template <class Number>
int tell_size(MPI_Datatype type, Number* size, const char* call) {
    const Datatype* t = Datatype::of(type);
    if (!t) return fail_in_world(MPI_ERR_TYPE, call);
    const bool fits = t->size() <= static_cast<size_t>(std::numeric_limits<Number>::max());
    *size = fits ? static_cast<Number>(t->size()) : Number{MPI_UNDEFINED};
    return MPI_SUCCESS;
}

template <class Number>
int tell_extent(MPI_Datatype type, Number* lb, Number* extent, const char* call) {
    const Datatype* t = Datatype::of(type);
    if (!t) return fail_in_world(MPI_ERR_TYPE, call);
    *lb = t->lb();
    *extent = t->extent();
    return MPI_SUCCESS;
}

template <class Number>
int tell_true_extent(MPI_Datatype type, Number* lb, Number* extent, const char* call) {
    const Datatype* t = Datatype::of(type);
    if (!t) return fail_in_world(MPI_ERR_TYPE, call);
    *lb = t->layout()->begin();
    *extent = t->layout()->end() - t->layout()->begin();
    return MPI_SUCCESS;
}

} // namespace

ODRC_MPI(Type_size, (MPI_Datatype type, int* size)) {
    return tell_size(type, size, "MPI_Type_size");
}
ODRC_MPI(Type_size_x, (MPI_Datatype type, MPI_Count* size)) {
    return tell_size(type, size, "MPI_Type_size_x");
}
ODRC_MPI(Type_get_extent, (MPI_Datatype type, MPI_Aint* lb, MPI_Aint* extent)) {
    return tell_extent(type, lb, extent, "MPI_Type_get_extent");
}
ODRC_MPI(Type_get_extent_x, (MPI_Datatype type, MPI_Count* lb, MPI_Count* extent)) {
    return tell_extent(type, lb, extent, "MPI_Type_get_extent_x");
}
ODRC_MPI(Type_get_true_extent, (MPI_Datatype type, MPI_Aint* lb, MPI_Aint* extent)) {
    return tell_true_extent(type, lb, extent, "MPI_Type_get_true_extent");
}
ODRC_MPI(Type_get_true_extent_x, (MPI_Datatype type, MPI_Count* lb, MPI_Count* extent)) {
    return tell_true_extent(type, lb, extent, "MPI_Type_get_true_extent_x");
}

ODRC_MPI(Type_set_name, (MPI_Datatype type, const char* name)) {
    Datatype* t = Datatype::of(type);
    if (!t) return fail_in_world(MPI_ERR_TYPE, "MPI_Type_set_name");
    t->name = name;
    return MPI_SUCCESS;
}

ODRC_MPI(Type_get_name, (MPI_Datatype type, char* name, int* length)) {
    const Datatype* t = Datatype::of(type);
    if (!t) return fail_in_world(MPI_ERR_TYPE, "MPI_Type_get_name");
    *length = put_text(t->name, name, MPI_MAX_OBJECT_NAME);
    return MPI_SUCCESS;
}
