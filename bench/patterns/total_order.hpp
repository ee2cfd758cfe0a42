// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Broadcasts that all get in the same order, their senders as well: updates of objects of which
// everybody has a replica, as in Orca.

#include "bench/patterns/messenger.hpp"

#include <memory>

namespace bench {

class TotalOrder {
public:
    // May send, but not wait.
    using Handler = std::function<void(int from, Bytes)>;

    virtual ~TotalOrder() = default;

    // Does not wait until it has come anywhere.
    virtual void broadcast(Bytes bytes) = 0;
};

// Of any provider with messages and atomics.
std::unique_ptr<TotalOrder> order_by_fetch_and_add(Messenger& messenger,
                                                   TotalOrder::Handler handler);

} // namespace bench
