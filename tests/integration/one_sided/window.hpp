// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Windows of the kinds that MPI has, with one way to say where in a peer's memory something is.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <mpi.h>
#include <span>
#include <vector>

namespace one_sided {

inline int rank() {
    int mine;
    MPI_Comm_rank(MPI_COMM_WORLD, &mine);
    return mine;
}

inline int ranks() {
    int all;
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    return all;
}

inline int right() { return (rank() + 1) % ranks(); }
inline int left() { return (rank() + ranks() - 1) % ranks(); }

inline MPI_Datatype type_of(int8_t) { return MPI_INT8_T; }
inline MPI_Datatype type_of(int32_t) { return MPI_INT32_T; }
inline MPI_Datatype type_of(int64_t) { return MPI_INT64_T; }
inline MPI_Datatype type_of(uint32_t) { return MPI_UINT32_T; }
inline MPI_Datatype type_of(double) { return MPI_DOUBLE; }

enum class Kind { created, allocated, dynamic };

inline bool on_one_host() {
    MPI_Comm host;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    int here;
    MPI_Comm_size(host, &here);
    MPI_Comm_free(&host);
    return here == ranks();
}

// Those to be tried. To find memory in a dynamic window of another host, Open MPI 4.1 takes a lock
// there twice, and waits for itself forever.
inline std::vector<Kind> kinds() {
    std::vector<Kind> all{Kind::created, Kind::allocated};
    if (on_one_host()) all.push_back(Kind::dynamic);
    return all;
}

// As many elements at every rank, all of them zero when the constructor is through everywhere.
template <class T>
class Window {
public:
    Window(Kind kind, size_t count)
        : bases_(static_cast<size_t>(ranks())) {
        const auto bytes = static_cast<MPI_Aint>(count * sizeof(T));
        T* base = nullptr;
        if (kind == Kind::allocated) {
            MPI_Win_allocate(bytes, sizeof(T), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window_);
            memory_ = {base, count};
        } else {
            own_.resize(count);
            memory_ = own_;
        }
        if (kind == Kind::created)
            MPI_Win_create(own_.data(), bytes, sizeof(T), MPI_INFO_NULL, MPI_COMM_WORLD, &window_);
        if (kind == Kind::dynamic) {
            MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window_);
            MPI_Win_attach(window_, own_.data(), bytes);
            MPI_Aint mine;
            MPI_Get_address(own_.data(), &mine);
            MPI_Allgather(&mine, 1, MPI_AINT, bases_.data(), 1, MPI_AINT, MPI_COMM_WORLD);
            stride_ = sizeof(T);
        }
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank(), 0, window_);
        std::ranges::fill(memory_, T{});
        MPI_Win_unlock(rank(), window_);
        MPI_Barrier(MPI_COMM_WORLD);
    }

    ~Window() {
        MPI_Barrier(MPI_COMM_WORLD);
        if (stride_ > 1) MPI_Win_detach(window_, own_.data());
        MPI_Win_free(&window_);
    }

    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    operator MPI_Win() const { return window_; }

    // Our own part.
    std::span<T> memory() { return memory_; }

    // Where an element of a rank's part is, as a target displacement.
    MPI_Aint at(int rank, size_t index) const {
        return MPI_Aint_add(bases_[static_cast<size_t>(rank)],
                            static_cast<MPI_Aint>(index) * stride_);
    }

private:
    MPI_Win window_{MPI_WIN_NULL};
    std::vector<T> own_;
    std::span<T> memory_;
    std::vector<MPI_Aint> bases_; // of dynamic windows: elsewhere they are zero
    MPI_Aint stride_{1};          // between elements, in the window's units
};

// What one rank tells another, element by element.
inline std::vector<int64_t> pattern(int from, int to, size_t count, int round = 0) {
    std::vector<int64_t> values(count);
    for (size_t i = 0; i < count; ++i)
        values[i] =
            (static_cast<int64_t>(round) * 1000 + from * 100 + to) << 32 | static_cast<int64_t>(i);
    return values;
}

// The first element that differs, or -1.
template <class T>
ptrdiff_t difference(std::span<const T> got, const std::vector<T>& wanted) {
    if (got.size() != wanted.size()) return 0;
    const auto [at, _] = std::ranges::mismatch(got, wanted);
    return at == got.end() ? -1 : at - got.begin();
}

template <class T>
ptrdiff_t difference(const std::vector<T>& got, const std::vector<T>& wanted) {
    return difference(std::span<const T>{got}, wanted);
}

} // namespace one_sided
