// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// A wireup with all it leans on, and those who write to it by hand.

#include "ondemand/wireup.hpp"
#include "softrc/device.hpp"

#include <arpa/inet.h>
#include <cstring>
#include <stdexcept>
#include <string_view>

namespace rig {

using namespace odrc;
using namespace odrc::ondemand;

inline const verbs::Device& device() {
    static const auto soft = soft::make_soft_device();
    return *soft;
}

inline Seal seal_of(std::string_view key) { return Seal{std::as_bytes(std::span{key})}; }

// An address of this host; 127.0.0.1 and others of its net, of which there are many.
inline Address local(uint32_t number = 1, uint16_t port = 0) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(port);
    in.sin_addr.s_addr = htonl(127u << 24 | number);
    return *Address::from(&in, sizeof in);
}

// What a wireup of an endpoint needs, and queue pairs to speak of in what is written by hand.
class Room {
public:
    // soft: peers of this host are met on soft0, beside the device.
    explicit Room(const verbs::Device& on = device(), bool soft = false)
        : adapter{on, Gate::Kind::one_thread, watchdog} {
        if (soft) beside.emplace(device(), Gate::Kind::one_thread, watchdog);
        const Station::Sizes sizes{
            256,
            {16, 16},
            true,
            2000,
            {.count = RingLanes::kMost, .bytes = 32 << 10, .longest = 32 << 10}};
        stations.emplace(adapter, Stations::Others{beside ? &*beside : nullptr, nullptr}, counters,
                         sizes, sizes, Sleeper::nobody);
    }

    static constexpr uint32_t kAccess = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;

    // On soft0 or on the device.
    verbs::QueuePair make_qp(bool soft = false) {
        Station& at = soft ? *stations->open_soft() : stations->device();
        return {at.adapter(), at.cq(), at.srq(), {16, 4}, kAccess};
    }

    static void join(verbs::QueuePair& one, verbs::QueuePair& other) {
        if (one.connect(other.address()) || other.connect(one.address()))
            throw std::runtime_error{"two queue pairs do not connect"};
    }

    Watchdog watchdog;
    verbs::Adapter adapter;
    StatisticsPage statistics{};
    Counters& counters{statistics.counters};
    std::optional<verbs::Adapter> beside;
    std::optional<Stations> stations;
};

class Near : public Room {
public:
    explicit Near(const Seal& seal, const Address& address = local(), uint32_t lanes = 1000,
                  const verbs::Device& on = device(), bool soft = false)
        : Room{on, soft}
        , wireup{peers,   statistics, {*stations, posting_, copies_, 4, lanes, kAccess, 0},
                 address, seal,       false} {}

    // Takes in all that has come.
    void serve() {
        while (!wireup.serve()) {
        }
        take_in(stations->device());
        if (Station* soft = stations->soft()) take_in(*soft);
        while (Peer* peer = wireup.take_changed()) peer->error = 0;
    }
    size_t known() {
        size_t n = 0;
        peers.for_each([&](Peer&) { ++n; });
        return n;
    }
    Link link_to(const Address& address) {
        const Peer* peer = peers.find(address);
        return peer ? peer->link : Link::none;
    }

    AddressTable addresses;
    PeerTable peers{addresses};

private:
    void take_in(Station& station) {
        ibv_wc wc;
        while (ibv_poll_cq(station.cq(), 1, &wc) == 1)
            if (Lane* lane = peers.find_lane(station.name_of(wc.qp_num)))
                wireup.retire(*lane, verbs::WorkId{wc.wr_id}.position(),
                              wc.status == IBV_WC_SUCCESS);
    }

    verbs::PostList posting_{counters.posts};
    srq::BufferPool copies_{adapter, counters, 256, 16};

public:
    Wireup wireup;
};

// Who writes datagrams by hand.
class Far {
public:
    explicit Far(const Seal& seal, uint64_t number = 77, const Address& wanted = local())
        : endpoint{number}
        , seal_{seal}
        , socket_{wanted, counters_} {}

    const Address& address() const noexcept { return socket_.address(); }

    void send_bytes(const Address& to, std::span<const std::byte> bytes) {
        socket_.send(to, bytes);
    }
    WireupDatagram send(const Address& to, WireupMessage m) {
        m.endpoint = endpoint;
        WireupDatagram datagram = encode(m);
        seal_.put(datagram, to);
        send_bytes(to, datagram);
        return datagram;
    }
    // The next that has come; none if there is none, or it is not sealed.
    std::optional<WireupMessage> receive() {
        std::byte buffer[2 * kWireupBytes];
        WireupSocket::Arrival arrival;
        if (!socket_.receive(buffer, arrival) || arrival.nobody_there) return std::nullopt;
        if (!seal_.holds(arrival.datagram, arrival.to)) return std::nullopt;
        return decode(arrival.datagram);
    }

    const uint64_t endpoint;

private:
    Counters counters_;
    Seal seal_;
    WireupSocket socket_;
};

inline WireupMessage request(const verbs::QueuePair& qp, uint32_t attempt, uint64_t ticket = 0) {
    WireupMessage m{};
    m.type = WireupType::request;
    m.ticket = ticket;
    m.attempt = m.losses = attempt;
    m.reason = 1;
    m.qp = qp.address();
    m.window = 16;
    return m;
}

// Behind an acceptance.
inline WireupMessage reply(WireupType type, const WireupMessage& accept) {
    WireupMessage m{};
    m.type = type;
    m.to = accept.endpoint;
    m.attempt = m.losses = accept.answered_attempt;
    m.answered_attempt = accept.attempt;
    return m;
}

} // namespace rig
