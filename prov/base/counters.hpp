// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/packet_counts.hpp"

#include <algorithm>
#include <cstdint>

namespace odrc {

// What an endpoint counts, always. The names are those of the profile (fi_odrc(7)).
struct Counters : PacketCounts {
    uint64_t peers{0};            // remote endpoints it has exchanged anything with
    uint64_t connections_made{0}; // queue pairs connected, whoever began
    uint64_t connections{0};      // connected now
    uint64_t connections_peak{0};
    uint64_t connections_waiting{0};  // peers that stand in line for a queue pair now
    uint64_t connections_wiring{0};   // in the making now
    uint64_t connections_leaving{0};  // asked to leave now
    uint64_t connections_answered{0}; // made, the peer having begun
    uint64_t connections_crossed{0};  // made, both having begun
    uint64_t connections_evicted{0};  // given up for others' sake, because we asked
    uint64_t connections_deepened{0}; // given up for deeper ones, because we asked
    uint64_t connections_soft{0};     // made over soft0, in a domain of another device
    uint64_t connections_replaced{0}; // made in the place of one that broke
    uint64_t peers_called{0};         // to whom first words went before they had answered
    uint64_t promotions{0};           // peers that went over from datagrams to a connection
    uint64_t demotions{0};            // and back, their queue pair being for another, or idle
    uint64_t repeats_dropped{0};      // frames that had come before, over one that broke
    // How long peers stood in line, our requests waited for an acceptance, our acceptances for a
    // confirmation, and peers were asked to leave: the sum of all.
    uint64_t line_ns{0};
    uint64_t request_ns{0};
    uint64_t accept_ns{0};
    uint64_t leave_ns{0};
    uint64_t wireup_datagrams{0}; // sent
    uint64_t wireup_bytes{0};     // sent
    uint64_t wireup_refused{0};   // that came, and of which nothing was made
    uint64_t published_bytes{0};  // of its address, which all peers get
    uint64_t messages_sent{0};
    uint64_t messages_received{0};
    uint64_t bytes_sent{0}; // user data, without headers
    uint64_t bytes_received{0};
    uint64_t rma_operations{0}; // reads and writes that this side began
    uint64_t rma_bytes{0};
    uint64_t atomics{0};          // that this side began
    uint64_t posts{0};            // calls that handed work requests to the device
    uint64_t unexpected{0};       // messages that came before their receive was posted
    uint64_t srq_buffers_peak{0}; // receives that waited for messages at a time, on one device
    uint64_t srq_low_watermark_events{0}; // times that few of these were left
    uint64_t unexpected_bytes_peak{0};    // of messages that waited for their receives
    uint64_t credit_waits{0};             // times that messages had to wait until a peer took more
    uint64_t credit_grants{0};            // frames that did nothing but let a peer send more
    uint64_t ring_peers{0};               // that had a ring to write into at a time, at most
    uint64_t registrations{0};            // of the program's memory, for transfers
    uint64_t registrations_found{0};      // that were there already
    uint64_t memory_bytes{0};
    uint64_t memory_bytes_peak{0}; // registered and buffer memory
    uint64_t registered_bytes{0};  // of that, what is registered
    uint64_t registered_bytes_peak{0};
    uint64_t watchdog_patience_ns{0}; // how long what comes is left to a program that polls
    uint64_t watchdog_batches{0};     // of completions that it took in in the program's stead
    uint64_t multicast_sent{0};       // packets to groups that began here
    uint64_t multicast_forwarded{0};  // that were passed on, to each member below by itself
    uint64_t multicast_received{0};
    // Up to how many bytes something goes inline on the domain's device, is copied if it does not,
    // or if it is in memory that is not registered, goes in its frame, and in several.
    uint64_t inline_bytes_most{0};
    uint64_t copy_bytes_most{0};
    uint64_t unregistered_bytes_most{0};
    uint64_t eager_bytes_most{0};
    uint64_t sliced_bytes_most{0};

    void connection_opened() noexcept {
        ++connections_made;
        connections_peak = std::max(connections_peak, ++connections);
    }
    void connection_closed() noexcept { --connections; }

    void memory_taken(uint64_t bytes) noexcept {
        memory_bytes += bytes;
        memory_bytes_peak = std::max(memory_bytes_peak, memory_bytes);
    }
    void memory_given_back(uint64_t bytes) noexcept { memory_bytes -= bytes; }
    void registered(uint64_t bytes) noexcept {
        memory_taken(bytes);
        registered_bytes += bytes;
        registered_bytes_peak = std::max(registered_bytes_peak, registered_bytes);
    }
    void deregistered(uint64_t bytes) noexcept {
        memory_given_back(bytes);
        registered_bytes -= bytes;
    }
};

} // namespace odrc
