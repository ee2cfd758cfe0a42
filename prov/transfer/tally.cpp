// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/tally.hpp"

#include <utility>

namespace odrc::transfer {

Tally::Tally(bool many_threads, bool waitable)
    : lock_{many_threads}
    , bell_{waitable} {}

void Tally::count(int error) noexcept {
    const std::lock_guard guard{lock_};
    ++(error ? numbers_.errors : numbers_.successes);
    bell_.ring();
}

void Tally::add(const Numbers& more) noexcept {
    change([&] {
        numbers_.successes += more.successes;
        numbers_.errors += more.errors;
    });
}

void Tally::set_successes(uint64_t value) noexcept {
    change([&] { numbers_.successes = value; });
}

void Tally::set_errors(uint64_t value) noexcept {
    change([&] { numbers_.errors = value; });
}

template <class Change>
void Tally::change(const Change& change) noexcept {
    const std::lock_guard guard{lock_};
    change();
    known_ = numbers_;
    bell_.ring();
}

Tally::Numbers Tally::numbers() const noexcept {
    const std::lock_guard guard{lock_};
    return numbers_;
}

bool Tally::take_news() noexcept {
    const std::lock_guard guard{lock_};
    return std::exchange(known_, numbers_) != numbers_;
}

void Tally::arm() noexcept {
    const std::lock_guard guard{lock_};
    bell_.arm();
}

} // namespace odrc::transfer
