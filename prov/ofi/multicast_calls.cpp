// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Messages to groups, for which nobody posts a receive (fi_odrc.h).

#include "ofi/multicast_calls.hpp"

#include "ofi/attributes.hpp"
#include "ofi/calls.hpp"

namespace odrc::ofi {
namespace {

ssize_t send(fid_ep* f, fid_mc* group, const void* data, size_t length, uint64_t flags,
             void* context) {
    if (flags & ~(FI_COMPLETION | FI_ODRC_ORDERED)) return -FI_EBADFLAGS;
    Endpoint& ep = endpoint(f);
    if (!ep.enabled()) return -FI_EOPBADSTATE;
    const bool wanted = ep.with_transmit_completion(flags) & FI_COMPLETION;
    const Entry entry{ep.gate()};
    return ep.collectives().multicast().send({.group = fi_mc_addr(group),
                                              .data = data,
                                              .length = length,
                                              .context = context,
                                              .wanted = wanted,
                                              .ordered = (flags & FI_ODRC_ORDERED) != 0});
}

ssize_t receive(fid_ep* f, fid_mc* group, fi_odrc_multicast* message) {
    Endpoint& ep = endpoint(f);
    if (!ep.enabled()) return -FI_EOPBADSTATE;
    const Entry entry{ep.gate()};
    ep.engine().progress();
    transfer::IncomingMulticast* found = nullptr;
    const ssize_t result = ep.collectives().multicast().receive(fi_mc_addr(group), found);
    if (result == 1)
        *message = {.data = found->bytes(),
                    .length = found->what.length,
                    .source = ep.collectives().multicast().source_of(*found, fi_mc_addr(group)),
                    .order = found->what.number,
                    .held = found};
    return result;
}

void release(fid_ep* f, fid_mc* group, fi_odrc_multicast* message) {
    Endpoint& ep = endpoint(f);
    const Entry entry{ep.gate()};
    ep.collectives().multicast().release(fi_mc_addr(group),
                                         *static_cast<transfer::IncomingMulticast*>(message->held));
}

} // namespace

fi_odrc_multicast_ops multicast_ops = {
    .size = sizeof multicast_ops, .send = send, .receive = receive, .release = release};

static_assert(FI_ODRC_MULTICAST_MAX == transfer::kMaxMulticast);
static_assert(FI_ODRC_UNORDERED == transfer::kUnordered);

} // namespace odrc::ofi
