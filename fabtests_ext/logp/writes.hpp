// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "side.hpp"

namespace fabtests_ext::logp {

// Writes into the peer's memory. That one has come is known from its last byte, which another
// value comes to each time.
class Writes : public Side {
public:
    Writes(Team& team, const Choice& choice, size_t bytes);

    size_t limit() const noexcept { return out_.size(); }
    void begin(size_t size);

    void send();
    // Until the next one has come. A provider may need calls to take it in: now and then.
    void receive() {
        const volatile char& last = in_.data()[size_ - 1];
        unsigned looks = 0;
        spin_until([&] {
            if (last == expected_) return true;
            if (++looks % kLooks == 0) reap();
            return false;
        });
        expected_ = after(expected_);
    }
    void prepare() noexcept {}

    // So many one way, the last of which is told from the others. Gives the microseconds of each.
    double stream(size_t count);

private:
    static constexpr unsigned kLooks = 16;
    // Of how many writes one asks for a completion, and how many may be under way.
    static constexpr size_t kHalf = 32, kWindow = 2 * kHalf;

    // Never 0, which is what is there at the beginning.
    static char after(char value) noexcept { return value == 127 ? char{1} : char(value + 1); }

    Target target_;
    size_t size_{1};
    char next_{1}, expected_{1};
};

// Additions to a word of the peer's, each of which gives what was there.
class Additions : public Side {
public:
    Additions(Team& team, const Choice& choice);

    // So many, one after the other, which the other side sees to. Gives the microseconds of each.
    double add(size_t count);

private:
    Target target_;
    uint64_t total_{0};
};

} // namespace fabtests_ext::logp
