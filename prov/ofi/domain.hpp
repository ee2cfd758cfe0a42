// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/gate.hpp"
#include "base/host.hpp"
#include "base/watchdog.hpp"
#include "ofi/domain_memory.hpp"
#include "ofi/fabric.hpp"
#include "ofi/region_counters.hpp"
#include "ondemand/seal.hpp"
#include "transfer/crossovers.hpp"
#include "verbs_rc/adapter.hpp"

#include <optional>

namespace odrc::ofi {

// fi_domain(3): an opened device port, and the rules about threads that the application keeps.
class Domain : public fid_domain {
public:
    using Fid = fid_domain;
    // Throws Error.
    Domain(Fabric& fabric, const fi_info& info, void* context);

    verbs::Adapter& adapter() noexcept { return adapter_; }
    // soft0, on which endpoints meet those of their own host, beside the device of the domain. Null
    // where they do not.
    verbs::Adapter* soft() noexcept { return soft_ ? &*soft_ : nullptr; }
    // The domain's device once more, with connections that the processes at both ends keep over its
    // datagrams: for peers who have not earned others. Null where all have them from the beginning.
    verbs::Adapter* datagrams() noexcept { return datagrams_ ? &*datagrams_ : nullptr; }
    Watchdog& watchdog() noexcept { return watchdog_; }
    // Of soft0, wherever that is among the devices.
    DomainMemory& memory() noexcept { return *memory_; }
    RegionCounters& region_counters() noexcept { return region_counters_; }

    // Transfers name the local keys of their memory (FI_MR_LOCAL); else their descriptors mean
    // nothing.
    bool keys_given() const noexcept { return keys_given_; }

    // Endpoints make progress while the application does not: FI_PROGRESS_AUTO, or because its
    // peers' connections break else.
    bool automatic() const noexcept { return automatic_; }

    // Of the device, and of soft0 beside it.
    const transfer::CrossoversOfDomain& crossovers() const noexcept { return crossovers_; }

    // Peers may have the device change words of regions by itself (FI_ATOMIC).
    bool device_atomics() const noexcept { return device_atomics_; }

    // Of endpoints that have no key of their own.
    const ondemand::Seal& seal() const noexcept { return seal_; }

    // The application's threads come one at a time to the whole domain. Then all of it has one
    // gate; otherwise each endpoint has its own.
    bool one_thread() const noexcept { return one_thread_; }
    Gate& gate() noexcept { return gate_; }

    std::atomic<int> leaning{0};

private:
    void open_soft() noexcept;
    void open_datagrams() noexcept;
    Gate::Kind threads() const noexcept {
        return one_thread_ ? Gate::Kind::one_thread : Gate::Kind::many_threads;
    }

    Leaning on_fabric_;
    const bool one_thread_;
    Gate gate_;
    Watchdog watchdog_;
    verbs::Adapter adapter_;
    const bool automatic_;
    transfer::CrossoversOfDomain crossovers_;
    std::optional<verbs::Adapter> soft_;
    std::unique_ptr<verbs::Device> datagram_device_;
    std::optional<verbs::Adapter> datagrams_;
    std::optional<DomainMemory> memory_;
    RegionCounters region_counters_;
    const bool keys_given_;
    const bool device_atomics_;
    const ondemand::Seal seal_;
    std::optional<Looker> looker_; // where one looks for all endpoints
};

} // namespace odrc::ofi
