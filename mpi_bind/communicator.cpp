// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "communicator.hpp"

#include "broadcast.hpp"
#include "context.hpp"
#include "keyvals.hpp"
#include "process.hpp"

#include <algorithm>

namespace odrc::mpi {

int make_communicator(Communicator& parent, std::optional<std::vector<int>> world_ranks,
                      Communicator*& made) {
    made = nullptr;
    int error = MPI_SUCCESS;
    const auto context = take_context(parent, error);
    if (!context) return error;
    if (!world_ranks) {
        give_back_context(*context); // the others' alone
        return MPI_SUCCESS;
    }
    Ref<Group> group = Group::make(std::move(*world_ranks));
    const int rank = group->rank_of(Process::get().launch().rank());
    made = new Communicator{std::move(group), rank, *context};
    made->handler = Ref{*parent.handler};
    return MPI_SUCCESS;
}

Communicator::Communicator(Ref<Group> group, int rank, uint32_t context, MPI_Comm predefined)
    : group_{std::move(group)}
    , rank_{rank}
    , context_{context}
    , predefined_{predefined} {}

Communicator::~Communicator() { give_back_context(context_); }

Communicator* Communicator::of(MPI_Comm handle) noexcept {
    if (!Process::is_there()) return nullptr;
    if (handle == MPI_COMM_WORLD) return &Process::get().world();
    if (handle == MPI_COMM_SELF) return &Process::get().self();
    return number_of(handle) < kFirstAddress ? nullptr : reinterpret_cast<Communicator*>(handle);
}

MPI_Comm Communicator::handle() noexcept {
    return is_predefined() ? predefined_ : reinterpret_cast<MPI_Comm>(this);
}

int Communicator::fail(int error, const char* call) noexcept {
    if (&*handler == &ErrorHandler::gives_back()) return error;
    if (&*handler == &ErrorHandler::fatal())
        end_job(error,
                std::string{call} + ": " + text_of(error) + (name.empty() ? "" : ", " + name));
    MPI_Comm comm = handle();
    handler->function(&comm, &error, call);
    return error;
}

// ---- attributes --------------------------------------------------------------------------------

Attribute* Communicator::find_attribute(int keyval) noexcept {
    const auto found = std::ranges::find(attributes, keyval, &Attribute::keyval);
    return found == attributes.end() ? nullptr : &*found;
}

void Communicator::copy_attributes_to(Communicator& other, int& error) {
    for (const Attribute& attribute : attributes) {
        Keyval* keyval = keyval_of(attribute.keyval);
        if (!keyval || !keyval->copy) continue;
        void* copy = nullptr;
        int flag = 0;
        error =
            keyval->copy(handle(), attribute.keyval, keyval->extra, attribute.value, &copy, &flag);
        if (error) return;
        if (!flag) continue;
        other.attributes.push_back({attribute.keyval, copy});
        ++keyval->users;
    }
}

// The last one that was set goes first (MPI 8.7.1).
int Communicator::delete_attributes() noexcept {
    while (!attributes.empty()) {
        const auto [number, value] = attributes.back();
        const Keyval* keyval = keyval_of(number);
        if (keyval && keyval->remove)
            if (const int error = keyval->remove(handle(), number, value, keyval->extra))
                return error;
        attributes.pop_back();
        drop_keyval(number);
    }
    return MPI_SUCCESS;
}

} // namespace odrc::mpi
