// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ondemand/native_address.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <rdma/fabric.h>
#include <vector>

namespace odrc::ondemand {

// The addresses of an address vector (fi_av(3)). An address that is never used costs an entry
// here, of 28 bytes and two to four places of 4 bytes in the index, and nothing else; one to which
// the application has given a number of its own (FI_AV_USER_ID), 8 bytes more, and one in the
// provider's own format, 64.
class AddressTable {
public:
    // Gives the lowest number that is free, as FI_AV_TABLE promises; another one for an address
    // that is inserted again. id: what completions name it by, if not by this number. Throws
    // std::bad_alloc.
    // native: the same in the provider's own format, where it was given so.
    fi_addr_t insert(const Address& address, std::optional<fi_addr_t> id = {},
                     const NativeAddress* native = nullptr);
    bool remove(fi_addr_t fi_addr) noexcept;
    std::optional<Address> at(fi_addr_t fi_addr) const noexcept;
    std::optional<NativeAddress> native_at(fi_addr_t fi_addr) const noexcept;
    fi_addr_t end() const noexcept; // no number is as high

    // A number under which the address stands, or FI_ADDR_NOTAVAIL.
    fi_addr_t find(const Address& address) const noexcept;

    // The application's own number for it. False where there is no address. Throws std::bad_alloc.
    bool identify(fi_addr_t fi_addr, fi_addr_t id);
    fi_addr_t id_of(fi_addr_t fi_addr) const noexcept;

    // So many addresses are to come. Throws std::bad_alloc.
    void expect(size_t count);
    size_t memory_bytes() const noexcept;
    // What so many take, with or without the provider's own format. Roughly: how much more room is
    // made than is needed, the library decides.
    static size_t bytes_for(size_t count, bool natives) noexcept;

    // Changes whenever the table does.
    uint64_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }

private:
    static constexpr size_t kPage = 1024;
    struct Page {
        std::array<Address, kPage> addresses; // AF_UNSPEC: free
        uint32_t used{0};
        std::unique_ptr<std::array<fi_addr_t, kPage>> ids;                // where one was given
        std::unique_ptr<std::array<NativeAddress::Bytes, kPage>> natives; // likewise; zero: none
    };
    static_assert(sizeof(Address) == 28);
    static constexpr uint32_t kNone = ~0u;

    Address& entry(size_t number) const noexcept {
        return pages_[number / kPage]->addresses[number % kPage];
    }
    bool stands(fi_addr_t number) const noexcept {
        return number < end_ && entry(number).family() != AF_UNSPEC;
    }
    uint32_t lowest_free();
    void set_id(uint32_t number, fi_addr_t id);
    void set_native(uint32_t number, const NativeAddress* native);
    size_t mask() const noexcept { return index_.size() - 1; }
    void add_to_index(uint32_t number) noexcept;
    void remove_from_index(uint32_t number) noexcept;
    void grow_index(size_t count);
    static size_t index_for(size_t count) noexcept;
    void changed() noexcept { generation_.fetch_add(1, std::memory_order_release); }

    mutable std::mutex mutex_;
    std::atomic<uint64_t> generation_{1};
    std::vector<std::unique_ptr<Page>> pages_;
    uint32_t end_{0};             // behind the highest number that was ever given
    size_t live_{0};              // addresses
    size_t first_gap_{0};         // no page before this one has a free number below end_
    std::vector<uint32_t> index_; // by hash, open addressing, at most half full
};

} // namespace odrc::ondemand
