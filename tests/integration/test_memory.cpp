// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// fi_mr(3): what registration asks of a program, and what it gives

#include "duo.hpp"

using namespace duo;

namespace {

// The words of libfabric before 1.5, whose names libfabric 2 warns of.
constexpr int kBasic = 1 << 0;
constexpr int kScalable = 1 << 1;

int getinfo(uint32_t version, uint64_t caps, int mr_mode, Info& out) {
    const Info hints{fi_allocinfo()};
    hints->fabric_attr->prov_name = strdup("odrc");
    hints->domain_attr->name = strdup(choice().domain.c_str());
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = caps;
    hints->domain_attr->mr_mode = mr_mode;
    fi_info* info = nullptr;
    const int result = fi_getinfo(version, nullptr, nullptr, 0, hints.get(), &info);
    out.reset(info);
    return result;
}

constexpr uint32_t kNow = FI_VERSION(1, 17);

} // namespace

TEST_CASE("RMA is for programs that are prepared for the keys and addresses of a device") {
    Info info;
    SUBCASE("all that is needed is said, and nothing that is not") {
        REQUIRE(getinfo(kNow, FI_RMA, kRmaMode | FI_MR_MMU_NOTIFY | FI_MR_ENDPOINT, info) == 0);
        CHECK(info->domain_attr->mr_mode == kRmaMode);
        CHECK(info->domain_attr->mr_key_size == sizeof(uint64_t));
        CHECK(info->domain_attr->mr_iov_limit == 1);
        CHECK(info->domain_attr->mr_cnt > 0);
    }
    SUBCASE("a program that lacks one of the bits gets no RMA") {
        for (const int bit : {FI_MR_VIRT_ADDR, FI_MR_ALLOCATED, FI_MR_PROV_KEY})
            CHECK(getinfo(kNow, FI_RMA, kRmaMode & ~bit, info) == -FI_ENODATA);
        CHECK(getinfo(kNow, FI_RMA, 0, info) == -FI_ENODATA);
        CHECK(getinfo(kNow, FI_RMA, kScalable, info) == -FI_ENODATA);
        REQUIRE(getinfo(kNow, 0, 0, info) == 0);
        CHECK((info->caps & (FI_RMA | FI_READ | FI_REMOTE_WRITE)) == 0);
    }
    SUBCASE("messages ask for no registration") {
        REQUIRE(getinfo(kNow, FI_MSG | FI_TAGGED, kRmaMode, info) == 0);
        CHECK(info->domain_attr->mr_mode == 0);
        CHECK(info->tx_attr->rma_iov_limit == 0);
    }
    SUBCASE("local keys are taken only where they are of use, from those who offer them") {
        REQUIRE(getinfo(kNow, FI_RMA, kRmaMode | FI_MR_LOCAL, info) == 0);
        CHECK((info->domain_attr->mr_mode & ~FI_MR_LOCAL) == kRmaMode);
        if (choice().domain == "soft0") CHECK(info->domain_attr->mr_mode == kRmaMode);
        const int local = info->domain_attr->mr_mode & FI_MR_LOCAL;
        REQUIRE(getinfo(kNow, FI_MSG | FI_TAGGED, kRmaMode | FI_MR_LOCAL, info) == 0);
        CHECK(info->domain_attr->mr_mode == local);
    }
    SUBCASE("the word of before stands for the bits, and stays what it is") {
        REQUIRE(getinfo(kNow, FI_RMA, kBasic, info) == 0);
        CHECK(info->domain_attr->mr_mode == kBasic);
        REQUIRE(getinfo(FI_VERSION(1, 4), FI_RMA, 0, info) == 0);
        CHECK(info->domain_attr->mr_mode == kBasic);
        CHECK(getinfo(FI_VERSION(1, 4), FI_RMA, kScalable, info) == -FI_ENODATA);
    }
    SUBCASE("who looks around is told of it in the words of its version, and without one in bits") {
        constexpr uint32_t kBefore = FI_VERSION(1, 4);
        for (const uint32_t version : {uint32_t{0}, kBefore, kNow}) {
            fi_info* all = nullptr;
            REQUIRE(fi_getinfo(version, nullptr, nullptr, 0, nullptr, &all) == 0);
            const Info owner{all};
            const auto is_ours = [](const fi_info& one) { // other providers know the device, too
                return one.fabric_attr->prov_name == std::string{"odrc"} &&
                       one.domain_attr->name == choice().domain;
            };
            const fi_info* ours = all;
            while (ours && !is_ours(*ours)) ours = ours->next;
            REQUIRE(ours);
            CHECK(ours->domain_attr->mr_mode == (version == kBefore ? kBasic : kRmaMode));
        }
    }
    SUBCASE("directions are given as asked for, all where none is named") {
        REQUIRE(getinfo(kNow, FI_MSG | FI_RMA, kRmaMode, info) == 0);
        constexpr uint64_t kAllWays =
            FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
        CHECK((info->caps & kAllWays) == kAllWays);
        CHECK(info->tx_attr->rma_iov_limit >= 1);
        REQUIRE(getinfo(kNow, FI_MSG | FI_RMA | FI_WRITE, kRmaMode, info) == 0);
        CHECK((info->caps & kAllWays) == (FI_SEND | FI_RECV | FI_WRITE));
    }
    SUBCASE("reads and writes keep the orders that are told") {
        REQUIRE(getinfo(kNow, FI_RMA, kRmaMode, info) == 0);
        constexpr uint64_t kKept = FI_ORDER_WAW | FI_ORDER_RAW | FI_ORDER_RAR | FI_ORDER_SAW;
        CHECK((info->tx_attr->msg_order & kKept) == kKept);
        CHECK((info->tx_attr->msg_order &
               (FI_ORDER_WAR | FI_ORDER_SAR | FI_ORDER_WAS | FI_ORDER_RAS)) == 0);
        CHECK(info->ep_attr->max_order_war_size == 0);
        CHECK(info->ep_attr->max_order_waw_size == info->ep_attr->max_msg_size);
    }
}

TEST_CASE("a region has a key and a descriptor, and keeps its domain open") {
    Watched side{kRmaWishes};
    char bytes[100];
    const iovec iov{bytes, sizeof bytes};
    int context = 0;
    fi_mr_attr attr{};
    attr.mr_iov = &iov;
    attr.iov_count = 1;
    attr.access = FI_REMOTE_READ;
    attr.context = &context;
    fid_mr* first = nullptr;
    fid_mr* second = nullptr;
    fid_domain* domain = side.endpoint.domain();
    REQUIRE(fi_mr_regattr(domain, &attr, 0, &first) == 0);
    REQUIRE(fi_mr_regv(domain, &iov, 1, FI_SEND | FI_RECV, 0, 7, 0, &second, nullptr) == 0);
    CHECK(first->fid.fclass == FI_CLASS_MR);
    CHECK(first->fid.context == &context);
    CHECK(fi_mr_key(first) != FI_KEY_NOTAVAIL);
    CHECK(fi_mr_key(first) != fi_mr_key(second));
    CHECK(fi_mr_desc(first) != nullptr);
    CHECK(fi_close(&domain->fid) == -FI_EBUSY);
    CHECK(fi_close(&first->fid) == 0);
    CHECK(fi_close(&second->fid) == 0);
}

TEST_CASE("a key can be had as bytes, and back, where nobody needs that") {
    Duo d{kRmaWishes};
    Shared there{d.b, 8};
    uint64_t base = 0;
    uint8_t raw[8] = {};
    size_t size = 1;
    CHECK(fi_mr_raw_attr(there.region.get(), &base, raw, &size, 0) == -FI_ETOOSMALL);
    REQUIRE(size == d.b.endpoint.info().domain_attr->mr_key_size);
    REQUIRE(fi_mr_raw_attr(there.region.get(), &base, raw, &size, 0) == 0);
    CHECK(base == there.at(0));
    uint64_t key = 0;
    fid_domain* domain = d.a.endpoint.domain();
    CHECK(fi_mr_map_raw(domain, base, raw, 3, &key, 0) == -FI_EINVAL);
    REQUIRE(fi_mr_map_raw(domain, base, raw, size, &key, 0) == 0);
    CHECK(key == there.key());
    CHECK(fi_mr_unmap_key(domain, key) == 0);
}

TEST_CASE("a domain is not closed while it has a region and nothing else") {
    Watched side{kRmaWishes};
    auto* info = const_cast<fi_info*>(&side.endpoint.info());
    fid_domain* domain = nullptr;
    REQUIRE(fi_domain(side.endpoint.fabric(), info, &domain, nullptr) == 0);
    char byte;
    fid_mr* mr = nullptr;
    REQUIRE(fi_mr_reg(domain, &byte, 1, FI_REMOTE_READ, 0, 0, 0, &mr, nullptr) == 0);
    CHECK(fi_close(&domain->fid) == -FI_EBUSY);
    CHECK(fi_close(&mr->fid) == 0);
    CHECK(fi_close(&domain->fid) == 0);
}

TEST_CASE("what cannot be registered is refused") {
    Watched side{kRmaWishes};
    fid_domain* domain = side.endpoint.domain();
    char bytes[100];
    const iovec two[2] = {{bytes, 10}, {bytes + 20, 10}};
    fid_mr* mr = nullptr;
    constexpr uint64_t kRead = FI_REMOTE_READ;
    CHECK(fi_mr_reg(domain, bytes, 10, kRead | FI_PEEK, 0, 0, 0, &mr, nullptr) == -FI_EINVAL);
    CHECK(fi_mr_reg(domain, bytes, 10, kRead, 1, 0, 0, &mr, nullptr) == -FI_EINVAL);
    CHECK(fi_mr_reg(domain, bytes, 10, kRead, 0, 0, FI_RMA_PMEM, &mr, nullptr) == -FI_EBADFLAGS);
    CHECK(fi_mr_regv(domain, two, 2, kRead, 0, 0, 0, &mr, nullptr) == -FI_EINVAL);
    CHECK(fi_mr_regattr(domain, nullptr, 0, &mr) == -FI_EINVAL);
    // Memory that is not there.
    CHECK(fi_mr_reg(domain, reinterpret_cast<void*>(4096), 4096, FI_REMOTE_WRITE, 0, 0, 0, &mr,
                    nullptr) == -FI_EFAULT);
    CHECK(mr == nullptr);
}
