// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/tally.hpp"

namespace odrc::transfer {

Tally::Tally(bool many_threads, bool waitable)
    : lock_{many_threads}
    , bell_{waitable} {}

void Tally::add(const Numbers& more) noexcept {
    const std::lock_guard guard{lock_};
    numbers_.successes += more.successes;
    numbers_.errors += more.errors;
    bell_.ring();
}

void Tally::set_successes(uint64_t value) noexcept {
    const std::lock_guard guard{lock_};
    numbers_.successes = value;
    bell_.ring();
}

void Tally::set_errors(uint64_t value) noexcept {
    const std::lock_guard guard{lock_};
    numbers_.errors = value;
    bell_.ring();
}

Tally::Numbers Tally::numbers() const noexcept {
    const std::lock_guard guard{lock_};
    return numbers_;
}

void Tally::arm() noexcept {
    const std::lock_guard guard{lock_};
    bell_.arm();
}

} // namespace odrc::transfer
