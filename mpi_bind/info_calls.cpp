// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI 9: the info object.

#include "api.hpp"
#include "info.hpp"

#include <cstring>

using namespace odrc::mpi;

namespace {

// Gives an error class.
int check_key(const char* key) noexcept {
    const size_t length = key ? strnlen(key, MPI_MAX_INFO_KEY) : 0;
    return length > 0 && length < MPI_MAX_INFO_KEY ? MPI_SUCCESS : MPI_ERR_INFO_KEY;
}

// What most calls do: something with an object and a key that are good.
template <class F>
int with_key(MPI_Info info, const char* key, const char* call, F&& call_body) {
    Info* i = Info::of(info);
    int error = i ? check_key(key) : MPI_ERR_INFO;
    if (!error) error = call_body(*i);
    return outcome_in_world(error, call);
}

} // namespace

ODRC_MPI(Info_create, (MPI_Info * info)) {
    *info = (new Info)->handle();
    return MPI_SUCCESS;
}

ODRC_MPI(Info_dup, (MPI_Info info, MPI_Info* copy)) {
    const Info* i = Info::of(info);
    if (!i) return fail_in_world(MPI_ERR_INFO, "MPI_Info_dup");
    *copy = (new Info{*i})->handle();
    return MPI_SUCCESS;
}

ODRC_MPI(Info_free, (MPI_Info * info)) {
    const Info* i = Info::of(*info);
    if (!i) return fail_in_world(MPI_ERR_INFO, "MPI_Info_free");
    delete i;
    *info = MPI_INFO_NULL;
    return MPI_SUCCESS;
}

ODRC_MPI(Info_set, (MPI_Info info, const char* key, const char* value)) {
    return with_key(info, key, "MPI_Info_set", [&](Info& i) {
        if (!value || strnlen(value, MPI_MAX_INFO_VAL) == MPI_MAX_INFO_VAL)
            return int{MPI_ERR_INFO_VALUE};
        i.set(key, value);
        return int{MPI_SUCCESS};
    });
}

ODRC_MPI(Info_delete, (MPI_Info info, const char* key)) {
    return with_key(info, key, "MPI_Info_delete", [&](Info& i) {
        return i.remove(key) ? int{MPI_SUCCESS} : int{MPI_ERR_INFO_NOKEY};
    });
}

// So many characters of the value, and an end.
ODRC_MPI(Info_get, (MPI_Info info, const char* key, int length, char* value, int* flag)) {
    return with_key(info, key, "MPI_Info_get", [&](Info& i) {
        const std::string* found = i.find(key);
        *flag = found != nullptr;
        if (found) put_text(*found, value, length + 1);
        return int{MPI_SUCCESS};
    });
}

ODRC_MPI(Info_get_valuelen, (MPI_Info info, const char* key, int* length, int* flag)) {
    return with_key(info, key, "MPI_Info_get_valuelen", [&](Info& i) {
        const std::string* found = i.find(key);
        *flag = found != nullptr;
        if (found) *length = static_cast<int>(found->size());
        return int{MPI_SUCCESS};
    });
}

ODRC_MPI(Info_get_nkeys, (MPI_Info info, int* count)) {
    const Info* i = Info::of(info);
    if (!i) return fail_in_world(MPI_ERR_INFO, "MPI_Info_get_nkeys");
    *count = static_cast<int>(i->pairs().size());
    return MPI_SUCCESS;
}

ODRC_MPI(Info_get_nthkey, (MPI_Info info, int n, char* key)) {
    const Info* i = Info::of(info);
    if (!i) return fail_in_world(MPI_ERR_INFO, "MPI_Info_get_nthkey");
    if (n < 0 || static_cast<size_t>(n) >= i->pairs().size())
        return fail_in_world(MPI_ERR_ARG, "MPI_Info_get_nthkey");
    put_text(i->pairs()[static_cast<size_t>(n)].key, key, MPI_MAX_INFO_KEY);
    return MPI_SUCCESS;
}
