// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ondemand/address_table.hpp"

namespace odrc::ondemand {

fi_addr_t AddressTable::insert(const Address& address) {
    std::lock_guard lock{mutex_};
    if (2 * (live_ + 1) > index_.size()) grow_index();
    uint32_t number = first_free_;
    if (number != kNone) {
        first_free_ = entries_[number].next_free;
        entries_[number].address = address;
    } else {
        number = static_cast<uint32_t>(entries_.size());
        entries_.push_back({address, kNone});
    }
    ++live_;
    add_to_index(number);
    generation_.fetch_add(1, std::memory_order_release);
    return number;
}

bool AddressTable::remove(fi_addr_t fi_addr) noexcept {
    std::lock_guard lock{mutex_};
    if (fi_addr >= entries_.size() || entries_[fi_addr].address.family() == AF_UNSPEC) return false;
    const auto number = static_cast<uint32_t>(fi_addr);
    remove_from_index(number);
    entries_[number] = {Address{}, first_free_};
    first_free_ = number;
    --live_;
    generation_.fetch_add(1, std::memory_order_release);
    return true;
}

std::optional<Address> AddressTable::at(fi_addr_t fi_addr) const noexcept {
    std::lock_guard lock{mutex_};
    if (fi_addr >= entries_.size() || entries_[fi_addr].address.family() == AF_UNSPEC)
        return std::nullopt;
    return entries_[fi_addr].address;
}

fi_addr_t AddressTable::find(const Address& address) const noexcept {
    std::lock_guard lock{mutex_};
    if (index_.empty()) return FI_ADDR_NOTAVAIL;
    for (size_t i = address.hash() & mask(); index_[i] != kNone; i = (i + 1) & mask())
        if (entries_[index_[i]].address == address) return index_[i];
    return FI_ADDR_NOTAVAIL;
}

void AddressTable::add_to_index(uint32_t number) noexcept {
    size_t i = entries_[number].address.hash() & mask();
    while (index_[i] != kNone) i = (i + 1) & mask();
    index_[i] = number;
}

void AddressTable::remove_from_index(uint32_t number) noexcept {
    size_t gap = entries_[number].address.hash() & mask();
    while (index_[gap] != number) gap = (gap + 1) & mask();
    // Entries behind the gap that belong at or before it move up, so that no search stops short.
    for (size_t i = (gap + 1) & mask(); index_[i] != kNone; i = (i + 1) & mask()) {
        const size_t home = entries_[index_[i]].address.hash() & mask();
        if (((i - home) & mask()) >= ((i - gap) & mask())) {
            index_[gap] = index_[i];
            gap = i;
        }
    }
    index_[gap] = kNone;
}

void AddressTable::grow_index() {
    std::vector<uint32_t>(index_.empty() ? 64 : 2 * index_.size(), kNone).swap(index_);
    for (uint32_t n = 0; n < entries_.size(); ++n)
        if (entries_[n].address.family() != AF_UNSPEC) add_to_index(n);
}

} // namespace odrc::ondemand
