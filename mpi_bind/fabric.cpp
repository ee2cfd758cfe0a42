// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "fabric.hpp"

#include "fabric_group.hpp"
#include "launch.hpp"
#include "process.hpp"

#include <cstring>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_errno.h>

namespace odrc::mpi {
namespace {

constexpr uint32_t kVersion = FI_VERSION(1, 17);
constexpr size_t kAtOnce = 16; // completions that are taken in

void check(ssize_t result, const char* call) {
    if (result >= 0) return;
    throw StartError{std::string{call} + ": " + fi_strerror(static_cast<int>(-result))};
}

// Ours passes on what is broadcast to groups, and makes progress while the program computes, at
// next to no cost. Others have threads for that which messages wait for, or say that they have
// groups and break over them (tcp;ofi_rxm of libfabric 1.17).
bool passes_broadcasts_on(const std::string& provider) { return provider == "odrc"; }

using Infos = std::unique_ptr<fi_info, decltype([](fi_info* i) { fi_freeinfo(i); })>;

// Messages keep their order, as MPI's have to (3.5). Null where there is no such provider.
fi_info* find(const std::string& provider, bool with_memory, int& error) {
    const Infos hints{fi_allocinfo()};
    if (!hints) throw std::bad_alloc{};
    hints->caps = FI_TAGGED;
    uint64_t order = FI_ORDER_SAS;
    if (with_memory) {
        hints->caps |= FI_RMA;
        hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
        hints->domain_attr->cq_data_size = sizeof(uint64_t);
        // Whoever hears of a write sees those before it.
        order |= FI_ORDER_RMA_WAW;
    }
    if (passes_broadcasts_on(provider)) {
        hints->caps |= FI_COLLECTIVE;
        hints->domain_attr->data_progress = FI_PROGRESS_AUTO;
    }
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = order;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->fabric_attr->prov_name = strdup(provider.c_str());
    fi_info* found = nullptr;
    error = fi_getinfo(kVersion, nullptr, nullptr, 0, hints.get(), &found);
    return found;
}

// With memory that peers can read and write, if the provider has that.
fi_info* find(const std::string& provider) {
    int error = 0;
    fi_info* found = find(provider, true, error);
    if (!found) found = find(provider, false, error);
    if (!found) check(error, ("fi_getinfo, provider " + provider).c_str());
    return found;
}

} // namespace

Fabric::Fabric(const std::string& provider)
    : info_{find(provider)} {
    fid_fabric* fabric = nullptr;
    check(fi_fabric(info_->fabric_attr, &fabric, nullptr), "fi_fabric");
    fabric_.reset(fabric);
    fid_domain* domain = nullptr;
    check(fi_domain(fabric, info_.get(), &domain, nullptr), "fi_domain");
    domain_.reset(domain);
    if (info_->caps & FI_RMA)
        pieces_ = std::min(info_->tx_attr->iov_limit, info_->tx_attr->rma_iov_limit);
    // Others have none.
    fi_open_ops(&domain->fid, FI_ODRC_MEMORY_OPS, 0, reinterpret_cast<void**>(&memory_), nullptr);
    fi_av_attr av_attr{};
    av_attr.type = FI_AV_UNSPEC;
    fid_av* av = nullptr;
    check(fi_av_open(domain, &av_attr, &av, nullptr), "fi_av_open");
    addresses_.reset(av);
    fi_cq_attr cq_attr{};
    cq_attr.format = FI_CQ_FORMAT_TAGGED;
    cq_attr.size = info_->tx_attr->size + info_->rx_attr->size;
    fid_cq* cq = nullptr;
    check(fi_cq_open(domain, &cq_attr, &cq, nullptr), "fi_cq_open");
    completions_.reset(cq);
    fid_ep* ep = nullptr;
    check(fi_endpoint(domain, info_.get(), &ep, nullptr), "fi_endpoint");
    endpoint_.reset(ep);
    check(fi_ep_bind(ep, &av->fid, 0), "fi_ep_bind");
    check(fi_ep_bind(ep, &cq->fid, FI_SEND | FI_RECV), "fi_ep_bind");
    if (passes_broadcasts_on(provider)) open_events();
    if (info_->addr_format == FI_ODRC_ADDRESS)
        check(fi_open_ops(&ep->fid, FI_ODRC_RANGES_OPS, 0, reinterpret_cast<void**>(&lists_),
                          nullptr),
              "fi_open_ops");
    check(fi_enable(ep), "fi_enable");
}

Fabric::~Fabric() = default;

// What tells that a group is joined.
void Fabric::open_events() {
    fi_eq_attr attr{};
    attr.wait_obj = FI_WAIT_NONE;
    fid_eq* eq = nullptr;
    check(fi_eq_open(fabric_.get(), &attr, &eq, nullptr), "fi_eq_open");
    events_.reset(eq);
    check(fi_ep_bind(endpoint_.get(), &eq->fid, 0), "fi_ep_bind");
}

FabricGroup& Fabric::join(std::span<const fi_addr_t> members) {
    return groups_.emplace_back(*this, members);
}

void Fabric::leave(FabricGroup& group) noexcept {
    groups_.remove_if([&](const FabricGroup& g) { return &g == &group; });
}

std::vector<std::byte> Fabric::address() const {
    size_t size = 0;
    const int result = fi_getname(&endpoint_->fid, nullptr, &size);
    if (result != -FI_ETOOSMALL) check(result, "fi_getname");
    std::vector<std::byte> bytes(size);
    check(fi_getname(&endpoint_->fid, bytes.data(), &size), "fi_getname");
    bytes.resize(size);
    return bytes;
}

std::vector<std::byte> Fabric::list() const {
    std::vector<std::byte> bytes;
    if (!lists_) return bytes;
    size_t size = 0;
    int result = -FI_ETOOSMALL;
    while (result == -FI_ETOOSMALL) {
        bytes.resize(size);
        result = lists_->get(endpoint_.get(), bytes.data(), &size);
    }
    check(result, "the list of queue pairs");
    return bytes;
}

std::vector<std::byte> Fabric::contact() const {
    std::vector<std::byte> bytes = address();
    const auto behind = list();
    bytes.insert(bytes.end(), behind.begin(), behind.end());
    return bytes;
}

fi_addr_t Fabric::introduce(std::span<const std::byte> contact) {
    fi_addr_t number = FI_ADDR_NOTAVAIL;
    const int inserted = fi_av_insert(addresses_.get(), contact.data(), 1, &number, 0, nullptr);
    check(inserted, "fi_av_insert");
    if (inserted != 1) throw StartError{"fi_av_insert: an address that the provider does not take"};
    if (!lists_) return number;
    const auto list = contact.subspan(std::min(contact.size(), address().size()));
    check(lists_->give(endpoint_.get(), number, list.data(), list.size()),
          "the list of another's queue pairs");
    return number;
}

std::string Fabric::name() const {
    return std::string{info_->fabric_attr->prov_name} + ", " + info_->domain_attr->name;
}

// ---- out ---------------------------------------------------------------------------------------

// Until the provider takes it: it has room again after progress.
template <class F>
void Fabric::insist(const char* call, F&& f) noexcept {
    ssize_t result = 0;
    while ((result = f()) == -FI_EAGAIN) Process::get().advance();
    if (result) fatal("{}: {}", call, fi_strerror(static_cast<int>(-result)));
}

bool Fabric::has_taken(const char* call, ssize_t result) noexcept {
    if (result && result != -FI_EAGAIN)
        fatal("{}: {}", call, fi_strerror(static_cast<int>(-result)));
    return result == 0;
}

bool Fabric::inject(fi_addr_t to, uint64_t tag, const void* bytes, size_t size) noexcept {
    return has_taken("fi_tinject", fi_tinject(endpoint_.get(), bytes, size, to, tag));
}

void Fabric::send(fi_addr_t to, uint64_t tag, const void* bytes, size_t size,
                  Operation& op) noexcept {
    insist("fi_tsend",
           [&] { return fi_tsend(endpoint_.get(), bytes, size, nullptr, to, tag, &op); });
}

void Fabric::send(fi_addr_t to, uint64_t tag, uint64_t data, const void* bytes, size_t size,
                  Operation& op) noexcept {
    insist("fi_tsenddata",
           [&] { return fi_tsenddata(endpoint_.get(), bytes, size, nullptr, data, to, tag, &op); });
}

bool Fabric::try_send(fi_addr_t to, uint64_t tag, std::span<const std::byte> bytes,
                      Operation& op) noexcept {
    return has_taken("fi_tsend",
                     fi_tsend(endpoint_.get(), bytes.data(), bytes.size(), nullptr, to, tag, &op));
}

void Fabric::broadcast(FabricGroup& group, fi_addr_t root, void* bytes, size_t size,
                       Operation& op) noexcept {
    insist("fi_broadcast", [&] {
        return fi_broadcast(endpoint_.get(), bytes, size, nullptr, group.address(), root, FI_UINT8,
                            0, &op);
    });
}

// ---- in ----------------------------------------------------------------------------------------

void Fabric::receive(uint64_t tag, uint64_t ignore, void* bytes, size_t size,
                     Operation& op) noexcept {
    insist("fi_trecv", [&] {
        return fi_trecv(endpoint_.get(), bytes, size, nullptr, FI_ADDR_UNSPEC, tag, ignore, &op);
    });
}

bool Fabric::try_receive(uint64_t tag, std::span<std::byte> bytes, Operation& op) noexcept {
    return has_taken("fi_trecv", fi_trecv(endpoint_.get(), bytes.data(), bytes.size(), nullptr,
                                          FI_ADDR_UNSPEC, tag, 0, &op));
}

void Fabric::look(uint64_t tag, uint64_t ignore, void* bytes, size_t size, uint64_t flags,
                  Operation& op) noexcept {
    const iovec piece{bytes, size};
    const fi_msg_tagged message{.msg_iov = &piece,
                                .desc = nullptr,
                                .iov_count = bytes ? 1u : 0u,
                                .addr = FI_ADDR_UNSPEC,
                                .tag = tag,
                                .ignore = ignore,
                                .context = &op,
                                .data = 0};
    // Some say at once that there is nothing, and others by a completion.
    ssize_t result = 0;
    while ((result = fi_trecvmsg(endpoint_.get(), &message, flags)) == -FI_EAGAIN)
        Process::get().advance();
    if (result == -FI_ENOMSG)
        op.done(op, {.length = 0, .tag = 0, .data = 0, .error = FI_ENOMSG});
    else if (result)
        fatal("fi_trecvmsg: {}", fi_strerror(static_cast<int>(-result)));
}

bool Fabric::progress() noexcept {
    fi_cq_tagged_entry entries[kAtOnce];
    const ssize_t n = fi_cq_read(completions_.get(), entries, kAtOnce);
    for (ssize_t i = 0; i < n; ++i) {
        const fi_cq_tagged_entry& e = entries[i];
        if (!e.op_context) { // of another's doing
            listener_(e.data);
            continue;
        }
        Operation& op = Operation::of(e.op_context);
        op.done(op, {.length = e.len, .tag = e.tag, .data = e.data, .error = 0});
    }
    if (n >= 0) return n > 0;
    if (n == -FI_EAVAIL) return take_error();
    if (n != -FI_EAGAIN) fatal("fi_cq_read: {}", fi_strerror(static_cast<int>(-n)));
    return false;
}

bool Fabric::take_error() noexcept {
    fi_cq_err_entry e{};
    if (fi_cq_readerr(completions_.get(), &e, 0) != 1) return false;
    if (!e.op_context) fatal("a message that was injected is lost: {}", fi_strerror(e.err));
    Operation& op = Operation::of(e.op_context);
    op.done(op, {.length = e.len, .tag = e.tag, .data = e.data, .error = e.err});
    return true;
}

} // namespace odrc::mpi
