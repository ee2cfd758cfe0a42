// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "verbs_rc/async_events.hpp"
#include "verbs_rc/objects.hpp"
#include "verbs_rc/region_table.hpp"
#include "verbs_rc/registration_cache.hpp"

#include <algorithm>
#include <optional>

namespace odrc::verbs {

// Memory of the application that the device knows for the time of one transfer: because it knows
// the whole memory of the process, which costs nothing; by a registration that is found in the
// cache and stays there; or by one of its own.
class Registration {
public:
    Registration() = default;
    Registration(uint32_t lkey, uint32_t rkey) noexcept
        : lkey_{lkey}
        , rkey_{rkey} {}
    Registration(Context& context, ibv_mr* mr) noexcept
        : mr_{context, mr}
        , lkey_{mr->lkey}
        , rkey_{mr->rkey}
        , fresh_{true} {}
    Registration(RegistrationCache::Use cached, bool fresh) noexcept
        : cached_{std::move(cached)}
        , lkey_{cached_->mr->lkey}
        , rkey_{cached_->mr->rkey}
        , fresh_{fresh} {}

    uint32_t lkey() const noexcept { return lkey_; }
    uint32_t rkey() const noexcept { return rkey_; }
    // Bytes that are pinned for this transfer, and perhaps for others at the time.
    size_t bytes() const noexcept { return cached_ ? cached_->mr->length : mr_ ? mr_->length : 0; }
    bool cached() const noexcept { return cached_ != nullptr; }
    // The device had to be told.
    bool fresh() const noexcept { return fresh_; }

private:
    Mr mr_;
    RegistrationCache::Use cached_;
    uint32_t lkey_{0};
    uint32_t rkey_{0};
    bool fresh_{false};
};

// An opened device port with the protection domain in which all its objects live: what the
// endpoints of one libfabric domain share.
class Adapter {
public:
    // threads: how they come that register memory. Throws Error.
    Adapter(const Device& device, Gate::Kind threads, Watchdog& watchdog);

    const Port& port() const noexcept { return port_; }
    Context& context() noexcept { return *context_; }
    ibv_pd* pd() const noexcept { return pd_.get(); }
    AsyncEvents& events() noexcept { return events_; }

    // The local key that covers all memory of the process, where the device offers one.
    std::optional<uint32_t> whole_memory_key() const noexcept {
        return whole_ ? std::optional{whole_->lkey} : std::nullopt;
    }

    // For what the application hands over (RegistrationCache::take).
    RegistrationCache::Moment now() const noexcept { return cache_ ? cache_->now() : 0; }

    // Registers for access (IBV_ACCESS_*). Gives 0 or a positive errno; logs the reason once.
    int register_memory(void* address, size_t length, int access,
                        RegistrationCache::Moment handed_over, Registration& out) noexcept;
    // Registers nothing: false if it is not registered for that.
    bool find_registered(const Range& memory, int access, RegistrationCache::Moment handed_over,
                         Registration& out) noexcept;
    // Registers pieces as one (RegistrationCache::take_together). 0 or a positive errno, in
    // silence, since what lies between them need not be memory.
    int register_together(std::span<Range> pieces, int access,
                          RegistrationCache::Moment handed_over, Registration& out) noexcept;

    // Memory that peers may reach by its key, until it is given back. Throws Error; logs likewise.
    Mr make_region(void* address, size_t length, int access);

    // Its pages may be others now (fi_mr_refresh(3)). 0 or a positive errno; logs likewise.
    int renew(ibv_mr& region) noexcept;

    // What the application has opened to its peers.
    RegionTable& regions() noexcept { return regions_; }

    // Whether the device changes words of 8 bytes at once, its own and the peers'.
    bool has_atomics() const noexcept { return port_.device_attr.atomic_cap != IBV_ATOMIC_NONE; }

    // The most inline data a queue pair of this device takes, up to what we ask for.
    uint32_t max_inline() const noexcept { return max_inline_; }
    // Queue pairs are made for no more than that from now on.
    void limit_inline(uint32_t bytes) noexcept { max_inline_ = std::min(max_inline_, bytes); }

private:
    ibv_mr* reg_mr(void* address, size_t length, int access) noexcept;
    void tell_unregistered(size_t length, int error) const noexcept;
    void open_whole_memory();
    void open_cache(Gate::Kind threads, Watchdog& watchdog);
    uint32_t probe_inline();

    Port port_;
    std::unique_ptr<Context> context_;
    AsyncEvents events_;
    Pd pd_;
    Mr whole_;
    RegionTable regions_;
    std::unique_ptr<RegistrationCache> cache_;
    uint32_t max_inline_{0};
};

} // namespace odrc::verbs
