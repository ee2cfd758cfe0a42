// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "bench/patterns/total_order.hpp"

#include "bench/patterns/group.hpp"

namespace bench {

void add_ordering(fabtests_ext::CommandLine& command, Ordering& ordering) {
    command
        .option("--order", ordering.by,
                "how updates come in one order: multicast (the provider's groups), fetch-add "
                "(messages of their own, with numbers), or the first that there is")
        .one_of({"auto", "multicast", "fetch-add"});
}

std::unique_ptr<TotalOrder> make_order(const Ordering& ordering, Messenger& messenger,
                                       size_t most_bytes, TotalOrder::Handler handler) {
    const bool has_groups = ordering.by != "fetch-add" && Group::carries(messenger, most_bytes);
    if (ordering.by == "multicast" && !has_groups)
        throw std::runtime_error{"the provider has no groups that take such broadcasts"};
    return has_groups ? order_by_multicast(messenger, std::move(handler))
                      : order_by_fetch_and_add(messenger, std::move(handler));
}

} // namespace bench
