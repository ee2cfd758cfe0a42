// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "verbs_rc/objects.hpp"
#include "verbs_rc/region_table.hpp"

#include <optional>

namespace odrc::verbs {

// Memory of the application, registered for one transfer and given back at the end of it.
// Where the device knows the whole memory of the process this costs nothing.
class Registration {
public:
    Registration() = default;
    Registration(uint32_t lkey, uint32_t rkey) noexcept
        : lkey_{lkey}
        , rkey_{rkey} {}
    Registration(Context& context, ibv_mr* mr) noexcept
        : mr_{context, mr}
        , lkey_{mr->lkey}
        , rkey_{mr->rkey} {}

    uint32_t lkey() const noexcept { return lkey_; }
    uint32_t rkey() const noexcept { return rkey_; }
    // Bytes that this registration alone pins.
    size_t bytes() const noexcept { return mr_ ? mr_->length : 0; }

private:
    Mr mr_;
    uint32_t lkey_{0};
    uint32_t rkey_{0};
};

// An opened device port with the protection domain in which all its objects live: what the
// endpoints of one libfabric domain share.
class Adapter {
public:
    // Throws Error.
    explicit Adapter(const Device& device);

    const Port& port() const noexcept { return port_; }
    Context& context() noexcept { return *context_; }
    ibv_pd* pd() const noexcept { return pd_.get(); }

    // The local key that covers all memory of the process, where the device offers one.
    std::optional<uint32_t> whole_memory_key() const noexcept {
        return whole_ ? std::optional{whole_->lkey} : std::nullopt;
    }

    // Registers for access (IBV_ACCESS_*). Gives 0 or a positive errno; logs the reason once.
    int register_memory(void* address, size_t length, int access, Registration& out) noexcept;

    // Memory that peers may reach by its key, until it is given back. Throws Error; logs likewise.
    Mr make_region(void* address, size_t length, int access);

    // What the application has opened to its peers.
    RegionTable& regions() noexcept { return regions_; }

    // The most inline data a queue pair of this device takes, up to what we ask for.
    uint32_t max_inline() const noexcept { return max_inline_; }

private:
    ibv_mr* reg_mr(void* address, size_t length, int access) noexcept;
    void open_whole_memory();
    uint32_t probe_inline();

    Port port_;
    std::unique_ptr<Context> context_;
    Pd pd_;
    Mr whole_;
    RegionTable regions_;
    uint32_t max_inline_{0};
};

} // namespace odrc::verbs
