// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "op.hpp"
#include "request.hpp"

#include <vector>

// Collectives (MPI 5), of messages in a context of their own. Each gives an error class. The
// arguments have been checked.
namespace odrc::mpi {

// Where each rank's part lies in a buffer: all of a size one behind the other, or each where the
// program says.
class Slots {
public:
    Slots(const void* base, size_t count, const Datatype& type) noexcept
        : base_{as_bytes(base)}
        , count_{count}
        , type_{&type} {}
    // Displacements are counted in extents.
    Slots(const void* base, const int* counts, const int* displacements,
          const Datatype& type) noexcept
        : base_{as_bytes(base)}
        , type_{&type}
        , counts_{counts}
        , displacements_{displacements} {}
    // In bytes; each has a type of its own.
    Slots(const void* base, const int* counts, const int* displacements,
          const MPI_Datatype* types) noexcept
        : base_{as_bytes(base)}
        , counts_{counts}
        , displacements_{displacements}
        , types_{types} {}

    Data operator[](int rank) const noexcept {
        const auto i = static_cast<size_t>(rank);
        if (!counts_)
            return {base_ + static_cast<ptrdiff_t>(i * count_) * type_->extent(), count_, *type_};
        const Datatype& type = types_ ? *Datatype::of(types_[i]) : *type_;
        const ptrdiff_t unit = types_ ? 1 : type.extent();
        return {base_ + displacements_[i] * unit, static_cast<size_t>(counts_[i]), type};
    }

private:
    static std::byte* as_bytes(const void* p) noexcept {
        return static_cast<std::byte*>(const_cast<void*>(p));
    }

    std::byte* base_;
    size_t count_{0};
    const Datatype* type_{nullptr};
    const int* counts_{nullptr};
    const int* displacements_{nullptr};
    const MPI_Datatype* types_{nullptr};
};

// Memory for so many of a type, laid out as a program's.
class Scratch {
public:
    Scratch(size_t count, const Datatype& type);
    std::byte* address() noexcept { return bytes_.get() - begin_; }

private:
    ptrdiff_t begin_;
    std::unique_ptr<std::byte[]> bytes_;
};

// What several requests come to: all are waited for, and the first error counts.
class Exchange {
public:
    explicit Exchange(Communicator& communicator) noexcept
        : communicator_{communicator}
        , tag_{communicator.next_collective()} {}
    ~Exchange() { finish(); }
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    void send(const Data& data, int to) { requests_.push_back(&begin_send(data, with(to))); }
    void receive(const Data& data, int from) {
        requests_.push_back(&begin_receive(data, with(from)));
    }
    int finish() noexcept {
        for (Request* request : requests_)
            if (const int error = wait(*request); error && !error_) error_ = error;
        requests_.clear();
        return error_;
    }
    Address with(int peer) const noexcept { return {&communicator_, peer, tag_, true}; }

private:
    Communicator& communicator_;
    const int tag_;
    std::vector<Request*> requests_;
    int error_{MPI_SUCCESS};
};

// Between two places of a process. MPI_ERR_TRUNCATE: the second is too small.
int copy(const Data& from, const Data& to);

int barrier(Communicator& communicator);
int broadcast(const Data& data, int root, Communicator& communicator);
// mine: null, if that is in its slot.
int gather(const Data* mine, const Slots* all, int root, Communicator& communicator);
int scatter(const Slots* all, const Data* mine, int root, Communicator& communicator);
int allgather(const Data* mine, const Slots& all, Communicator& communicator);
// out: null, if what goes out is where the other comes in.
int alltoall(const Slots* out, const Slots& in, Communicator& communicator);
// in: the address of our own elements; MPI_IN_PLACE: they are in the result's place.
int reduce(const void* in, const Data& result, const Op& op, int root, Communicator& communicator);
int allreduce(const void* in, const Data& result, const Op& op, Communicator& communicator);
// The same of what is long, and has at least as many elements as there are members.
int reduce_by_parts(const void* in, const Data& result, const Op& op, int root,
                    Communicator& communicator);
int allreduce_by_parts(const void* in, const Data& result, const Op& op,
                       Communicator& communicator);
// Of each member the part that is its own. out: what this one gives to each.
int reduce_parts(const Slots& out, const Data& mine, const Op& op, Communicator& communicator);
int scan(const void* in, const Data& result, const Op& op, Communicator& communicator);
int exclusive_scan(const void* in, const Data& result, const Op& op, Communicator& communicator);

} // namespace odrc::mpi
