// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ondemand/native_address.hpp"

#include "base/format.hpp"
#include "ondemand/bytes.hpp"

#include <algorithm>
#include <cstring>

namespace odrc::ondemand {
namespace {

constexpr uint8_t kFirstByte = 0xd3; // version 3
constexpr size_t kFixedBytes = 20;
constexpr size_t kNumberBytes = 3;
constexpr size_t kCountBytes = 2;

// What follows the fixed part.
enum Follows : uint8_t {
    kV6 = 1 << 0,
    kLid = 1 << 1,
    kEvents = 1 << 2, // says something of the endpoint, and has no bytes of its own
    kAllOfJob = 1 << 3,
    kRangesShift = 4, // how many
    kRangesMask = 7,
    kDatagrams = 1 << 7,
};
static_assert(ShortRanges::kMost <= kRangesMask);

// How much of the GID does.
enum class GidForm : uint8_t {
    of_ip,     // it is the IP address, or that mapped into IPv6 (RoCE)
    v4,        // another IPv4 address
    interface, // with the default subnet prefix (IBTA 1.4, 4.1.1)
    whole,
};
constexpr size_t kGidBytes[] = {0, 4, 8, 16};
constexpr uint8_t kV4Prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr uint8_t kDefaultPrefix[8] = {0xfe, 0x80};

std::span<const uint8_t> ip_of(const Address& address) noexcept {
    const sockaddr* any = address.get();
    if (address.family() == AF_INET6)
        return reinterpret_cast<const sockaddr_in6*>(any)->sin6_addr.s6_addr;
    const in_addr& v4 = reinterpret_cast<const sockaddr_in*>(any)->sin_addr;
    return {reinterpret_cast<const uint8_t*>(&v4), sizeof v4};
}

ibv_gid gid_of(std::span<const uint8_t> prefix, std::span<const uint8_t> rest) noexcept {
    ibv_gid gid{};
    std::ranges::copy(rest, std::ranges::copy(prefix, gid.raw).out);
    return gid;
}

ibv_gid gid_of_ip(std::span<const uint8_t> ip) noexcept {
    return ip.size() == 4 ? gid_of(kV4Prefix, ip) : gid_of({}, ip);
}

bool begins_with(const ibv_gid& gid, std::span<const uint8_t> prefix) noexcept {
    return std::memcmp(gid.raw, prefix.data(), prefix.size()) == 0;
}

GidForm form_of(const NativeAddress& a) noexcept {
    if (begins_with(a.gid, gid_of_ip(ip_of(a.socket)).raw)) return GidForm::of_ip;
    if (begins_with(a.gid, kV4Prefix)) return GidForm::v4;
    return begins_with(a.gid, kDefaultPrefix) ? GidForm::interface : GidForm::whole;
}

Address socket_of(std::span<const uint8_t> ip, uint16_t port) noexcept {
    sockaddr_in6 v6{};
    sockaddr_in v4{};
    v6.sin6_family = AF_INET6;
    v4.sin_family = AF_INET;
    std::memcpy(ip.size() == 4 ? static_cast<void*>(&v4.sin_addr) : &v6.sin6_addr, ip.data(),
                ip.size());
    Address address =
        ip.size() == 4 ? *Address::from(&v4, sizeof v4) : *Address::from(&v6, sizeof v6);
    address.set_port(port);
    return address;
}

ibv_gid read_gid(ByteReader& r, GidForm form, std::span<const uint8_t> ip) noexcept {
    uint8_t raw[16]{};
    const size_t bytes = kGidBytes[static_cast<size_t>(form)];
    r.get_bytes(raw, bytes);
    const std::span given = std::span{raw}.first(bytes);
    switch (form) {
    case GidForm::of_ip:
        return gid_of_ip(ip);
    case GidForm::v4:
        return gid_of(kV4Prefix, given);
    case GidForm::interface:
        return gid_of(kDefaultPrefix, given);
    default:
        return gid_of({}, given);
    }
}

// The last count, where it is left out, is what is missing.
std::optional<ShortRanges> read_ranges(ByteReader& r, size_t count, bool all_of_job,
                                       uint32_t size) noexcept {
    std::array<Range, ShortRanges::kMost> ranges{};
    if (count > ranges.size()) return std::nullopt;
    uint32_t total = 0;
    for (size_t i = 0; i < count; ++i) {
        ranges[i].first = r.get<uint32_t>(kNumberBytes);
        const bool left_out = all_of_job && i == count - 1;
        if (left_out && total >= size) return std::nullopt;
        ranges[i].count = left_out ? size - total : r.get<uint32_t>(kCountBytes);
        total += ranges[i].count;
    }
    const ShortRanges read{std::span{ranges}.first(count)};
    // One that says all of the job has all of it in its ranges, and none says more.
    if (!read.valid() || total > size || (all_of_job && count == 0)) return std::nullopt;
    return read;
}

} // namespace

size_t NativeAddress::most_ranges(bool for_all_of_job) const noexcept {
    const size_t before = kFixedBytes + ip_of(socket).size() + (lid ? sizeof lid : 0) +
                          kGidBytes[static_cast<size_t>(form_of(*this))] +
                          (datagrams ? kNumberBytes : 0);
    const size_t room = kBytes - before + (for_all_of_job ? kCountBytes : 0);
    return std::min(room / (kNumberBytes + kCountBytes), ShortRanges::kMost);
}

NativeAddress::Bytes NativeAddress::encode() const noexcept {
    Bytes bytes{};
    ByteWriter w{bytes};
    const auto ip = ip_of(socket);
    const GidForm form = form_of(*this);
    const bool all_of_job = !ranges.empty() && ranges.total() == place.size;
    const auto list = ranges.list();
    w.put(kFirstByte);
    w.put(static_cast<uint8_t>((ip.size() > 4 ? kV6 : 0) | (lid ? kLid : 0) |
                               (wants_events ? kEvents : 0) | (all_of_job ? kAllOfJob : 0) |
                               (datagrams ? kDatagrams : 0) | list.size() << kRangesShift));
    w.put(static_cast<uint8_t>(mtu << 5 | rd_atomic));
    w.put(static_cast<uint8_t>(static_cast<uint8_t>(form) << 6 | place.endpoint));
    w.put(socket.port());
    w.put(place.rank, 2);
    w.put(place.size, 2);
    w.put(place.job);
    w.put(endpoint);
    w.put_bytes(ip.data(), ip.size());
    if (lid) w.put(lid);
    const size_t gid_bytes = kGidBytes[static_cast<size_t>(form)];
    w.put_bytes(gid.raw + sizeof gid.raw - gid_bytes, gid_bytes);
    if (datagrams) w.put(datagrams, kNumberBytes);
    for (const Range& range : list) {
        w.put(range.first, kNumberBytes);
        if (!all_of_job || &range != &list.back()) w.put(range.count, kCountBytes);
    }
    return bytes;
}

std::optional<NativeAddress> NativeAddress::decode(const Bytes& bytes) noexcept {
    ByteReader r{bytes};
    if (r.get<uint8_t>() != kFirstByte) return std::nullopt;
    NativeAddress a;
    const auto follows = r.get<uint8_t>();
    const auto path = r.get<uint8_t>();
    const auto form_and_endpoint = r.get<uint8_t>();
    a.mtu = path >> 5;
    a.rd_atomic = path & 31;
    a.wants_events = follows & kEvents;
    a.place.endpoint = form_and_endpoint & kMostEndpointsInJob;
    const auto port = r.get<uint16_t>();
    a.place.rank = r.get<uint32_t>(2);
    a.place.size = r.get<uint32_t>(2);
    a.place.job = r.get<uint16_t>();
    a.endpoint = r.get<uint64_t>();
    uint8_t raw[16]{};
    const auto ip = std::span{raw}.first(follows & kV6 ? 16 : 4);
    r.get_bytes(raw, ip.size());
    a.socket = socket_of(ip, port);
    if (follows & kLid) a.lid = r.get<uint16_t>();
    a.gid = read_gid(r, static_cast<GidForm>(form_and_endpoint >> 6), ip);
    if (follows & kDatagrams) a.datagrams = r.get<uint32_t>(kNumberBytes);
    const auto ranges =
        read_ranges(r, follows >> kRangesShift & kRangesMask, follows & kAllOfJob, a.place.size);
    const bool in_job = a.place.known() ? a.place.rank < a.place.size : a.place == PlaceInJob{};
    const bool path_is_sane = a.mtu >= IBV_MTU_256 && a.mtu <= IBV_MTU_4096 && a.rd_atomic > 0;
    const bool unnamed = follows & kDatagrams && a.datagrams == 0;
    if (!ranges || !r.ended() || !in_job || !path_is_sane || unnamed) return std::nullopt;
    a.ranges = *ranges;
    return a;
}

std::string NativeAddress::text() const {
    std::string ip = socket.text();
    std::string text = "fi_odrc" + ip.substr(ip.find(':'));
    if (place.known()) text += odrc::format("?rank={}&size={}", place.rank, place.size);
    for (const Range& range : ranges.list())
        text += odrc::format("{}{:#x}-{:#x}", &range == &ranges.list().front() ? "&qp=" : ",",
                             range.first, range.last());
    if (datagrams) text += odrc::format("{}datagrams={:#x}", place.known() ? '&' : '?', datagrams);
    return text;
}

} // namespace odrc::ondemand
