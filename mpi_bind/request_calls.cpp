// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI 3.7.3 to 3.9: waiting for what is under way, and what becomes of it.

#include "api.hpp"
#include "request.hpp"

#include <climits>

using namespace odrc::mpi;

namespace {

// Whether there is anything to wait for: not in a handle of nothing, nor in a persistent request
// that was not started.
Request* active(MPI_Request handle) noexcept {
    Request* request = Request::of(handle);
    return request && request->is_active() ? request : nullptr;
}

void tell_of_nothing(MPI_Status* status) noexcept {
    if (status == MPI_STATUS_IGNORE) return;
    const int error = status->MPI_ERROR;
    *status = empty_status();
    status->MPI_ERROR = error;
}

// The request is over. Its handle goes, unless it may be started again.
int take(MPI_Request& handle, MPI_Status* status) noexcept {
    Request& request = *Request::of(handle);
    if (!request.is_persistent()) handle = MPI_REQUEST_NULL;
    return request.finish(status);
}

// The same with the error through the handler of its communicator.
int take_one(MPI_Request& handle, MPI_Status* status, const char* call) noexcept {
    Request& request = *Request::of(handle);
    if (&request == &Request::over()) return take(handle, status);
    const Ref<Communicator> c{request.communicator()};
    return c->outcome(take(handle, status), call);
}

MPI_Status* at(MPI_Status* statuses, int i) noexcept {
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

// Of many, each error is in its status, and the call says that there is one.
int take_into(MPI_Request& handle, MPI_Status* status) noexcept {
    const int error = take(handle, status);
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = error;
    return error;
}

// The first that is over, or MPI_UNDEFINED; none: nothing is active.
int find_over(int count, const MPI_Request* handles, bool& none) noexcept {
    none = true;
    for (int i = 0; i < count; ++i) {
        const Request* request = active(handles[i]);
        if (!request) continue;
        none = false;
        if (request->is_over()) return i;
    }
    return MPI_UNDEFINED;
}

int take_some(int count, MPI_Request* handles, int* out, int* indices, MPI_Status* statuses,
              const char* call) noexcept {
    int error = MPI_SUCCESS;
    *out = 0;
    for (int i = 0; i < count; ++i) {
        const Request* request = active(handles[i]);
        if (!request || !request->is_over()) continue;
        if (take_into(handles[i], at(statuses, *out))) error = MPI_ERR_IN_STATUS;
        indices[(*out)++] = i;
    }
    return outcome_in_world(error, call);
}

int take_all(int count, MPI_Request* handles, MPI_Status* statuses, const char* call) noexcept {
    int error = MPI_SUCCESS;
    for (int i = 0; i < count; ++i) {
        MPI_Status* status = at(statuses, i);
        if (active(handles[i])) {
            if (take_into(handles[i], status)) error = MPI_ERR_IN_STATUS;
        } else if (status != MPI_STATUS_IGNORE) {
            *status = empty_status();
        }
    }
    return outcome_in_world(error, call);
}

bool all_are_over(int count, const MPI_Request* handles) noexcept {
    for (int i = 0; i < count; ++i)
        if (const Request* request = active(handles[i]); request && !request->is_over())
            return false;
    return true;
}

} // namespace

ODRC_MPI(Wait, (MPI_Request * handle, MPI_Status* status)) {
    Request* request = active(*handle);
    if (!request) {
        tell_of_nothing(status);
        return MPI_SUCCESS;
    }
    Process::get().advance_until([&] { return request->is_over(); });
    return take_one(*handle, status, "MPI_Wait");
}

ODRC_MPI(Test, (MPI_Request * handle, int* flag, MPI_Status* status)) {
    Request* request = active(*handle);
    *flag = 1;
    if (!request) {
        tell_of_nothing(status);
        return MPI_SUCCESS;
    }
    if (!request->is_over()) Process::get().advance();
    *flag = request->is_over();
    return *flag ? take_one(*handle, status, "MPI_Test") : MPI_SUCCESS;
}

ODRC_MPI(Waitany, (int count, MPI_Request* handles, int* index, MPI_Status* status)) {
    bool none = false;
    Process& process = Process::get();
    while ((*index = find_over(count, handles, none)) == MPI_UNDEFINED && !none) process.advance();
    if (!none) return take_one(handles[*index], status, "MPI_Waitany");
    tell_of_nothing(status);
    return MPI_SUCCESS;
}

ODRC_MPI(Testany, (int count, MPI_Request* handles, int* index, int* flag, MPI_Status* status)) {
    bool none = false;
    *index = find_over(count, handles, none);
    if (*index == MPI_UNDEFINED && !none) {
        Process::get().advance();
        *index = find_over(count, handles, none);
    }
    *flag = none || *index != MPI_UNDEFINED;
    if (*flag && !none) return take_one(handles[*index], status, "MPI_Testany");
    if (none) tell_of_nothing(status);
    return MPI_SUCCESS;
}

ODRC_MPI(Waitsome,
         (int count, MPI_Request* handles, int* out, int* indices, MPI_Status* statuses)) {
    bool none = false;
    Process& process = Process::get();
    while (find_over(count, handles, none) == MPI_UNDEFINED && !none) process.advance();
    *out = MPI_UNDEFINED;
    return none ? MPI_SUCCESS : take_some(count, handles, out, indices, statuses, "MPI_Waitsome");
}

ODRC_MPI(Testsome,
         (int count, MPI_Request* handles, int* out, int* indices, MPI_Status* statuses)) {
    bool none = false;
    if (find_over(count, handles, none) == MPI_UNDEFINED && !none) Process::get().advance();
    *out = MPI_UNDEFINED;
    return none ? MPI_SUCCESS : take_some(count, handles, out, indices, statuses, "MPI_Testsome");
}

ODRC_MPI(Waitall, (int count, MPI_Request* handles, MPI_Status* statuses)) {
    Process& process = Process::get();
    for (int i = 0; i < count; ++i)
        if (const Request* request = active(handles[i]))
            process.advance_until([&] { return request->is_over(); });
    return take_all(count, handles, statuses, "MPI_Waitall");
}

ODRC_MPI(Testall, (int count, MPI_Request* handles, int* flag, MPI_Status* statuses)) {
    if (!all_are_over(count, handles)) Process::get().advance();
    *flag = all_are_over(count, handles);
    return *flag ? take_all(count, handles, statuses, "MPI_Testall") : MPI_SUCCESS;
}

ODRC_MPI(Start, (MPI_Request * handle)) {
    Request* request = Request::of(*handle);
    if (!request || !request->is_persistent() || request->is_active())
        return fail_in_world(MPI_ERR_REQUEST, "MPI_Start");
    request->start();
    return MPI_SUCCESS;
}

ODRC_MPI(Startall, (int count, MPI_Request* handles)) {
    for (int i = 0; i < count; ++i)
        if (const int error = PMPI_Start(handles + i)) return error;
    return MPI_SUCCESS;
}

ODRC_MPI(Request_free, (MPI_Request * handle)) {
    Request* request = Request::of(*handle);
    if (!request) return fail_in_world(MPI_ERR_REQUEST, "MPI_Request_free");
    *handle = MPI_REQUEST_NULL;
    request->leave();
    return MPI_SUCCESS;
}

ODRC_MPI(Request_get_status, (MPI_Request handle, int* flag, MPI_Status* status)) {
    const Request* request = active(handle);
    *flag = 1;
    if (!request) {
        tell_of_nothing(status);
        return MPI_SUCCESS;
    }
    if (!request->is_over()) Process::get().advance();
    *flag = request->is_over();
    if (*flag) request->tell(status);
    return MPI_SUCCESS;
}

// A send is never canceled: it may have been received.
ODRC_MPI(Cancel, (MPI_Request * handle)) {
    Request* request = Request::of(*handle);
    if (!request) return fail_in_world(MPI_ERR_REQUEST, "MPI_Cancel");
    request->cancel();
    return MPI_SUCCESS;
}

ODRC_MPI(Test_cancelled, (const MPI_Status* status, int* flag)) {
    *flag = status->odrc_cancelled;
    return MPI_SUCCESS;
}

ODRC_MPI(Get_count, (const MPI_Status* status, MPI_Datatype type, int* count)) {
    const Datatype* t = Datatype::of(type);
    if (!t) return fail_in_world(MPI_ERR_TYPE, "MPI_Get_count");
    const auto bytes = static_cast<size_t>(status->odrc_bytes);
    *count = 0;
    if (t->size() == 0) {
        if (bytes > 0) *count = MPI_UNDEFINED;
    } else if (bytes % t->size() != 0 || bytes / t->size() > INT_MAX) {
        *count = MPI_UNDEFINED;
    } else {
        *count = static_cast<int>(bytes / t->size());
    }
    return MPI_SUCCESS;
}

ODRC_MPI(Get_elements_x, (const MPI_Status* status, MPI_Datatype type, MPI_Count* count)) {
    const Datatype* t = Datatype::of(type);
    if (!t) return fail_in_world(MPI_ERR_TYPE, "MPI_Get_elements_x");
    const auto bytes = static_cast<size_t>(status->odrc_bytes);
    *count = 0;
    if (t->size() == 0) return MPI_SUCCESS;
    const Layout& layout = *t->layout();
    const size_t whole = bytes / t->size(), rest = bytes % t->size();
    const size_t elements = whole * layout.elements_in(t->size()) + layout.elements_in(rest);
    *count = layout.ends_within_element(rest) ? MPI_UNDEFINED : static_cast<MPI_Count>(elements);
    return MPI_SUCCESS;
}

ODRC_MPI(Get_elements, (const MPI_Status* status, MPI_Datatype type, int* count)) {
    if (!Datatype::of(type)) return fail_in_world(MPI_ERR_TYPE, "MPI_Get_elements");
    MPI_Count elements = 0;
    const int error = PMPI_Get_elements_x(status, type, &elements);
    *count = elements > INT_MAX ? MPI_UNDEFINED : static_cast<int>(elements);
    return error;
}
