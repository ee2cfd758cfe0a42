// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Each broadcast is a message to a group whose members get all in one order: the provider numbers
// them and puts them in order, and passes them on.

#include "bench/patterns/group.hpp"
#include "bench/patterns/total_order.hpp"

namespace bench {
namespace {

class OrderedGroup : public TotalOrder {
public:
    OrderedGroup(Messenger& messenger, Handler handler)
        : group_{messenger, std::move(handler)} {}

    void broadcast(Bytes bytes) override { group_.send(bytes, FI_ODRC_ORDERED); }

private:
    Group group_;
};

} // namespace

std::unique_ptr<TotalOrder> order_by_multicast(Messenger& messenger, TotalOrder::Handler handler) {
    return std::make_unique<OrderedGroup>(messenger, std::move(handler));
}

} // namespace bench
