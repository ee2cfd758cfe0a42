// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/statistics.hpp"

#include "ofi/endpoint.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace odrc::ofi {
namespace {

static_assert(sizeof(fi_odrc_by_size) == sizeof(BySize));

fi_odrc_statistics statistics_of(const transfer::Engine& engine) noexcept {
    const Counters& c = engine.counters();
    return {.peers = c.peers,
            .connections_made = c.connections_made,
            .connections = c.connections,
            .connections_peak = c.connections_peak,
            .wireup_datagrams = c.wireup_datagrams,
            .wireup_bytes = c.wireup_bytes,
            .messages_sent = c.messages_sent,
            .messages_received = c.messages_received,
            .bytes_sent = c.bytes_sent,
            .bytes_received = c.bytes_received,
            .rma_operations = c.rma_operations,
            .rma_bytes = c.rma_bytes,
            .atomics = c.atomics,
            .posts = c.posts,
            .unexpected = c.unexpected,
            .registrations = c.registrations,
            .registrations_found = c.registrations_found,
            .memory_bytes = c.memory_bytes,
            .memory_bytes_peak = c.memory_bytes_peak,
            .rnr = engine.rnr_naks(),
            .connections_evicted = c.connections_evicted,
            .connections_waiting = c.connections_waiting,
            .connections_wiring = c.connections_wiring,
            .connections_leaving = c.connections_leaving,
            .connections_answered = c.connections_answered,
            .connections_crossed = c.connections_crossed,
            .line_ns = c.line_ns,
            .request_ns = c.request_ns,
            .accept_ns = c.accept_ns,
            .leave_ns = c.leave_ns,
            .wireup_refused = c.wireup_refused,
            .connections_replaced = c.connections_replaced,
            .repeats_dropped = c.repeats_dropped,
            .published_bytes = c.published_bytes,
            .connections_deepened = c.connections_deepened,
            .connections_soft = c.connections_soft,
            .srq_buffers_peak = c.srq_buffers_peak,
            .srq_low_watermark_events = c.srq_low_watermark_events,
            .unexpected_bytes_peak = c.unexpected_bytes_peak,
            .credit_waits = c.credit_waits,
            .credit_grants = c.credit_grants,
            .registered_bytes = c.registered_bytes,
            .registered_bytes_peak = c.registered_bytes_peak,
            .sent_eager = std::bit_cast<fi_odrc_by_size>(engine.traffic().eager),
            .sent_announced = std::bit_cast<fi_odrc_by_size>(engine.traffic().announced),
            .ring_peers = c.ring_peers,
            .sent_ring = std::bit_cast<fi_odrc_by_size>(engine.traffic().ring),
            .packets_repeated = c.packets_repeated,
            .packets_doubled = c.packets_doubled,
            .packets_early = c.packets_early,
            .packets_stray = c.packets_stray,
            .acknowledgements = c.acknowledgements,
            .promotions = c.promotions,
            .demotions = c.demotions,
            .watchdog_patience_ns = c.watchdog_patience_ns,
            .watchdog_batches = c.watchdog_batches,
            .multicast_sent = c.multicast_sent,
            .multicast_forwarded = c.multicast_forwarded,
            .multicast_received = c.multicast_received,
            .inline_bytes_most = c.inline_bytes_most,
            .copy_bytes_most = c.copy_bytes_most,
            .unregistered_bytes_most = c.unregistered_bytes_most,
            .eager_bytes_most = c.eager_bytes_most,
            .packets_sent = c.packets_sent,
            .packets_received = c.packets_received,
            .packets_malformed = c.packets_malformed,
            .packets_kept = c.packets_kept,
            .sent_sliced = std::bit_cast<fi_odrc_by_size>(engine.traffic().sliced),
            .sliced_bytes_most = c.sliced_bytes_most};
}

ssize_t read_statistics(fid_ep* ep, fi_odrc_statistics* out, size_t size) {
    auto& endpoint = static_cast<Endpoint&>(*ep);
    if (!endpoint.enabled()) return -FI_EOPBADSTATE;
    const Entry entry{endpoint.gate()};
    const fi_odrc_statistics now = statistics_of(endpoint.engine());
    const size_t given = std::min(size, sizeof now);
    std::memcpy(out, &now, given);
    return static_cast<ssize_t>(given);
}

} // namespace

fi_odrc_statistics_ops statistics_ops = {.size = sizeof statistics_ops, .read = read_statistics};

} // namespace odrc::ofi
