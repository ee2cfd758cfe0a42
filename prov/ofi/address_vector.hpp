// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ofi/domain.hpp"
#include "ondemand/address_table.hpp"

#include <mutex>
#include <vector>

namespace odrc::ofi {

class Endpoint;

// fi_av(3): addresses get numbers, in order; nothing is sent for them.
class AddressVector : public fid_av {
public:
    using Fid = fid_av;
    AddressVector(Domain& domain, const fi_av_attr* attr, void* context); // throws Error

    const ondemand::AddressTable& table() const noexcept { return table_; }

    // Endpoints forget a number before it can stand for another address.
    void attach(Endpoint& endpoint);
    void detach(Endpoint& endpoint) noexcept;

    // Gives the number, FI_ADDR_NOTAVAIL where it is no address.
    fi_addr_t insert(const void* address, size_t length) noexcept;
    int remove(fi_addr_t number) noexcept;

    // The length of the addresses in arrays that the application passes.
    size_t stride(const void* address) const noexcept;

    std::atomic<int> leaning{0};

private:
    Leaning on_domain_;
    ondemand::AddressTable table_;
    std::mutex mutex_;
    std::vector<Endpoint*> endpoints_;
};

} // namespace odrc::ofi
