// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ofi/domain.hpp"
#include "ofi/event_queue.hpp"
#include "ondemand/address_table.hpp"

#include <mutex>
#include <optional>
#include <vector>

namespace odrc::ofi {

class Endpoint;

// fi_av(3): addresses get numbers, in order; nothing is sent for them.
class AddressVector : public fid_av {
public:
    using Fid = fid_av;
    AddressVector(Domain& domain, fi_av_attr* attr, void* context); // throws Error

    const Domain& domain() const noexcept { return domain_; }
    const ondemand::AddressTable& table() const noexcept { return table_; }
    ondemand::AddressTable& table() noexcept { return table_; }

    // Where the ends of asynchronous insertions are told; null before it is bound.
    bool asynchronous() const noexcept { return flags_ & FI_EVENT; }
    EventQueue* events() noexcept { return events_; }
    int bind(EventQueue& events) noexcept;

    // The application says itself, one by one, what completions call an address.
    bool has_ids() const noexcept { return flags_ & FI_AV_USER_ID; }

    // Endpoints forget a number before it can stand for another address.
    void attach(Endpoint& endpoint);
    void detach(Endpoint& endpoint) noexcept;

    // Endpoints hear of an address by which they can connect.
    void introduce(const ondemand::NativeAddress& address) noexcept;

    int remove(fi_addr_t number) noexcept;

    std::atomic<int> leaning{0};

private:
    Leaning on_domain_;
    const Domain& domain_;
    const uint64_t flags_;
    EventQueue* events_{nullptr};
    std::optional<Leaning> on_events_;
    ondemand::AddressTable table_;
    std::mutex mutex_;
    std::vector<Endpoint*> endpoints_;
};

} // namespace odrc::ofi
