// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ondemand/address_table.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace odrc::ondemand {

fi_addr_t AddressTable::insert(const Address& address, std::optional<fi_addr_t> id,
                               const NativeAddress* native) {
    std::lock_guard lock{mutex_};
    grow_index(live_ + 1);
    const uint32_t number = lowest_free();
    Page& page = *pages_[number / kPage];
    if (id || page.ids) set_id(number, id.value_or(number));
    if (native || page.natives) set_native(number, native);
    entry(number) = address;
    ++page.used;
    ++live_;
    end_ = std::max(end_, number + 1);
    add_to_index(number);
    changed();
    return number;
}

// Without gaps, that is the end; else it is in the first page that is not full.
uint32_t AddressTable::lowest_free() {
    if (live_ == end_) {
        if (end_ == pages_.size() * kPage) pages_.push_back(std::make_unique<Page>());
        return end_;
    }
    while (pages_[first_gap_]->used == kPage) ++first_gap_;
    const auto& addresses = pages_[first_gap_]->addresses;
    const auto free =
        std::ranges::find_if(addresses, [](const Address& a) { return a.family() == AF_UNSPEC; });
    return static_cast<uint32_t>(first_gap_ * kPage + size_t(free - addresses.begin()));
}

bool AddressTable::remove(fi_addr_t fi_addr) noexcept {
    std::lock_guard lock{mutex_};
    if (!stands(fi_addr)) return false;
    const auto number = static_cast<uint32_t>(fi_addr);
    remove_from_index(number);
    entry(number) = {};
    --pages_[number / kPage]->used;
    --live_;
    first_gap_ = std::min(first_gap_, number / kPage);
    changed();
    return true;
}

fi_addr_t AddressTable::end() const noexcept {
    std::lock_guard lock{mutex_};
    return end_;
}

std::optional<Address> AddressTable::at(fi_addr_t fi_addr) const noexcept {
    std::lock_guard lock{mutex_};
    if (!stands(fi_addr)) return std::nullopt;
    return entry(fi_addr);
}

bool AddressTable::identify(fi_addr_t fi_addr, fi_addr_t id) {
    std::lock_guard lock{mutex_};
    if (!stands(fi_addr)) return false;
    set_id(static_cast<uint32_t>(fi_addr), id);
    changed();
    return true;
}

fi_addr_t AddressTable::id_of(fi_addr_t fi_addr) const noexcept {
    std::lock_guard lock{mutex_};
    if (!stands(fi_addr)) return FI_ADDR_NOTAVAIL;
    const Page& page = *pages_[fi_addr / kPage];
    return page.ids ? (*page.ids)[fi_addr % kPage] : fi_addr;
}

void AddressTable::set_id(uint32_t number, fi_addr_t id) {
    auto& ids = pages_[number / kPage]->ids;
    if (!ids) {
        ids = std::make_unique<std::array<fi_addr_t, kPage>>();
        std::iota(ids->begin(), ids->end(), fi_addr_t{number / kPage * kPage});
    }
    (*ids)[number % kPage] = id;
}

std::optional<NativeAddress> AddressTable::native_at(fi_addr_t fi_addr) const noexcept {
    std::lock_guard lock{mutex_};
    if (!stands(fi_addr)) return std::nullopt;
    const auto& natives = pages_[fi_addr / kPage]->natives;
    return natives ? NativeAddress::decode((*natives)[fi_addr % kPage]) : std::nullopt;
}

void AddressTable::set_native(uint32_t number, const NativeAddress* native) {
    auto& natives = pages_[number / kPage]->natives;
    if (!natives) natives = std::make_unique<std::array<NativeAddress::Bytes, kPage>>();
    (*natives)[number % kPage] = native ? native->encode() : NativeAddress::Bytes{};
}

void AddressTable::expect(size_t count) {
    std::lock_guard lock{mutex_};
    grow_index(count);
}

size_t AddressTable::memory_bytes() const noexcept {
    std::lock_guard lock{mutex_};
    size_t bytes = pages_.capacity() * sizeof pages_[0] + index_.capacity() * sizeof index_[0];
    for (const auto& page : pages_)
        bytes += sizeof *page + (page->ids ? sizeof *page->ids : 0) +
                 (page->natives ? sizeof *page->natives : 0);
    return bytes;
}

size_t AddressTable::bytes_for(size_t count, bool natives) noexcept {
    const size_t pages = (count + kPage - 1) / kPage;
    return pages * (sizeof(std::unique_ptr<Page>) + sizeof(Page) +
                    (natives ? sizeof *Page::natives : 0)) +
           (count ? index_for(count) * sizeof(uint32_t) : 0);
}

fi_addr_t AddressTable::find(const Address& address) const noexcept {
    std::lock_guard lock{mutex_};
    if (index_.empty()) return FI_ADDR_NOTAVAIL;
    for (size_t i = address.hash() & mask(); index_[i] != kNone; i = (i + 1) & mask())
        if (entry(index_[i]) == address) return index_[i];
    return FI_ADDR_NOTAVAIL;
}

void AddressTable::add_to_index(uint32_t number) noexcept {
    size_t i = entry(number).hash() & mask();
    while (index_[i] != kNone) i = (i + 1) & mask();
    index_[i] = number;
}

void AddressTable::remove_from_index(uint32_t number) noexcept {
    size_t gap = entry(number).hash() & mask();
    while (index_[gap] != number) gap = (gap + 1) & mask();
    // Entries behind the gap that belong at or before it move up, so that no search stops short.
    for (size_t i = (gap + 1) & mask(); index_[i] != kNone; i = (i + 1) & mask()) {
        const size_t home = entry(index_[i]).hash() & mask();
        if (((i - home) & mask()) >= ((i - gap) & mask())) {
            index_[gap] = index_[i];
            gap = i;
        }
    }
    index_[gap] = kNone;
}

size_t AddressTable::index_for(size_t count) noexcept {
    return std::bit_ceil(std::max<size_t>(2 * count, 64));
}

// Room for so many addresses.
void AddressTable::grow_index(size_t count) {
    if (2 * count <= index_.size()) return;
    std::vector<uint32_t>(index_for(count), kNone).swap(index_);
    for (uint32_t n = 0; n < end_; ++n)
        if (stands(n)) add_to_index(n);
}

} // namespace odrc::ondemand
