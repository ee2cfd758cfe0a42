// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/counters.hpp"

#include <iterator>

namespace odrc {

// Under which names the counters are reported.
struct CounterName {
    const char* name;
    uint64_t Counters::*value;
    bool of_now{false}; // goes down, too: says nothing when all is over
};
inline constexpr CounterName kCounterNames[] = {
    {"peers", &Counters::peers},
    {"connections_made", &Counters::connections_made},
    {"connections", &Counters::connections, true},
    {"connections_peak", &Counters::connections_peak},
    {"connections_waiting", &Counters::connections_waiting, true},
    {"connections_wiring", &Counters::connections_wiring, true},
    {"connections_leaving", &Counters::connections_leaving, true},
    {"connections_answered", &Counters::connections_answered},
    {"connections_crossed", &Counters::connections_crossed},
    {"connections_evicted", &Counters::connections_evicted},
    {"connections_deepened", &Counters::connections_deepened},
    {"connections_soft", &Counters::connections_soft},
    {"connections_replaced", &Counters::connections_replaced},
    {"peers_called", &Counters::peers_called},
    {"promotions", &Counters::promotions},
    {"demotions", &Counters::demotions},
    {"repeats_dropped", &Counters::repeats_dropped},
    {"line_ns", &Counters::line_ns},
    {"request_ns", &Counters::request_ns},
    {"accept_ns", &Counters::accept_ns},
    {"leave_ns", &Counters::leave_ns},
    {"published_bytes", &Counters::published_bytes},
    {"wireup_datagrams", &Counters::wireup_datagrams},
    {"wireup_bytes", &Counters::wireup_bytes},
    {"wireup_refused", &Counters::wireup_refused},
    {"messages_sent", &Counters::messages_sent},
    {"messages_received", &Counters::messages_received},
    {"bytes_sent", &Counters::bytes_sent},
    {"bytes_received", &Counters::bytes_received},
    {"rma_operations", &Counters::rma_operations},
    {"rma_bytes", &Counters::rma_bytes},
    {"atomics", &Counters::atomics},
    {"posts", &Counters::posts},
    {"unexpected", &Counters::unexpected},
    {"srq_buffers_peak", &Counters::srq_buffers_peak},
    {"srq_low_watermark_events", &Counters::srq_low_watermark_events},
    {"unexpected_bytes_peak", &Counters::unexpected_bytes_peak},
    {"credit_waits", &Counters::credit_waits},
    {"credit_grants", &Counters::credit_grants},
    {"ring_peers", &Counters::ring_peers},
    {"registrations", &Counters::registrations},
    {"registrations_found", &Counters::registrations_found},
    {"memory_bytes", &Counters::memory_bytes, true},
    {"memory_bytes_peak", &Counters::memory_bytes_peak},
    {"registered_bytes", &Counters::registered_bytes, true},
    {"registered_bytes_peak", &Counters::registered_bytes_peak},
    {"packets_sent", &Counters::packets_sent},
    {"packets_repeated", &Counters::packets_repeated},
    {"acknowledgements", &Counters::acknowledgements},
    {"packets_received", &Counters::packets_received},
    {"packets_doubled", &Counters::packets_doubled},
    {"packets_kept", &Counters::packets_kept},
    {"packets_early", &Counters::packets_early},
    {"packets_stray", &Counters::packets_stray},
    {"packets_malformed", &Counters::packets_malformed},
    {"watchdog_patience_ns", &Counters::watchdog_patience_ns},
    {"watchdog_batches", &Counters::watchdog_batches},
    {"multicast_sent", &Counters::multicast_sent},
    {"multicast_forwarded", &Counters::multicast_forwarded},
    {"multicast_received", &Counters::multicast_received},
    {"inline_bytes_most", &Counters::inline_bytes_most},
    {"copy_bytes_most", &Counters::copy_bytes_most},
    {"unregistered_bytes_most", &Counters::unregistered_bytes_most},
    {"eager_bytes_most", &Counters::eager_bytes_most},
    {"sliced_bytes_most", &Counters::sliced_bytes_most},
};
static_assert(sizeof(Counters) == std::size(kCounterNames) * sizeof(uint64_t), "each has a name");

} // namespace odrc
