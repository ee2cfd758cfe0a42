// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "operations.hpp"

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>

namespace counts {

using namespace fabtests_ext;

Side::Side(const Choice& choice, const Wishes& wishes, bool remote)
    : endpoint_{choice, wishes}
    , bytes_(kMostBytes) {
    if (!remote) return;
    fid_mr* region = nullptr;
    check(fi_mr_reg(endpoint_.domain(), bytes_.data(), bytes_.size(),
                    FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 1, 0, &region, nullptr),
          "fi_mr_reg");
    region_.reset(region);
}

void Side::meet(Side& other) {
    peer_ = endpoint_.insert(other.endpoint_.name());
    if (!other.region_) return;
    const bool virtual_addresses =
        other.endpoint_.info().domain_attr->mr_mode & (FI_MR_VIRT_ADDR | FI_MR_BASIC);
    peer_address_ =
        virtual_addresses ? reinterpret_cast<uint64_t>(other.bytes_.data()) : uint64_t{0};
    peer_key_ = fi_mr_key(other.region_.get());
}

void Side::post_receive(const Operation& o) {
    fid_ep* const ep = endpoint_.ep();
    check(o.tagged ? fi_trecv(ep, bytes_.data(), o.bytes, nullptr, peer_, 0, 0, &context_)
                   : fi_recv(ep, bytes_.data(), o.bytes, nullptr, peer_, &context_),
          "fi_recv");
}

ssize_t Side::post(const Operation& o) {
    fid_ep* const ep = endpoint_.ep();
    char* const bytes = bytes_.data();
    switch (o.kind) {
    case Operation::Kind::send:
        return o.tagged ? fi_tsend(ep, bytes, o.bytes, nullptr, peer_, 0, &context_)
                        : fi_send(ep, bytes, o.bytes, nullptr, peer_, &context_);
    case Operation::Kind::inject:
        return o.tagged ? fi_tinject(ep, bytes, o.bytes, peer_, 0)
                        : fi_inject(ep, bytes, o.bytes, peer_);
    case Operation::Kind::write:
        return fi_write(ep, bytes, o.bytes, nullptr, peer_, peer_address_, peer_key_, &context_);
    case Operation::Kind::read:
        return fi_read(ep, bytes, o.bytes, nullptr, peer_, peer_address_, peer_key_, &context_);
    case Operation::Kind::fetch_add:
        return fi_fetch_atomic(ep, bytes, 1, nullptr, bytes + o.bytes, nullptr, peer_,
                               peer_address_, peer_key_, FI_UINT64, FI_SUM, &context_);
    case Operation::Kind::look:
    case Operation::Kind::look_again:
    case Operation::Kind::look_for_answer:
        break;
    }
    return 0;
}

bool Side::look() {
    fi_cq_tagged_entry entry;
    const ssize_t n = fi_cq_read(endpoint_.cq(), &entry, 1);
    if (n != -FI_EAGAIN) check(n, "fi_cq_read");
    return n == 1;
}

} // namespace counts
