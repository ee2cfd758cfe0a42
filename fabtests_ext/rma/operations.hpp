// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "fabtests_ext/logp/side.hpp"

#include <atomic>

namespace fabtests_ext::rma {

enum class Operation { write, read, add, fetch_add, compare_swap };

constexpr bool is_atomic(Operation operation) noexcept { return operation >= Operation::add; }

// Operations on the peer's memory, each of which asks for its completion. The peer makes progress
// until it is told that they are over.
class Operations : public logp::Side {
public:
    // over: how often the first side has been through, where both processes see it.
    Operations(Team& team, const Choice& choice, Operation operation, size_t bytes,
               std::atomic<unsigned>& over);

    // So many, at most a window of them under way at a time. Gives the microseconds of each, to the
    // side that does them.
    double run(size_t size, size_t count, size_t window);

private:
    void begin(size_t size);
    void update();

    Operation operation_;
    std::atomic<unsigned>& over_;
    unsigned rounds_{0};
    Target target_;
};

} // namespace fabtests_ext::rma
