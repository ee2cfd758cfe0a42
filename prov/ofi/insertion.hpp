// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ofi/address_vector.hpp"

namespace odrc::ofi {

// One call that inserts addresses: what becomes of each, and what the caller is told, by the result
// of the call or, asynchronously, in the vector's event queue (fi_av(3): FI_EVENT). Our insertions
// never wait for anything, so that the events are there when the call returns.
class Insertion {
public:
    Insertion(AddressVector& av, fi_addr_t* fi_addr, uint64_t flags, void* context) noexcept
        : av_{av}
        , fi_addr_{fi_addr}
        , flags_{flags}
        , context_{context} {}

    // Whether the call makes sense: 0 or a negative fi_errno.
    int check() const noexcept;

    // The next address: inserted, or known to be of no use already. Throw std::bad_alloc.
    void insert(const void* address, size_t length);
    void fail(int error);

    // The result of the call. Throws std::bad_alloc.
    int end();

private:
    std::optional<fi_addr_t> id() const noexcept;
    void note(fi_addr_t number, int error);

    AddressVector& av_;
    fi_addr_t* const fi_addr_;
    const uint64_t flags_;
    void* const context_;
    size_t next_{0};
    int inserted_{0};
};

} // namespace odrc::ofi
