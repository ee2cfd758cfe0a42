// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What is counted of packets that nobody takes.

#include "hostrc/device.hpp"
#include "hostrc/kept_packet.hpp"
#include "hostrc/packet.hpp"
#include "soft_rig.hpp"

#include <algorithm>
#include <cstring>

using namespace odrc;

namespace {

constexpr size_t kRoom = 500'000;
constexpr uint32_t kKey = 0x6f647263; // of the datagrams of prov/hostrc

// A completion queue for connections by datagrams, and a queue pair that sends it whatever it
// likes.
struct Bystander {
    Bystander() {
        host->count_packets(*cq.get(), counts);
        ibv_qp_init_attr init{};
        init.send_cq = init.recv_cq = side.cq.get();
        init.cap = {.max_send_wr = 8,
                    .max_recv_wr = 0,
                    .max_send_sge = 1,
                    .max_recv_sge = 0,
                    .max_inline_data = 64};
        init.qp_type = IBV_QPT_UD;
        qp = verbs::Qp{side.context(), side.context().create_qp(side.pd.get(), &init)};
        REQUIRE(qp);
        ibv_qp_attr attr{};
        attr.port_num = 1;
        attr.qkey = kKey;
        int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
        for (const auto state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
            attr.qp_state = state;
            REQUIRE(side.context().modify_qp(qp.get(), &attr, mask) == 0);
            mask = state == IBV_QPS_INIT ? IBV_QP_STATE : IBV_QP_STATE | IBV_QP_SQ_PSN;
        }
        ibv_ah_attr way{};
        way.is_global = 1;
        way.port_num = 1;
        way.grh.dgid = side.context().gid();
        way.grh.hop_limit = 1;
        ah = side.context().create_ah(side.pd.get(), &way);
        REQUIRE(ah);
    }
    ~Bystander() { side.context().destroy_ah(ah); }

    void send(const host::Packet& packet, uint32_t bytes) {
        ibv_sge sge{reinterpret_cast<uint64_t>(&packet), bytes, 0};
        ibv_send_wr wr{};
        wr.sg_list = &sge;
        wr.num_sge = 1;
        wr.opcode = IBV_WR_SEND;
        wr.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
        wr.wr.ud = {.ah = ah, .remote_qpn = to(), .remote_qkey = kKey};
        ibv_send_wr* bad = nullptr;
        REQUIRE(ibv_post_send(qp.get(), &wr, &bad) == 0);
        CHECK(side.wait().status == IBV_WC_SUCCESS);
    }
    uint32_t to() {
        ibv_qp any{};
        any.send_cq = cq.get();
        return host->identity(any)->qpn;
    }
    // Takes in what has come.
    void poll() {
        ibv_wc wc;
        CHECK(ibv_poll_cq(cq.get(), 1, &wc) == 0);
    }

    rig::Side side;
    std::unique_ptr<verbs::Device> device{
        host::make_host_device(side.context(), side.pd.get(), rig::soft_device().port(), kRoom)};
    std::unique_ptr<verbs::Context> host{device->open()};
    PacketCounts counts;
    verbs::Cq cq{*host, host->create_cq(16, nullptr, nullptr)};
    verbs::Qp qp;
    ibv_ah* ah{nullptr};
};

} // namespace

TEST_CASE("what datagrams lie in is told, and is not less than a window's worth") {
    Bystander b;
    const size_t one = sizeof(ibv_grh) + 4096;
    CHECK(b.host->bytes_for_datagrams(*b.cq.get()) == 64 * one + 256 * 64);
    const verbs::Cq larger{*b.host, b.host->create_cq(1000, nullptr, nullptr)};
    CHECK(b.host->bytes_for_datagrams(*larger.get()) == kRoom / one * one + 256 * 64);
}

TEST_CASE("packets that come early are kept apart, and of all connections only so many") {
    host::Packet packet{};
    const std::byte data[3]{std::byte{1}, std::byte{2}, std::byte{3}};
    uint32_t all = 0;
    host::EarlyPackets one, other;
    CHECK(one.missing_from(5) == 0);
    for (const uint32_t number : {9u, 7u}) { // there is no order
        packet.number = number;
        CHECK(one.keep({packet, data, 11}, all));
        CHECK(one.has(number));
    }
    CHECK(one.missing_from(5) == 2);
    CHECK_FALSE(one.take(8, all));
    const auto kept = one.take(7, all);
    REQUIRE(kept);
    CHECK(kept->arrival().packet.number == 7);
    CHECK(kept->arrival().from == 11);
    CHECK(std::ranges::equal(kept->arrival().data, data));
    CHECK(one.missing_from(8) == 1);
    CHECK(all == 1);
    for (packet.number = 100; other.keep({packet, data, 11}, all);) ++packet.number;
    CHECK(all == 64);
    CHECK_FALSE(one.keep({packet, data, 11}, all));
    other.clear(all);
    CHECK(all == 1);
    CHECK(one.keep({packet, data, 11}, all));
}

TEST_CASE("packets that nobody takes are counted by what is wrong with them") {
    Bystander b;
    host::Packet packet{};
    packet.version = host::kPacketVersion;
    packet.to = 1;
    packet.kind = host::PacketKind::acknowledge;
    b.send(packet, sizeof packet - 1);
    b.poll();
    CHECK(b.counts.packets_malformed == 1);
    ++packet.version;
    b.send(packet, sizeof packet);
    b.poll();
    CHECK(b.counts.packets_malformed == 2);
    CHECK(b.counts.packets_stray == 0);
    --packet.version; // there is no connection
    b.send(packet, sizeof packet);
    b.poll();
    CHECK(b.counts.packets_stray == 1);
    CHECK(b.counts.packets_received == 3);
    CHECK(b.counts.packets_dropped() == 3);
    CHECK(b.counts.packets_sent == 0);
}
