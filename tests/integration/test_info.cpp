// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// fi_getinfo(3)

#include "duo.hpp"

using namespace duo;

namespace {

// What fi_getinfo gives for hints that a function changes.
int getinfo(const std::function<void(fi_info&)>& change, Info& out, const char* node = nullptr,
            const char* service = nullptr, uint64_t flags = 0) {
    const Info hints{fi_allocinfo()};
    hints->fabric_attr->prov_name = strdup("odrc");
    hints->domain_attr->name = strdup(choice().domain.c_str());
    change(*hints);
    fi_info* info = nullptr;
    const int result = fi_getinfo(FI_VERSION(1, 17), node, service, flags, hints.get(), &info);
    out.reset(info);
    return result;
}

} // namespace

TEST_CASE("fi_getinfo gives what was asked for, or nothing") {
    Info info;
    SUBCASE("everything that needs nothing of the program, where nothing is asked for") {
        REQUIRE(getinfo([](fi_info&) {}, info) == 0);
        CHECK(info->caps == (FI_MSG | FI_TAGGED | FI_SEND | FI_RECV | FI_COLLECTIVE |
                             FI_DIRECTED_RECV | FI_SOURCE | FI_MULTI_RECV | FI_FENCE |
                             FI_AV_USER_ID | FI_LOCAL_COMM | FI_REMOTE_COMM));
        CHECK(info->mode == 0);
        CHECK(info->ep_attr->type == FI_EP_RDM);
        CHECK(info->ep_attr->mem_tag_format == 0xAAAAAAAAAAAAAAAA);
        CHECK(info->domain_attr->mr_mode == 0);
        CHECK(info->domain_attr->max_ep_tx_ctx == 1);
        CHECK(info->tx_attr->inject_size >= 1024);
        CHECK((info->tx_attr->msg_order & FI_ORDER_SAS) == FI_ORDER_SAS);
        CHECK(std::string{info->fabric_attr->prov_name} == "odrc");
    }
    SUBCASE("no primary capability that was not asked for") {
        REQUIRE(getinfo([](fi_info& h) { h.caps = FI_TAGGED; }, info) == 0);
        CHECK((info->caps & (FI_MSG | FI_DIRECTED_RECV | FI_AV_USER_ID)) == 0);
        CHECK((info->caps & (FI_SEND | FI_RECV)) == (FI_SEND | FI_RECV));
        CHECK((info->rx_attr->caps & FI_MSG) == 0);
    }
    SUBCASE("one direction, where one is asked for") {
        REQUIRE(getinfo([](fi_info& h) { h.caps = FI_MSG | FI_SEND; }, info) == 0);
        CHECK((info->caps & (FI_SEND | FI_RECV)) == FI_SEND);
    }
    SUBCASE("the threading asked for") {
        for (const auto threading :
             {FI_THREAD_SAFE, FI_THREAD_DOMAIN, FI_THREAD_COMPLETION, FI_THREAD_FID}) {
            REQUIRE(getinfo([&](fi_info& h) { h.domain_attr->threading = threading; }, info) == 0);
            CHECK(info->domain_attr->threading == threading);
        }
    }
    SUBCASE("IPv6 addresses") {
        REQUIRE(getinfo([](fi_info& h) { h.addr_format = FI_SOCKADDR_IN6; }, info) == 0);
        CHECK(info->src_addrlen == sizeof(sockaddr_in6));
    }
    SUBCASE("the source that was named") {
        REQUIRE(getinfo([](fi_info&) {}, info, nullptr, "4321", FI_SOURCE) == 0);
        const auto* in = static_cast<sockaddr_in*>(info->src_addr);
        CHECK(ntohs(in->sin_port) == 4321);
        CHECK(in->sin_addr.s_addr != 0);
    }
    SUBCASE("capabilities of the other direction mean nothing") {
        REQUIRE(getinfo(
                    [](fi_info& h) {
                        h.tx_attr->caps = h.caps | FI_REMOTE_WRITE | FI_MULTI_RECV;
                        h.rx_attr->caps = h.caps | FI_WRITE | FI_FENCE;
                    },
                    info) == 0);
        CHECK((info->tx_attr->caps & (FI_REMOTE_WRITE | FI_MULTI_RECV)) == 0);
        CHECK((info->rx_attr->caps & (FI_WRITE | FI_FENCE)) == 0);
    }
    SUBCASE("who sends, and says only what peers may do, reads and writes as well") {
        const auto caps_for = [&](uint64_t caps) {
            REQUIRE(getinfo(
                        [=](fi_info& h) {
                            h.caps = caps;
                            h.domain_attr->mr_mode = kRmaMode;
                        },
                        info) == 0);
            return info->caps & (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE);
        };
        CHECK(caps_for(FI_TAGGED | FI_RMA | FI_REMOTE_READ) ==
              (FI_READ | FI_WRITE | FI_REMOTE_READ));
        CHECK(caps_for(FI_MSG | FI_RMA | FI_WRITE | FI_REMOTE_READ) == (FI_WRITE | FI_REMOTE_READ));
        CHECK(caps_for(FI_MSG | FI_RECV | FI_RMA | FI_REMOTE_WRITE) == FI_REMOTE_WRITE);
        CHECK(caps_for(FI_RMA | FI_REMOTE_WRITE) == FI_REMOTE_WRITE);
    }
    SUBCASE("the destination that was named") {
        REQUIRE(getinfo([](fi_info&) {}, info, "127.0.0.1", "4321", FI_NUMERICHOST) == 0);
        CHECK(ntohs(static_cast<sockaddr_in*>(info->dest_addr)->sin_port) == 4321);
    }
    struct Refused {
        const char* what;
        void (*change)(fi_info&);
    };
    for (const Refused& r : {
             Refused{"message endpoints", [](fi_info& h) { h.ep_attr->type = FI_EP_MSG; }},
             Refused{"datagram endpoints", [](fi_info& h) { h.ep_attr->type = FI_EP_DGRAM; }},
             Refused{"unknown capabilities", [](fi_info& h) { h.caps = FI_MSG | FI_HMEM; }},
             Refused{"directions of nothing", [](fi_info& h) { h.caps = FI_MSG | FI_READ; }},
             Refused{"other addresses", [](fi_info& h) { h.addr_format = FI_ADDR_STR; }},
             Refused{"other protocols", [](fi_info& h) { h.ep_attr->protocol = FI_PROTO_RXM; }},
             Refused{"huge injects", [](fi_info& h) { h.tx_attr->inject_size = 1 << 20; }},
             Refused{"many pieces", [](fi_info& h) { h.rx_attr->iov_limit = 1000; }},
             Refused{"ordered completions",
                     [](fi_info& h) { h.tx_attr->comp_order = FI_ORDER_RAW; }},
             Refused{"orders we do not keep",
                     [](fi_info& h) { h.tx_attr->msg_order = FI_ORDER_WAR; }},
             Refused{"other fabrics", [](fi_info& h) { h.fabric_attr->name = strdup("moon"); }},
             Refused{"other domains", [](fi_info& h) { h.domain_attr->name[0] = 'X'; }},
             Refused{"shared contexts",
                     [](fi_info& h) { h.ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT; }},
         }) {
        SUBCASE(r.what) { CHECK(getinfo(r.change, info) == -FI_ENODATA); }
    }
    SUBCASE("an address that is nowhere near") {
        if (choice().domain == "soft0")
            CHECK(getinfo([](fi_info&) {}, info, "192.0.2.77", "1", FI_NUMERICHOST) == -FI_ENODATA);
    }
}
