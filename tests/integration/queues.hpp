// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Queues, counters and endpoints beside those that an endpoint of duo.hpp has.

#include "duo.hpp"

namespace duo {

// What a program may sleep on without having it itself.
inline constexpr fi_wait_obj kSleepy[] = {FI_WAIT_UNSPEC, FI_WAIT_FD, FI_WAIT_POLLFD,
                                          FI_WAIT_YIELD};

inline Owned<fid_cq> open_cq(const Endpoint& endpoint, fi_cq_attr attr, void* context = nullptr) {
    fid_cq* cq = nullptr;
    REQUIRE(fi_cq_open(endpoint.domain(), &attr, &cq, context) == 0);
    return Owned<fid_cq>{cq};
}

inline Owned<fid_cntr> open_counter(const Endpoint& endpoint, fi_cntr_attr attr = {},
                                    void* context = nullptr) {
    fid_cntr* counter = nullptr;
    REQUIRE(fi_cntr_open(endpoint.domain(), &attr, &counter, context) == 0);
    return Owned<fid_cntr>{counter};
}

// An endpoint beside the first one, with these queues.
inline Owned<fid_ep> open_endpoint(const Endpoint& beside, fid_cq& transmit, fid_cq& receive,
                                   fid_cntr* counter = nullptr) {
    fid_ep* ep = nullptr;
    auto* info = const_cast<fi_info*>(&beside.info());
    REQUIRE(fi_endpoint(beside.domain(), info, &ep, nullptr) == 0);
    Owned<fid_ep> owned{ep};
    REQUIRE(fi_ep_bind(ep, &beside.av()->fid, 0) == 0);
    REQUIRE(fi_ep_bind(ep, &transmit.fid, FI_TRANSMIT) == 0);
    REQUIRE(fi_ep_bind(ep, &receive.fid, FI_RECV) == 0);
    if (counter) REQUIRE(fi_ep_bind(ep, &counter->fid, FI_RECV) == 0);
    REQUIRE(fi_enable(ep) == 0);
    return owned;
}

} // namespace duo
