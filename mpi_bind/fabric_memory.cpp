// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Reading and writing the memory of others, and letting them do the same (fi_rma(3), fi_mr(3)).

#include "fabric.hpp"

#include <sys/mman.h>

namespace odrc::mpi {
namespace {

constexpr uint64_t kAccess = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;

} // namespace

std::byte* Fabric::allocate(size_t bytes) noexcept {
    if (memory_) return static_cast<std::byte*>(memory_->allocate(domain_.get(), bytes));
    void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? nullptr : static_cast<std::byte*>(pages);
}

void Fabric::release(std::byte* memory, size_t bytes) noexcept {
    if (memory_)
        memory_->release(domain_.get(), memory, bytes);
    else
        munmap(memory, bytes);
}

std::unique_ptr<Fabric::Region> Fabric::expose(void* memory, size_t bytes) noexcept {
    fid_mr* mr = nullptr;
    if (fi_mr_reg(domain_.get(), memory, bytes, kAccess, 0, ++keys_, 0, &mr, nullptr))
        return nullptr;
    auto region = std::make_unique<Region>();
    region->region_.reset(mr);
    const bool by_address = info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    region->remote_ = {.address = by_address ? reinterpret_cast<uint64_t>(memory) : 0,
                       .key = fi_mr_key(mr)};
    return region;
}

bool Fabric::access(const Access& a, uint64_t flags, uint64_t bits, Operation& op) noexcept {
    const fi_msg_rma message{.msg_iov = a.here.data(),
                             .desc = nullptr,
                             .iov_count = a.here.size(),
                             .addr = a.peer,
                             .rma_iov = a.there.data(),
                             .rma_iov_count = a.there.size(),
                             .context = &op,
                             .data = bits};
    const bool reads = flags & FI_READ;
    flags = (flags & ~FI_READ) | FI_COMPLETION | (a.more ? FI_MORE : 0);
    return reads ? has_taken("fi_readmsg", fi_readmsg(endpoint_.get(), &message, flags))
                 : has_taken("fi_writemsg", fi_writemsg(endpoint_.get(), &message, flags));
}

bool Fabric::read(const Access& a, Operation& op) noexcept { return access(a, FI_READ, 0, op); }

bool Fabric::write(const Access& a, Operation& op) noexcept { return access(a, 0, 0, op); }

bool Fabric::write(const Access& a, uint64_t bits, Operation& op) noexcept {
    return access(a, FI_REMOTE_CQ_DATA, bits, op);
}

} // namespace odrc::mpi
