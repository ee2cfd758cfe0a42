// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What fi_getinfo(3) says about orders. That they are kept is shown where the operations are
// tested, and by odrc_mixture(1).

#include "duo.hpp"

#include <rdma/fi_atomic.h>

using namespace duo;

namespace {

struct Order {
    uint64_t bits{0};
    size_t raw{0}, war{0}, waw{0};
};

Info info_for(uint64_t caps, const Order& order = {}) {
    const Info hints{fi_allocinfo()};
    hints->caps = caps;
    hints->ep_attr->type = FI_EP_RDM;
    hints->ep_attr->max_order_raw_size = order.raw;
    hints->ep_attr->max_order_war_size = order.war;
    hints->ep_attr->max_order_waw_size = order.waw;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = order.bits;
    hints->domain_attr->mr_mode = kRmaMode;
    hints->fabric_attr->prov_name = strdup("odrc");
    hints->domain_attr->name = strdup(choice().domain.c_str());
    fi_info* info = nullptr;
    fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints.get(), &info);
    return Info{info};
}

constexpr auto kMessages = FI_MSG | FI_TAGGED;

} // namespace

TEST_CASE("the orders that are kept can be asked for, and no others") {
    constexpr uint64_t kKept = FI_ORDER_SAS | FI_ORDER_SAW | FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW |
                               FI_ORDER_RMA_WAW | FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW |
                               FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW;
    constexpr uint64_t kMixed = FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_WAW;
    for (const uint64_t caps :
         {kMessages, kMessages | FI_RMA, kMessages | FI_ATOMIC, kMessages | FI_RMA | FI_ATOMIC}) {
        CAPTURE(caps);
        const bool both = (caps & (FI_RMA | FI_ATOMIC)) == (FI_RMA | FI_ATOMIC);
        const uint64_t kept = both ? kKept : kKept | kMixed;
        const Info info = info_for(caps, {.bits = kept});
        REQUIRE(info);
        CHECK(info->tx_attr->msg_order == kept);
        CHECK(info->rx_attr->msg_order == kept);
        for (const uint64_t other :
             {FI_ORDER_WAR, FI_ORDER_RMA_WAR, FI_ORDER_RAS, FI_ORDER_WAS, FI_ORDER_SAR})
            CHECK_FALSE(info_for(caps, {.bits = other}));
        if (both) CHECK_FALSE(info_for(caps, {.bits = FI_ORDER_WAW}));
    }
}

TEST_CASE("orders are kept for all sizes, but writes after reads for atomics alone") {
    const Info rma = info_for(FI_RMA), atomics = info_for(FI_ATOMIC);
    REQUIRE(rma);
    REQUIRE(atomics);
    for (const Info* info : {&rma, &atomics}) {
        CHECK((*info)->ep_attr->max_order_raw_size == (*info)->ep_attr->max_msg_size);
        CHECK((*info)->ep_attr->max_order_waw_size == (*info)->ep_attr->max_msg_size);
    }
    CHECK(rma->ep_attr->max_order_war_size == 0);
    const Duo d{{.caps = FI_ATOMIC, .mr_mode = kRmaMode}};
    size_t bytes = 0;
    REQUIRE(fi_fetch_atomicvalid(d.a.ep(), FI_UINT8, FI_SUM, &bytes) == 0);
    CHECK(atomics->ep_attr->max_order_war_size == bytes);
    const size_t raw = rma->ep_attr->max_order_raw_size;
    CHECK(info_for(FI_RMA, {.raw = raw, .waw = raw}));
    CHECK_FALSE(info_for(FI_RMA, {.raw = raw + 1}));
    CHECK_FALSE(info_for(FI_RMA, {.waw = raw + 1}));
    CHECK_FALSE(info_for(FI_RMA, {.war = 1}));
}
