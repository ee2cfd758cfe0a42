// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// What all of a team have to agree upon before any goes on. Meanwhile messages are handled.

#include "bench/patterns/messenger.hpp"

namespace bench {

class Agreement {
public:
    explicit Agreement(Messenger& messenger);

    // The sum of everybody's number. All call it, in the same order.
    uint64_t sum(uint64_t mine);

    // Returns when all have come.
    void barrier() { sum(0); }

private:
    void contribute(uint64_t number);

    Messenger& messenger_;
    // At member 0. Nobody is two rounds ahead: none is over before all have come.
    int contributions_{0};
    uint64_t total_{0};
    uint64_t rounds_{0};
    uint64_t result_{0};
};

} // namespace bench
