// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/av_set.hpp"

#include "base/log.hpp"

#include <algorithm>

namespace odrc::ofi {
namespace {

// Which collectives a set is for changes nothing: all of them can be had.
constexpr uint64_t kFlags = FI_UNIVERSE | FI_BARRIER_SET | FI_BROADCAST_SET | FI_ALLTOALL_SET |
                            FI_ALLREDUCE_SET | FI_ALLGATHER_SET | FI_REDUCE_SCATTER_SET |
                            FI_REDUCE_SET | FI_SCATTER_SET | FI_GATHER_SET;

// Neither a number of an address vector nor the address of a group.
constexpr fi_addr_t kSetAddress = uint64_t{1} << 63;

fi_addr_t next_address() noexcept {
    static std::atomic<uint32_t> last{0};
    return kSetAddress | ++last;
}

AvSet& of(fid_av_set* set) noexcept { return static_cast<AvSet&>(*set); }
const AvSet& of(const fid_av_set* set) noexcept { return static_cast<const AvSet&>(*set); }

int set_union(fid_av_set* set, const fid_av_set* other) {
    return guarded([&] { return of(set).unite(of(other)); });
}
int set_intersect(fid_av_set* set, const fid_av_set* other) {
    return guarded([&] { return of(set).keep(of(other), true); });
}
int set_diff(fid_av_set* set, const fid_av_set* other) {
    return guarded([&] { return of(set).keep(of(other), false); });
}
int set_insert(fid_av_set* set, fi_addr_t number) {
    return guarded([&] { return of(set).insert(number); });
}
int set_remove(fid_av_set* set, fi_addr_t number) { return of(set).remove(number); }
int set_addr(fid_av_set* set, fi_addr_t* address) {
    *address = of(set).address();
    return 0;
}

fi_ops set_fid_ops = plain_ops<AvSet>();
fi_ops_av_set set_ops = {.size = sizeof(fi_ops_av_set),
                         .set_union = set_union,
                         .intersect = set_intersect,
                         .diff = set_diff,
                         .insert = set_insert,
                         .remove = set_remove,
                         .addr = set_addr};

// What the attributes say the set begins with.
std::vector<fi_addr_t> first_numbers(const ondemand::AddressTable& table,
                                     const fi_av_set_attr& attr) {
    if (attr.comm_key_size > 0) {
        ODRC_WARN(FI_LOG_AV, "communication keys of address vector sets mean nothing here");
        throw Error{FI_ENOSYS};
    }
    if (attr.flags & ~kFlags) throw Error{FI_EINVAL};
    const bool all = attr.flags & FI_UNIVERSE;
    std::vector<fi_addr_t> numbers;
    if (!all && attr.start_addr == FI_ADDR_NOTAVAIL && attr.end_addr == FI_ADDR_NOTAVAIL)
        return numbers;
    const fi_addr_t start = all ? 0 : attr.start_addr;
    const fi_addr_t last = all ? FI_ADDR_NOTAVAIL : attr.end_addr;
    const uint64_t stride = all ? 1 : attr.stride;
    if (stride == 0 || start > last) throw Error{FI_EINVAL};
    if (!all && attr.count > 0 && last - start >= attr.count) throw Error{FI_EINVAL};
    for (fi_addr_t n = start; n <= last && n < table.end(); n += stride) {
        if (table.at(n)) numbers.push_back(n);
        if (stride > last - n) break;
    }
    return numbers;
}

} // namespace

AvSet::AvSet(AddressVector& addresses, const fi_av_set_attr& attr, void* context)
    : fid_av_set{}
    , on_addresses_{addresses.leaning}
    , addresses_{addresses}
    , address_{next_address()}
    , numbers_{first_numbers(addresses.table(), attr)} {
    fid = {.fclass = FI_CLASS_AV_SET, .context = context, .ops = &set_fid_ops};
    ops = &set_ops;
}

std::vector<fi_addr_t> AvSet::numbers() const {
    std::lock_guard lock{mutex_};
    return numbers_;
}

bool AvSet::has(fi_addr_t number) const noexcept {
    return std::ranges::find(numbers_, number) != numbers_.end();
}

int AvSet::insert(fi_addr_t number) {
    std::lock_guard lock{mutex_};
    if (!addresses_.table().at(number) || has(number)) return -FI_EINVAL;
    numbers_.push_back(number);
    return 0;
}

int AvSet::remove(fi_addr_t number) noexcept {
    std::lock_guard lock{mutex_};
    return std::erase(numbers_, number) > 0 ? 0 : -FI_EINVAL;
}

int AvSet::unite(const AvSet& other) {
    if (&other.addresses_ != &addresses_) return -FI_EINVAL;
    const auto more = other.numbers();
    std::lock_guard lock{mutex_};
    for (const fi_addr_t number : more)
        if (!has(number)) numbers_.push_back(number);
    return 0;
}

int AvSet::keep(const AvSet& other, bool common) {
    if (&other.addresses_ != &addresses_) return -FI_EINVAL;
    auto theirs = other.numbers();
    std::ranges::sort(theirs);
    std::lock_guard lock{mutex_};
    std::erase_if(numbers_,
                  [&](fi_addr_t n) { return std::ranges::binary_search(theirs, n) != common; });
    return 0;
}

int open_av_set(fid_av* av, fi_av_set_attr* attr, fid_av_set** set, void* context) {
    if (!attr) return -FI_EINVAL;
    return create<AvSet>(set, static_cast<AddressVector&>(*av), *attr, context);
}

} // namespace odrc::ofi
