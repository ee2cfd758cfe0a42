// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace odrc {

// FI_ODRC_CONNECT: when an endpoint connects to its peers.
enum class Connect : uint8_t {
    automatic, // on demand, unless a program is prepared for it (ondemand/connect_rule.hpp)
    ondemand,  // to each at the first word
    all,       // to all processes of the job, by their addresses
};

// FI_ODRC_INTRANODE: over what an endpoint of another device meets those of its own host.
enum class Intranode : uint8_t {
    automatic, // soft0, where both have it
    soft,      // likewise; who is not met there is told of in the log
    device,    // the domain's device
};

// FI_ODRC_RELIABILITY: who sees to it that what is sent arrives, once each and in its order.
enum class Reliability : uint8_t {
    automatic, // as nic for the first peers, and as ladder for those that come when they are many
    ladder,    // to begin with as host; for a peer that is talked to often, as nic
    nic,       // the device
    host,      // the processes at both ends, over the device's datagrams
};

// FI_ODRC_EAGER: how short messages come in.
enum class Eager : uint8_t {
    automatic, // over a shared receive queue, and rings for the peers that send most
    srq,       // over a shared receive queue
    ring_srq,  // likewise, and rings for the first peers that send something
    ring_recv, // the same with receives of each connection's own, to compare with
};

// FI_ODRC_BROADCAST: how a message goes to the members of a group.
enum class Broadcast : uint8_t {
    automatic, // as packets along a tree, which size and members choose; long ones as messages
    binary,    // along that tree (transfer/multicast_tree.hpp)
    binomial,
    knomial,
    chain,
    message, // broadcasts go as messages, from round to round, to compare with
};

// The FI_ODRC_* environment variables, as fi_info -e lists them and fi_odrc(7) explains them.
struct Parameters {
    std::string device;  // FI_ODRC_DEVICE: names of the devices that may be used; empty: all
    std::string profile; // FI_ODRC_PROFILE: where to write profiles; empty: nowhere

    std::string key; // FI_ODRC_KEY: that of endpoints without an auth_key; empty: none
    Broadcast broadcast{Broadcast::automatic};
    Connect connect{Connect::automatic};
    // FI_ODRC_CROSSOVERS: up to how many bytes something goes inline, is copied, goes in its frame,
    // and in several (transfer/crossovers.hpp); none: what there was before they were measured.
    bool measures_crossovers{true};
    std::optional<std::array<uint32_t, 4>> crossovers;
    Eager eager{Eager::automatic};
    Intranode intranode{Intranode::automatic};
    Reliability reliability{Reliability::automatic};

    static constexpr uint32_t kMostMtu = 4096; // that there is (IBTA 1.4, 7.7.8)
    uint32_t mtu{kMostMtu};                    // FI_ODRC_MTU: of connections, where there is more

    size_t memory{size_t{4} << 20}; // FI_ODRC_MEMORY: of an endpoint's buffers, in bytes

    size_t max_qp{0}; // FI_ODRC_MAX_QP: queue pairs of an endpoint; 0: its share of the device's

    // FI_ODRC_CACHE_COUNT and FI_ODRC_CACHE_BYTES: what a domain keeps registered at most; 0 of
    // either: no cache
    static constexpr size_t kAutomatic = SIZE_MAX;
    size_t cache_count{4096};
    size_t cache_bytes{kAutomatic};
};

// Announces the parameters to libfabric and reads them. Called once, when the library is loaded.
void define_parameters() noexcept;

const Parameters& parameters() noexcept;

} // namespace odrc
