// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// fi_getinfo(3): many combinations of hints, and what must hold of whatever it gives for them.

#include "duo.hpp"

#include <iterator>

using namespace duo;

namespace {

constexpr uint64_t kMemory = FI_RMA | FI_ATOMIC;
constexpr uint64_t kRemote = FI_REMOTE_READ | FI_REMOTE_WRITE;
constexpr uint64_t kPrimary =
    FI_MSG | FI_TAGGED | kMemory | FI_COLLECTIVE | FI_DIRECTED_RECV | FI_AV_USER_ID;
constexpr uint64_t kDirections = FI_SEND | FI_RECV | FI_READ | FI_WRITE | kRemote;
constexpr int kBasic = 1; // FI_MR_BASIC, of which later versions of libfabric warn

// Values that go through all combinations, or where there are too many of these, at strides that
// bring each together with each of any other kind.
constexpr uint64_t kCaps[] = {0,
                              FI_MSG,
                              FI_TAGGED,
                              FI_MSG | FI_TAGGED,
                              FI_RMA,
                              FI_ATOMIC,
                              FI_MSG | FI_RMA,
                              FI_MSG | FI_TAGGED | kMemory,
                              FI_MSG | FI_COLLECTIVE,
                              FI_MSG | FI_MULTICAST};
constexpr uint64_t kModifiers[] = {
    0, FI_SEND, FI_RECV, FI_SEND | FI_RECV, FI_READ | FI_WRITE, kRemote, kDirections};
constexpr uint64_t kSecondary[] = {0, FI_SOURCE, FI_MULTI_RECV | FI_DIRECTED_RECV, FI_RMA_EVENT,
                                   FI_FENCE | FI_LOCAL_COMM | FI_REMOTE_COMM};
constexpr int kMrModes[] = {0,
                            kBasic,
                            kRmaMode,
                            kRmaMode | FI_MR_LOCAL | FI_MR_ENDPOINT,
                            kRmaMode & ~FI_MR_PROV_KEY,
                            ~(kBasic | 2)};
constexpr uint64_t kModes[] = {0, FI_CONTEXT, ~0ull};
constexpr fi_threading kThreads[] = {FI_THREAD_UNSPEC, FI_THREAD_SAFE,       FI_THREAD_FID,
                                     FI_THREAD_DOMAIN, FI_THREAD_COMPLETION, FI_THREAD_ENDPOINT};
constexpr fi_progress kProgress[] = {FI_PROGRESS_UNSPEC, FI_PROGRESS_AUTO, FI_PROGRESS_MANUAL};
constexpr fi_av_type kVectors[] = {FI_AV_UNSPEC, FI_AV_MAP, FI_AV_TABLE};
constexpr uint64_t kOrders[] = {0, FI_ORDER_SAS, FI_ORDER_WAW | FI_ORDER_RAW, FI_ORDER_SAR};
constexpr uint64_t kCompletionOrders[] = {0, FI_ORDER_STRICT};
constexpr size_t kSizes[] = {0, 64, 1 << 20};
constexpr uint32_t kFormats[] = {FI_FORMAT_UNSPEC, FI_SOCKADDR_IN, FI_SOCKADDR_IN6};

template <class T, size_t N>
T pick(const T (&values)[N], size_t& number) {
    const T value = values[number % N];
    number /= N;
    return value;
}

Info hints_for(size_t number, size_t spread) {
    Info hints{fi_allocinfo()};
    hints->fabric_attr->prov_name = strdup("odrc");
    hints->domain_attr->name = strdup(choice().domain.c_str());
    hints->caps = pick(kCaps, number);
    if (hints->caps) hints->caps |= pick(kModifiers, number) | pick(kSecondary, number);
    hints->domain_attr->mr_mode = pick(kMrModes, number);
    hints->mode = pick(kModes, spread);
    hints->domain_attr->threading = pick(kThreads, spread);
    hints->domain_attr->control_progress = pick(kProgress, spread);
    hints->domain_attr->data_progress = pick(kProgress, spread);
    hints->domain_attr->av_type = pick(kVectors, spread);
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = pick(kOrders, spread);
    hints->tx_attr->size = hints->rx_attr->size = pick(kSizes, spread);
    hints->addr_format = pick(kFormats, spread);
    hints->tx_attr->comp_order = pick(kCompletionOrders, spread);
    return hints;
}

// What the manual (fi_odrc(7)) says can be had.
bool possible(const fi_info& h) {
    const int mode = h.domain_attr->mr_mode;
    const bool prepared = mode & kBasic || (mode & kRmaMode) == kRmaMode;
    const bool memory = h.caps & kMemory;
    if (h.caps & FI_MULTICAST) return false;
    if (memory && !prepared) return false;
    if (h.caps & (FI_READ | FI_WRITE | kRemote | FI_RMA_EVENT) && !memory) return false;
    if (h.caps & FI_RMA_EVENT && h.caps & (FI_READ | FI_WRITE | kRemote) && !(h.caps & kRemote))
        return false;
    const bool mixed = (h.caps & kMemory) == kMemory;
    if (h.tx_attr->msg_order & FI_ORDER_SAR) return false;
    if (h.tx_attr->msg_order & FI_ORDER_WAW && mixed) return false;
    return h.tx_attr->comp_order == 0 && h.tx_attr->size <= 65536;
}

int ask(const fi_info& hints, Info& out) {
    fi_info* info = nullptr;
    const int result = fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, &hints, &info);
    out.reset(info);
    return result;
}

std::string text_of(const fi_info& info) {
    char text[8192];
    return fi_tostr_r(text, sizeof text, &info, FI_TYPE_INFO);
}

template <class T>
bool granted(T asked, T given) {
    return asked == 0 ? given != 0 : given == asked;
}

void check_given(const fi_info& h, const fi_info& info) {
    CHECK(info.next == nullptr);
    CHECK((h.caps & ~info.caps) == 0);
    if (h.caps) {
        CHECK((info.caps & kPrimary & ~h.caps) == 0);
        CHECK((info.caps & (FI_SOURCE | FI_MULTI_RECV | FI_RMA_EVENT | FI_FENCE) & ~h.caps) == 0);
    }
    CHECK((info.tx_attr->caps & ~info.caps) == 0);
    CHECK((info.rx_attr->caps & ~info.caps) == 0);
    CHECK((info.mode | info.tx_attr->mode | info.rx_attr->mode | info.domain_attr->mode) == 0);
    CHECK((info.domain_attr->mr_mode & ~h.domain_attr->mr_mode) == 0);
    CHECK(granted(h.domain_attr->threading, info.domain_attr->threading));
    CHECK(granted(h.domain_attr->control_progress, info.domain_attr->control_progress));
    CHECK(granted(h.domain_attr->data_progress, info.domain_attr->data_progress));
    CHECK((h.tx_attr->msg_order & ~info.tx_attr->msg_order) == 0);
    CHECK(info.tx_attr->msg_order == info.rx_attr->msg_order);
    CHECK(info.tx_attr->size >= h.tx_attr->size);
    CHECK(info.rx_attr->size >= h.rx_attr->size);
    CHECK((h.addr_format == FI_FORMAT_UNSPEC || info.addr_format == h.addr_format));
    CHECK(info.ep_attr->type == FI_EP_RDM);
}

// Opens the fabric, the domain and an endpoint as it is told.
void check_openable(fi_info& info) {
    fid_fabric* fabric = nullptr;
    REQUIRE(fi_fabric(info.fabric_attr, &fabric, nullptr) == 0);
    const Owned<fid_fabric> owned_fabric{fabric};
    fid_domain* domain = nullptr;
    REQUIRE(fi_domain(fabric, &info, &domain, nullptr) == 0);
    const Owned<fid_domain> owned_domain{domain};
    fid_ep* ep = nullptr;
    REQUIRE(fi_endpoint(domain, &info, &ep, nullptr) == 0);
    const Owned<fid_ep> owned{ep};
}

} // namespace

TEST_CASE("whatever the hints, they are fulfilled, or there is nothing") {
    constexpr size_t kNumbers =
        std::size(kCaps) * std::size(kModifiers) * std::size(kSecondary) * std::size(kMrModes);
    constexpr size_t kStride = 7919; // a prime
    size_t given = 0;
    for (size_t number = 0; number < kNumbers; ++number) {
        const Info hints = hints_for(number, number * kStride);
        CAPTURE(number);
        Info info, again;
        const int result = ask(*hints, info);
        if (!possible(*hints)) {
            CHECK(result == -FI_ENODATA);
            continue;
        }
        REQUIRE(result == 0);
        check_given(*hints, *info);
        // What is given is a wish that is fulfilled by the same.
        REQUIRE(ask(*info, again) == 0);
        CHECK(text_of(*again) == text_of(*info));
        if (++given % 20 == 0) check_openable(*info);
    }
    CHECK(given > 100);
}

TEST_CASE("names are resolved, as source or as destination, and bad ones are nothing") {
    const auto ask_for = [](const char* node, const char* service, uint64_t flags, Info& out) {
        const Info hints{fi_allocinfo()};
        hints->fabric_attr->prov_name = strdup("odrc");
        hints->domain_attr->name = strdup(choice().domain.c_str());
        hints->addr_format = FI_SOCKADDR_IN;
        fi_info* info = nullptr;
        const int result = fi_getinfo(FI_VERSION(1, 17), node, service, flags, hints.get(), &info);
        out.reset(info);
        return result;
    };
    const auto port_of = [](const void* address) {
        return ntohs(static_cast<const sockaddr_in*>(address)->sin_port);
    };
    Info info;
    REQUIRE(ask_for("localhost", "4711", 0, info) == 0);
    CHECK(port_of(info->dest_addr) == 4711);
    CHECK(info->src_addr);
    REQUIRE(ask_for("127.0.0.1", "4711", FI_SOURCE | FI_NUMERICHOST, info) == 0);
    CHECK(port_of(info->src_addr) == 4711);
    CHECK(info->dest_addr == nullptr);
    CHECK(ask_for("localhost", "4711", FI_NUMERICHOST, info) == -FI_ENODATA);
    CHECK(ask_for("256.1.1.1", "4711", FI_NUMERICHOST, info) == -FI_ENODATA);
    CHECK(ask_for(nullptr, "no such service", FI_SOURCE, info) == -FI_ENODATA);
    CHECK(ask_for(nullptr, nullptr, FI_SOURCE, info) == -FI_ENODATA);
    CHECK(ask_for("127.0.0.1", "4711", FI_RMA_EVENT, info) == -FI_ENODATA);
}
