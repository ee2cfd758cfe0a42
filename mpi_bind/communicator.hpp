// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "error_handler.hpp"
#include "grid.hpp"
#include "group.hpp"
#include "hints.hpp"

#include <memory>
#include <optional>
#include <string>

namespace odrc::mpi {

class BroadcastPlan;

// MPI 6.7.2: what a program keeps with a communicator.
struct Attribute {
    int keyval;
    void* value;
};

// MPI 6.1.2: a group, our rank in it, and a context of its own, in which messages are not taken for
// those of others. Collectives have the next one.
class Communicator : public Counted {
public:
    Communicator(Ref<Group> group, int rank, uint32_t context, MPI_Comm predefined = MPI_COMM_NULL);
    ~Communicator() override;

    static Communicator* of(MPI_Comm handle) noexcept; // null: there is none
    MPI_Comm handle() noexcept;
    bool is_predefined() const noexcept { return predefined_ != MPI_COMM_NULL; }

    int rank() const noexcept { return rank_; }
    int size() const noexcept { return group_->size(); }
    Group& group() const noexcept { return *group_; }
    uint32_t context() const noexcept { return context_; }
    uint32_t collective_context() const noexcept { return context_ + 1; }
    // What tells the messages of one collective from those of the next.
    int next_collective() noexcept { return collectives_ = (collectives_ + 1) & 0xfffff; }

    // What a call gives back: an error goes through the handler, which may not return.
    int outcome(int error, const char* call) noexcept {
        return error == MPI_SUCCESS ? error : fail(error, call);
    }

    void copy_attributes_to(Communicator& other, int& error);
    int delete_attributes() noexcept;

    std::string name;
    Ref<ErrorHandler> handler{ErrorHandler::fatal()};
    std::vector<Attribute> attributes;              // in the order in which they were set
    Attribute* find_attribute(int keyval) noexcept; // null: it has none of that
    std::optional<Grid> grid;
    Hints hints;
    std::unique_ptr<BroadcastPlan> broadcasts; // null: there was none yet

private:
    int fail(int error, const char* call) noexcept;

    const Ref<Group> group_;
    const int rank_;
    const uint32_t context_;
    const MPI_Comm predefined_;
    int collectives_{0};
};

// A new one of some members, all of whom call this at once, with as many that are made beside it:
// their contexts are the same, since nobody is in two of them. Null for who is in none. Gives an
// error class.
int make_communicator(Communicator& parent, std::optional<std::vector<int>> world_ranks,
                      Communicator*& made);

} // namespace odrc::mpi
