// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI 7.5: grids of processes.

#include "api.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace odrc::mpi;

namespace {

// The communicator of a call about its grid. Null: it has none, and error says why.
Communicator* with_grid(MPI_Comm comm, const char* call, int& error) noexcept {
    Communicator* c = Communicator::of(comm);
    if (!c)
        error = fail_in_world(MPI_ERR_COMM, call);
    else if (!c->grid)
        error = c->outcome(MPI_ERR_TOPOLOGY, call);
    else
        return c;
    return nullptr;
}

std::optional<Grid> make_grid(int dims, const int* sizes, const int* periods) {
    Grid grid;
    int64_t all = 1;
    for (int i = 0; i < dims; ++i) {
        if (sizes[i] < 1 || (all *= sizes[i]) > INT32_MAX) return std::nullopt;
        grid.dimensions.push_back({sizes[i], periods[i] != 0});
    }
    return grid;
}

std::vector<int> divisors_of(int number) {
    std::vector<int> divisors;
    for (int d = 1; d <= number / d; ++d) {
        if (number % d != 0) continue;
        divisors.push_back(d);
        if (d != number / d) divisors.push_back(number / d);
    }
    std::ranges::sort(divisors);
    return divisors;
}

// A number as the product of so many factors, in ascending order, that are as close to each other
// as they can be: the greatest is as little more than the least as may be.
class CloseFactors {
public:
    CloseFactors(int number, int count)
        : divisors_{divisors_of(number)} {
        split(number, static_cast<size_t>(count));
    }
    const std::vector<int>& get() const noexcept { return found_; }

private:
    // The next factors: those before are no greater.
    void split(int number, size_t count) {
        constexpr double kRounding = 1e-9;
        const double root = std::pow(number, 1.0 / static_cast<double>(count)) * (1 + kRounding);
        if (!factors_.empty() && root - factors_[0] > least_apart_) return; // the greatest is more
        if (count == 1) return take(number);
        for (auto d = divisors_.rbegin(); d != divisors_.rend(); ++d) {
            if (!factors_.empty() && *d < factors_.back()) return;
            if (*d > root || number % *d != 0) continue;
            factors_.push_back(*d);
            split(number / *d, count - 1);
            factors_.pop_back();
        }
    }
    void take(int last) {
        const int first = factors_.empty() ? last : factors_[0];
        if (last - first >= least_apart_) return;
        least_apart_ = last - first;
        found_ = factors_;
        found_.push_back(last);
    }

    const std::vector<int> divisors_;
    std::vector<int> factors_;
    std::vector<int> found_;
    double least_apart_{std::numeric_limits<double>::infinity()};
};

} // namespace

ODRC_MPI(Dims_create, (int nodes, int dims, int* sizes)) {
    constexpr const char* kCall = "MPI_Dims_create";
    if (nodes < 1 || dims < 0) return fail_in_world(MPI_ERR_DIMS, kCall);
    int rest = nodes, open = 0;
    for (int i = 0; i < dims; ++i) {
        if (sizes[i] < 0) return fail_in_world(MPI_ERR_DIMS, kCall);
        if (sizes[i] == 0) {
            ++open;
        } else {
            if (rest % sizes[i] != 0) return fail_in_world(MPI_ERR_DIMS, kCall);
            rest /= sizes[i];
        }
    }
    if (open == 0) return outcome_in_world(rest == 1 ? MPI_SUCCESS : MPI_ERR_DIMS, kCall);
    const CloseFactors factors{rest, open};
    auto next = factors.get().rbegin(); // the greatest comes first
    for (int i = 0; i < dims; ++i)
        if (sizes[i] == 0) sizes[i] = *next++;
    return MPI_SUCCESS;
}

// Ranks stay what they are.
ODRC_MPI(Cart_create,
         (MPI_Comm comm, int dims, const int* sizes, const int* periods, int, MPI_Comm* made)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Cart_create");
    auto grid = dims >= 0 ? make_grid(dims, sizes, periods) : std::nullopt;
    if (!grid || grid->size() > c->size()) return c->outcome(MPI_ERR_DIMS, "MPI_Cart_create");
    const int size = grid->size();
    std::optional<std::vector<int>> ranks;
    if (c->rank() < size) {
        const auto first = c->group().ranks().first(static_cast<size_t>(size));
        ranks.emplace(first.begin(), first.end());
    }
    Communicator* created = nullptr;
    const int error = make_communicator(*c, std::move(ranks), created);
    if (created) created->grid = std::move(grid);
    *made = created ? created->handle() : MPI_COMM_NULL;
    return c->outcome(error, "MPI_Cart_create");
}

ODRC_MPI(Cartdim_get, (MPI_Comm comm, int* dims)) {
    int error = MPI_SUCCESS;
    if (const Communicator* c = with_grid(comm, "MPI_Cartdim_get", error))
        *dims = static_cast<int>(c->grid->dimensions.size());
    return error;
}

ODRC_MPI(Cart_get, (MPI_Comm comm, int most, int* sizes, int* periods, int* coordinates)) {
    int error = MPI_SUCCESS;
    Communicator* c = with_grid(comm, "MPI_Cart_get", error);
    if (!c) return error;
    const auto& dimensions = c->grid->dimensions;
    if (most < static_cast<int>(dimensions.size())) return c->outcome(MPI_ERR_ARG, "MPI_Cart_get");
    std::ranges::copy(c->grid->coordinates_of(c->rank()), coordinates);
    for (const Grid::Dimension& d : dimensions) {
        *sizes++ = d.size;
        *periods++ = d.periodic;
    }
    return MPI_SUCCESS;
}

ODRC_MPI(Cart_rank, (MPI_Comm comm, const int* coordinates, int* rank)) {
    int error = MPI_SUCCESS;
    Communicator* c = with_grid(comm, "MPI_Cart_rank", error);
    if (!c) return error;
    *rank = c->grid->rank_of({coordinates, c->grid->dimensions.size()});
    return c->outcome(*rank == MPI_PROC_NULL ? MPI_ERR_ARG : MPI_SUCCESS, "MPI_Cart_rank");
}

ODRC_MPI(Cart_coords, (MPI_Comm comm, int rank, int most, int* coordinates)) {
    int error = MPI_SUCCESS;
    Communicator* c = with_grid(comm, "MPI_Cart_coords", error);
    if (!c) return error;
    if (rank < 0 || rank >= c->size()) return c->outcome(MPI_ERR_RANK, "MPI_Cart_coords");
    if (most < static_cast<int>(c->grid->dimensions.size()))
        return c->outcome(MPI_ERR_ARG, "MPI_Cart_coords");
    std::ranges::copy(c->grid->coordinates_of(rank), coordinates);
    return MPI_SUCCESS;
}

ODRC_MPI(Cart_shift, (MPI_Comm comm, int direction, int displacement, int* source, int* dest)) {
    int error = MPI_SUCCESS;
    Communicator* c = with_grid(comm, "MPI_Cart_shift", error);
    if (!c) return error;
    if (direction < 0 || direction >= static_cast<int>(c->grid->dimensions.size()))
        return c->outcome(MPI_ERR_ARG, "MPI_Cart_shift");
    const auto at = [&](int by) {
        std::vector<int> coordinates = c->grid->coordinates_of(c->rank());
        coordinates[static_cast<size_t>(direction)] += by;
        return c->grid->rank_of(coordinates);
    };
    *source = at(-displacement);
    *dest = at(displacement);
    return MPI_SUCCESS;
}

// Those whose other coordinates are the same.
ODRC_MPI(Cart_sub, (MPI_Comm comm, const int* remain, MPI_Comm* made)) {
    int error = MPI_SUCCESS;
    Communicator* c = with_grid(comm, "MPI_Cart_sub", error);
    if (!c) return error;
    Grid kept, others;
    std::vector<int> place, other_place;
    const std::vector<int> coordinates = c->grid->coordinates_of(c->rank());
    for (size_t i = 0; i < coordinates.size(); ++i) {
        (remain[i] ? kept : others).dimensions.push_back(c->grid->dimensions[i]);
        (remain[i] ? place : other_place).push_back(coordinates[i]);
    }
    error = PMPI_Comm_split(comm, others.rank_of(other_place), kept.rank_of(place), made);
    if (error == MPI_SUCCESS) Communicator::of(*made)->grid = std::move(kept);
    return error;
}

ODRC_MPI(Cart_map, (MPI_Comm comm, int dims, const int* sizes, const int* periods, int* rank)) {
    Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Cart_map");
    const auto grid = make_grid(dims, sizes, periods);
    if (!grid || grid->size() > c->size()) return c->outcome(MPI_ERR_DIMS, "MPI_Cart_map");
    *rank = c->rank() < grid->size() ? c->rank() : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

ODRC_MPI(Topo_test, (MPI_Comm comm, int* kind)) {
    const Communicator* c = Communicator::of(comm);
    if (!c) return fail_in_world(MPI_ERR_COMM, "MPI_Topo_test");
    *kind = c->grid ? MPI_CART : MPI_UNDEFINED;
    return MPI_SUCCESS;
}
