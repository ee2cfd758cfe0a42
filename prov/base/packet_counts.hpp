// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstdint>

namespace odrc {

// What goes over connections that a process keeps itself (prov/hostrc). Whoever keeps them counts
// here, and nobody else.
struct PacketCounts {
    uint64_t packets_sent{0};     // all that went out: also those again, and acknowledgements
    uint64_t packets_repeated{0}; // went out again
    uint64_t acknowledgements{0}; // went out for nothing else
    uint64_t packets_received{0}; // all that came, also those that were dropped
    uint64_t packets_doubled{0};  // came again
    uint64_t packets_kept{0};     // came before others that were to come first, and waited for them
    uint64_t packets_early{0};    // likewise, but were dropped
    uint64_t packets_stray{0};    // came, and belonged to no connection
    uint64_t packets_malformed{0}; // came cut off, or of another version

    uint64_t packets_dropped() const noexcept {
        return packets_doubled + packets_early + packets_stray + packets_malformed;
    }
};

} // namespace odrc
