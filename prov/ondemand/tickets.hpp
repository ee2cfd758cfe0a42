// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ondemand/address.hpp"

#include <array>

namespace odrc::ondemand {

// What a stranger has to show before anything is kept of it: a number that it got from us at the
// address from which it says so. None is kept here: each can be made again of the address, of the
// stranger's own number, and of a secret.
class Tickets {
public:
    Tickets() { renew(); }
    Tickets(const Tickets&) = delete;
    Tickets& operator=(const Tickets&) = delete;
    ~Tickets();

    uint64_t of(const Address& from, uint64_t endpoint) const noexcept; // never 0

    // Those that were given are worth nothing any more.
    void renew() noexcept;

private:
    std::array<unsigned char, 16> secret_;
};

} // namespace odrc::ondemand
