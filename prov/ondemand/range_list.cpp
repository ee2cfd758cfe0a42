// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ondemand/range_list.hpp"

#include "ondemand/bytes.hpp"

#include <algorithm>

namespace odrc::ondemand {
namespace {

constexpr uint8_t kFirstByte = 0xe1; // version 1
constexpr size_t kFixedBytes = 16;
constexpr size_t kFirstBytes = 3;
constexpr size_t kCountBytes = 2;
constexpr size_t kRangeBytes = kFirstBytes + kCountBytes;

} // namespace

std::vector<std::byte> RangeList::encode() const {
    std::vector<std::byte> bytes(kFixedBytes + ranges.size() * kRangeBytes);
    ByteWriter w{bytes};
    w.put(kFirstByte);
    w.put(place.endpoint);
    w.put(place.rank, 2);
    w.put(place.size, 2);
    w.put(place.job);
    w.put(endpoint);
    for (const Range& range : ranges) {
        w.put(range.first, kFirstBytes);
        w.put(range.count, kCountBytes);
    }
    return bytes;
}

std::optional<RangeList> RangeList::decode(std::span<const std::byte> bytes) {
    if (bytes.size() < kFixedBytes || (bytes.size() - kFixedBytes) % kRangeBytes) return {};
    ByteReader r{bytes};
    if (r.get<uint8_t>() != kFirstByte) return {};
    RangeList list;
    list.place.endpoint = r.get<uint8_t>();
    list.place.rank = r.get<uint32_t>(2);
    list.place.size = r.get<uint32_t>(2);
    list.place.job = r.get<uint16_t>();
    list.endpoint = r.get<uint64_t>();
    const size_t count = (bytes.size() - kFixedBytes) / kRangeBytes;
    const PlaceInJob& place = list.place;
    const bool in_job = place.known() ? place.rank < place.size && count <= place.size
                                      : place == PlaceInJob{} && count == 0;
    if (!in_job || place.endpoint > kMostEndpointsInJob) return {};
    list.ranges.resize(count);
    for (Range& range : list.ranges) {
        range.first = r.get<uint32_t>(kFirstBytes);
        range.count = r.get<uint32_t>(kCountBytes);
    }
    std::vector<Range> in_order = list.ranges;
    std::ranges::sort(in_order, {}, &Range::first);
    if (!are_in_order(in_order) || total(in_order) > place.size) return {};
    return list;
}

bool RangeList::goes_on(const NativeAddress& address) const noexcept {
    const auto told = address.ranges.list();
    return place == address.place && endpoint == address.endpoint && told.size() <= ranges.size() &&
           std::ranges::equal(told, std::span{ranges}.first(told.size()));
}

} // namespace odrc::ondemand
