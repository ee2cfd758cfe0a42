// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ondemand/wireup_message.hpp"

#include "srq/window.hpp"

#include <bit>
#include <cstring>

namespace odrc::ondemand {
namespace {

static_assert(std::endian::native == std::endian::little, "the wire format is little-endian");

constexpr uint32_t kMagic = 0x6372646f; // "odrc"
constexpr uint32_t kMax24 = 0xffffff;

class Writer {
public:
    explicit Writer(std::span<std::byte> out) noexcept
        : out_{out} {}
    template <class T>
    void put(const T& value) noexcept {
        static_assert(std::is_trivially_copyable_v<T>);
        std::memcpy(out_.data(), &value, sizeof value);
        out_ = out_.subspan(sizeof value);
    }

private:
    std::span<std::byte> out_;
};

class Reader {
public:
    explicit Reader(std::span<const std::byte> in) noexcept
        : in_{in} {}
    template <class T>
    T get() noexcept {
        T value;
        std::memcpy(&value, in_.data(), sizeof value);
        in_ = in_.subspan(sizeof value);
        return value;
    }

private:
    std::span<const std::byte> in_;
};

bool in_range(const verbs::QpAddress& qp) noexcept {
    return qp.qpn <= kMax24 && qp.psn <= kMax24 && qp.mtu >= IBV_MTU_256 &&
           qp.mtu <= IBV_MTU_4096 && qp.rd_atomic > 0;
}

} // namespace

WireupDatagram encode(const WireupMessage& m) noexcept {
    WireupDatagram datagram;
    Writer w{datagram};
    w.put(kMagic);
    w.put(kWireupVersion);
    w.put(m.type);
    w.put(static_cast<uint16_t>(kWireupBytes));
    w.put(m.endpoint);
    w.put(m.to);
    w.put(m.ticket);
    w.put(m.attempt);
    w.put(m.answered_attempt);
    w.put(m.losses);
    w.put(m.received);
    w.put(m.reason);
    w.put(m.qp.qpn);
    w.put(m.qp.psn);
    w.put(m.qp.lid);
    w.put(m.qp.mtu);
    w.put(m.qp.rd_atomic);
    w.put(m.qp.gid.raw);
    w.put(m.wants_events);
    w.put(m.window);
    w.put(m.node);
    w.put(std::array<std::byte, Seal::kBytes>{});
    return datagram;
}

std::optional<WireupMessage> decode(std::span<const std::byte> datagram) noexcept {
    if (datagram.size() != kWireupBytes) return std::nullopt;
    Reader r{datagram};
    if (r.get<uint32_t>() != kMagic || r.get<uint8_t>() != kWireupVersion) return std::nullopt;
    WireupMessage m{};
    m.type = r.get<WireupType>();
    const auto bytes = r.get<uint16_t>();
    m.endpoint = r.get<uint64_t>();
    m.to = r.get<uint64_t>();
    m.ticket = r.get<uint64_t>();
    m.attempt = r.get<uint32_t>();
    m.answered_attempt = r.get<uint32_t>();
    m.losses = r.get<uint32_t>();
    m.received = r.get<uint32_t>();
    m.reason = r.get<uint32_t>();
    m.qp.qpn = r.get<uint32_t>();
    m.qp.psn = r.get<uint32_t>();
    m.qp.lid = r.get<uint16_t>();
    m.qp.mtu = r.get<uint8_t>();
    m.qp.rd_atomic = r.get<uint8_t>();
    m.qp.gid = r.get<ibv_gid>();
    m.wants_events = r.get<uint8_t>();
    m.window = r.get<uint16_t>();
    m.node = r.get<uint64_t>();
    const bool begins = m.type == WireupType::request || m.type == WireupType::accept;
    const bool has_qp = begins || m.type == WireupType::promote || m.type == WireupType::promoted;
    if (bytes != kWireupBytes || m.type < WireupType::request || m.type > WireupType::seen ||
        (has_qp && !in_range(m.qp)) || (begins && (m.window == 0 || m.window > srq::kMostWindow)) ||
        m.wants_events > 1)
        return std::nullopt;
    return m;
}

} // namespace odrc::ondemand
