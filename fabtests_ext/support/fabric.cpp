// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "fabric.hpp"

#include <cstring>
#include <rdma/fi_errno.h>
#include <sched.h>

namespace fabtests_ext {

void check(ssize_t result, const char* what) {
    if (result >= 0) return;
    throw std::runtime_error{std::string{what} + ": " + fi_strerror(static_cast<int>(-result))};
}

namespace {

// fi_freeinfo frees it.
template <class Attributes>
void put_key(Attributes& attributes, const std::string& key) {
    if (key.empty()) return;
    attributes.auth_key = reinterpret_cast<uint8_t*>(strndup(key.data(), key.size()));
    attributes.auth_key_size = key.size();
}

} // namespace

Info find_info(const Choice& choice, const Wishes& wishes) {
    const Info hints{fi_allocinfo()};
    hints->caps = wishes.caps;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->addr_format = wishes.address_format;
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = wishes.order;
    hints->domain_attr->threading = wishes.threading;
    hints->domain_attr->mr_mode = wishes.mr_mode;
    hints->domain_attr->data_progress = wishes.data_progress;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    put_key(*hints->ep_attr, wishes.key);
    put_key(*hints->domain_attr, wishes.domain_key);
    hints->fabric_attr->prov_name = strdup(choice.provider.c_str());
    if (!choice.domain.empty()) hints->domain_attr->name = strdup(choice.domain.c_str());
    fi_info* info = nullptr;
    const int result = fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints.get(), &info);
    if (result != -FI_ENODATA) check(result, "fi_getinfo");
    return Info{info};
}

Endpoint::Endpoint(const Choice& choice, const Wishes& wishes)
    : info_{find_info(choice, wishes)} {
    fi_info* const info = info_.get();
    check(info ? 0 : -FI_ENODATA, "fi_getinfo");

    fid_fabric* fabric = nullptr;
    check(fi_fabric(info->fabric_attr, &fabric, nullptr), "fi_fabric");
    fabric_.reset(fabric);
    fid_domain* domain = nullptr;
    check(fi_domain(fabric, info, &domain, nullptr), "fi_domain");
    domain_.reset(domain);

    fi_av_attr av_attr{};
    av_attr.type = FI_AV_TABLE;
    fid_av* av = nullptr;
    check(fi_av_open(domain, &av_attr, &av, nullptr), "fi_av_open");
    av_.reset(av);
    fid_ep* ep = nullptr;
    check(fi_endpoint(domain, info, &ep, nullptr), "fi_endpoint");
    ep_.reset(ep);
    check(fi_ep_bind(ep, &av->fid, 0), "fi_ep_bind to the address vector");
    if (wishes.entries) {
        fi_cq_attr cq_attr{};
        cq_attr.size = wishes.cq_size;
        cq_attr.format = wishes.cq_format;
        cq_attr.wait_obj = wishes.wait;
        fid_cq* cq = nullptr;
        check(fi_cq_open(domain, &cq_attr, &cq, nullptr), "fi_cq_open");
        cq_.reset(cq);
        const uint64_t selective = wishes.selective ? FI_SELECTIVE_COMPLETION : 0;
        check(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV | selective),
              "fi_ep_bind to the completion queue");
    }
    if (wishes.events) {
        fi_eq_attr eq_attr{};
        eq_attr.wait_obj = wishes.wait;
        fid_eq* eq = nullptr;
        check(fi_eq_open(fabric, &eq_attr, &eq, nullptr), "fi_eq_open");
        eq_.reset(eq);
        check(fi_ep_bind(ep, &eq->fid, 0), "fi_ep_bind to the event queue");
    }
    if (wishes.counters) {
        sent_ = count(FI_SEND, wishes.wait);
        received_ = count(FI_RECV, wishes.wait);
    }
    if (wishes.rma_counters) {
        read_ = count(FI_READ, wishes.wait);
        written_ = count(FI_WRITE, wishes.wait);
    }
    if (wishes.remote_counters) {
        read_by_peers_ = count(FI_REMOTE_READ, wishes.wait);
        written_by_peers_ = count(FI_REMOTE_WRITE, wishes.wait);
    }
    if (wishes.prepare) wishes.prepare(ep);
    check(fi_enable(ep), "fi_enable");
}

Owned<fid_cntr> Endpoint::count(uint64_t operations, fi_wait_obj wait) {
    fi_cntr_attr attr{};
    attr.wait_obj = wait;
    fid_cntr* counter = nullptr;
    check(fi_cntr_open(domain_.get(), &attr, &counter, nullptr), "fi_cntr_open");
    Owned<fid_cntr> owned{counter};
    check(fi_ep_bind(ep_.get(), &counter->fid, operations), "fi_ep_bind to a counter");
    return owned;
}

Owned<fid_ep> Endpoint::open_another() const {
    fid_ep* ep = nullptr;
    check(fi_endpoint(domain(), info_.get(), &ep, nullptr), "fi_endpoint");
    Owned<fid_ep> owned{ep};
    check(fi_ep_bind(ep, &av()->fid, 0), "fi_ep_bind to the address vector");
    check(fi_ep_bind(ep, &cq()->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind to the completion queue");
    check(fi_enable(ep), "fi_enable");
    return owned;
}

std::string Endpoint::name() const {
    char bytes[64];
    size_t length = sizeof bytes;
    check(fi_getname(&ep_->fid, bytes, &length), "fi_getname");
    return {bytes, length};
}

fi_addr_t Endpoint::insert(const std::string& address) {
    fi_addr_t number = FI_ADDR_NOTAVAIL;
    if (fi_av_insert(av_.get(), address.data(), 1, &number, 0, nullptr) != 1)
        throw std::runtime_error{"fi_av_insert refuses an address"};
    return number;
}

std::vector<fi_addr_t> Endpoint::introduce(Team& team) {
    std::vector<fi_addr_t> numbers;
    for (const std::string& address : team.exchange(name())) numbers.push_back(insert(address));
    return numbers;
}

bool Endpoint::poll(fi_cq_tagged_entry& entry, fi_addr_t* source) {
    const ssize_t n = fi_cq_readfrom(cq_.get(), &entry, 1, source);
    if (n == 1) return true;
    if (n == -FI_EAGAIN) return false;
    if (n != -FI_EAVAIL) check(n, "fi_cq_read");
    fi_cq_err_entry error{};
    check(fi_cq_readerr(cq_.get(), &error, 0), "fi_cq_readerr");
    throw std::runtime_error{std::string{"an operation failed: "} + fi_strerror(error.err)};
}

void Endpoint::wait(void* context) {
    for (fi_cq_tagged_entry entry;;) {
        if (!poll(entry))
            sched_yield();
        else if (entry.op_context == context)
            return;
    }
}

} // namespace fabtests_ext
