// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/shared_words.hpp"

#include "base/error.hpp"

#include <atomic>

namespace odrc::transfer {

int SharedWords::change(const AtomicOperation& operation, const AtomicElements& elements,
                        uint32_t rkey) noexcept {
    if (!words_)
        if (const int error = make()) return error;
    for (size_t at = 0; at < elements.count * sizeof(uint64_t); at += sizeof(uint64_t)) {
        const AtomicElements element{.target = elements.target + at,
                                     .operands = elements.operands + at,
                                     .compares = elements.compares + at,
                                     .results = elements.results ? elements.results + at : nullptr,
                                     .count = 1};
        if (const int error = change_one(operation, element, rkey)) {
            words_.reset();
            return error;
        }
    }
    return 0;
}

// What the operation makes of the word is put in its place if it is still there.
int SharedWords::change_one(const AtomicOperation& operation, const AtomicElements& element,
                            uint32_t rkey) noexcept {
    auto& target = *reinterpret_cast<uint64_t*>(element.target);
    uint64_t before = std::atomic_ref{target}.load(std::memory_order_acquire);
    for (;;) {
        uint64_t after = before, found = 0;
        AtomicElements copy = element;
        copy.target = reinterpret_cast<std::byte*>(&after);
        operation.apply(copy);
        if (after == before) return 0;
        const auto address = reinterpret_cast<uint64_t>(&target);
        if (const int error = words_->swap(address, rkey, before, after, found)) return error;
        if (found == before) return 0;
        before = found;
    }
}

int SharedWords::make() noexcept {
    try {
        words_.emplace(adapter_, srq_);
        return 0;
    } catch (const Error& e) {
        return e.code();
    } catch (const std::bad_alloc&) {
        return FI_ENOMEM;
    }
}

} // namespace odrc::transfer
