// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/bell.hpp"
#include "base/spin_lock.hpp"

#include <cstdint>
#include <mutex>

namespace odrc::transfer {

// Where operations are counted when they end, well or not: the two numbers behind a fi_cntr.
// Where threads come one at a time, all calls are made inside the domain's gate, and nothing is
// locked here.
class Tally {
public:
    struct Numbers {
        uint64_t successes;
        uint64_t errors;
        bool operator==(const Numbers&) const = default;
    };

    // Throws Error. waitable: somebody may sleep until the numbers change.
    Tally(bool many_threads, bool waitable);

    // An operation has ended. error: a fi_errno value; 0: it went well.
    void count(int error) noexcept;

    // The application's own changes, which are no news to it.
    void add(const Numbers& more) noexcept;
    void set_successes(uint64_t value) noexcept;
    void set_errors(uint64_t value) noexcept;

    Numbers numbers() const noexcept;
    // Whether they have changed since they were news last.
    bool take_news() noexcept;

    // Readable when the numbers changed after arm(); -1 where nobody may sleep.
    int fd() const noexcept { return bell_.fd(); }
    void arm() noexcept;

private:
    template <class Change>
    void change(const Change& change) noexcept;

    mutable OptionalLock lock_;
    Numbers numbers_{};
    Numbers known_{}; // to the application
    Bell bell_;
};

// What an endpoint counts, by the kind of operation; null where nobody wants to know.
struct Tallies {
    Tally* sent{nullptr};
    Tally* received{nullptr};
    Tally* read{nullptr};
    Tally* written{nullptr};
    Tally* read_by_peers{nullptr};
    Tally* written_by_peers{nullptr};
};

} // namespace odrc::transfer
