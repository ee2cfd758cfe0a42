// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Broadcasts that all get in the same order, their senders as well: updates of objects of which
// everybody has a replica, as in Orca.

#include "bench/patterns/messenger.hpp"
#include "fabtests_ext/support/command_line.hpp"

#include <memory>
#include <string>

namespace bench {

class TotalOrder {
public:
    // May send, but not wait.
    using Handler = std::function<void(int from, Bytes)>;

    virtual ~TotalOrder() = default;

    // Does not wait until it has come anywhere.
    virtual void broadcast(Bytes bytes) = 0;
};

// How: by one of the two below, or by the first where the provider has it.
struct Ordering {
    std::string by{"auto"}; // or "multicast", or "fetch-add"
    // For the messenger of who wants that.
    Messenger::Groups groups() const noexcept {
        return by == "fetch-add" ? Messenger::Groups::none : Messenger::Groups::if_offered;
    }
};
void add_ordering(fabtests_ext::CommandLine& command, Ordering& ordering);

// All of the team call it; most_bytes: of a broadcast. Throws where there is no such way.
std::unique_ptr<TotalOrder> make_order(const Ordering& ordering, Messenger& messenger,
                                       size_t most_bytes, TotalOrder::Handler handler);

// Of a provider that has groups with messages in order (group.hpp).
std::unique_ptr<TotalOrder> order_by_multicast(Messenger& messenger, TotalOrder::Handler handler);

// Of any provider with messages and atomics.
std::unique_ptr<TotalOrder> order_by_fetch_and_add(Messenger& messenger,
                                                   TotalOrder::Handler handler);

} // namespace bench
