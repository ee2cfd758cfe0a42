// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "side.hpp"

#include <cstdlib>
#include <cstring>

namespace fabtests_ext::logp {
namespace {

constexpr size_t kPage = 4096;

Wishes wishes(uint64_t caps) {
    return {.caps = caps,
            .selective = true,
            .mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY};
}

uint64_t access_for(uint64_t caps) noexcept {
    if (caps & FI_TAGGED) return FI_SEND | FI_RECV;
    return FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
}

} // namespace

Side::Memory::Memory(const Endpoint& endpoint, size_t bytes, uint64_t access, uint64_t key)
    : size_{(bytes + kPage - 1) / kPage * kPage} {
    bytes_.reset(static_cast<char*>(std::aligned_alloc(kPage, size_)));
    if (!bytes_) throw std::bad_alloc{};
    std::memset(bytes_.get(), 0, size_);
    fid_mr* mr = nullptr;
    check(fi_mr_reg(endpoint.domain(), bytes_.get(), size_, access, 0, key, 0, &mr, nullptr),
          "fi_mr_reg");
    mr_.reset(mr);
}

Side::Side(Team& team, const Choice& choice, uint64_t caps, size_t bytes)
    : team_{team}
    , endpoint_{choice, wishes(caps)}
    , peer_{endpoint_.introduce(team)[team.rank() == 0 ? 1 : 0]}
    , out_{endpoint_, bytes, access_for(caps), 1}
    , in_{endpoint_, bytes, access_for(caps), 2} {}

Side::Target Side::exchange_targets() {
    const bool virtual_addresses = info().domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    const Target mine{virtual_addresses ? reinterpret_cast<uint64_t>(in_.data()) : 0, in_.key()};
    const std::string theirs =
        team_.exchange({reinterpret_cast<const char*>(&mine), sizeof mine})[first() ? 1 : 0];
    Target target;
    std::memcpy(&target, theirs.data(), sizeof target);
    return target;
}

void Side::transfer(const char* what, Call* call, const Target& target, size_t size,
                    uint64_t flags) {
    const iovec v{out_.data(), size};
    void* descriptor = out_.descriptor();
    const fi_rma_iov there{target.address, size, target.key};
    const fi_msg_rma message{.msg_iov = &v,
                             .desc = &descriptor,
                             .iov_count = 1,
                             .addr = peer_,
                             .rma_iov = &there,
                             .rma_iov_count = 1,
                             .context = next_context(),
                             .data = 0};
    post(what, [&] { return call(endpoint_.ep(), &message, flags); });
}

void Side::reap() {
    fi_cq_tagged_entry entries[16];
    const ssize_t n = fi_cq_read(endpoint_.cq(), entries, std::size(entries));
    for (ssize_t i = 0; i < n; ++i) ++(entries[i].flags & FI_RECV ? received_ : done_);
    if (n < 0 && n != -FI_EAGAIN) endpoint_.poll(entries[0]); // says what the error is
}

} // namespace fabtests_ext::logp
