// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/domain_memory.hpp"

#include "base/log.hpp"
#include "ofi/domain.hpp"

#include <cstdint>

namespace odrc::ofi {
namespace {

constexpr size_t kPage = 4096;

// Devices give whole pages to who asks for some.
constexpr size_t pages_for(size_t length) noexcept { return (length + kPage - 1) / kPage * kPage; }

void* allocate(fid_domain* d, size_t length) {
    return static_cast<Domain&>(*d).memory().allocate(length);
}

void release(fid_domain* d, void* memory, size_t length) {
    auto& domain = static_cast<Domain&>(*d);
    if (memory && !domain.memory().release(memory, length))
        ODRC_WARN(FI_LOG_DOMAIN, "{}: {} bytes of memory at {} are not the domain's to take back",
                  domain.adapter().port().name(), length, memory);
}

} // namespace

DomainMemory::~DomainMemory() {
    for (const auto& [memory, length] : lengths_) context_.release(memory, pages_for(length));
}

void* DomainMemory::allocate(size_t length) noexcept {
    if (length == 0 || length > PTRDIFF_MAX) return nullptr;
    void* memory = context_.allocate(pages_for(length));
    if (!memory) return nullptr;
    try {
        std::lock_guard lock{mutex_};
        lengths_.emplace(memory, length);
        return memory;
    } catch (const std::bad_alloc&) {
        context_.release(memory, pages_for(length));
        return nullptr;
    }
}

bool DomainMemory::release(void* memory, size_t length) noexcept {
    {
        std::lock_guard lock{mutex_};
        const auto found = lengths_.find(memory);
        if (found == lengths_.end() || found->second != length) return false;
        lengths_.erase(found);
    }
    context_.release(memory, pages_for(length));
    return true;
}

fi_odrc_memory_ops domain_memory_ops = {
    .size = sizeof domain_memory_ops, .allocate = allocate, .release = release};

} // namespace odrc::ofi
