// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/shared_words.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <atomic>

namespace odrc::transfer {

namespace {

using Swap = verbs::OwnWords::Swap;

AtomicElements part_of(const AtomicElements& whole, size_t begin, size_t count) noexcept {
    const size_t at = begin * sizeof(uint64_t);
    return {.target = whole.target + at,
            .operands = whole.operands + at,
            .compares = whole.compares + at,
            .results = whole.results ? whole.results + at : nullptr,
            .count = count};
}

// What the operation makes of the word that was found. False if it leaves it as it is.
bool plan(const AtomicOperation& operation, AtomicElements element, Swap& swap) noexcept {
    swap.address = reinterpret_cast<uint64_t>(element.target);
    swap.from = swap.to = swap.found;
    element.target = reinterpret_cast<std::byte*>(&swap.to);
    operation.apply(element);
    return swap.to != swap.from;
}

} // namespace

int SharedWords::change(const AtomicOperation& operation, const AtomicElements& elements,
                        uint32_t rkey) noexcept {
    if (!words_)
        if (const int error = make()) return error;
    for (size_t begin = 0; begin < elements.count; begin += kAtOnce) {
        const size_t count = std::min(kAtOnce, elements.count - begin);
        if (const int error = change_some(operation, part_of(elements, begin, count), rkey)) {
            words_.reset();
            return error;
        }
    }
    return 0;
}

// What the operation makes of a word is put in its place if the word is still there, or else is
// worked out again from what has come there since.
int SharedWords::change_some(const AtomicOperation& operation, const AtomicElements& some,
                             uint32_t rkey) noexcept {
    std::array<Swap, kAtOnce> swaps;
    size_t left = 0;
    for (size_t i = 0; i < some.count; ++i) {
        auto& word = reinterpret_cast<uint64_t*>(some.target)[i];
        swaps[left].found = std::atomic_ref{word}.load(std::memory_order_acquire);
        left += plan(operation, part_of(some, i, 1), swaps[left]);
    }
    while (left > 0) {
        const auto tried = std::span{swaps}.first(left);
        if (const int error = words_->swap(tried, rkey)) return error;
        left = 0;
        for (const Swap& swap : tried) {
            if (swap.found == swap.from) continue;
            const auto begin = reinterpret_cast<uint64_t>(some.target);
            const size_t i = (swap.address - begin) / sizeof(uint64_t);
            swaps[left].found = swap.found;
            left += plan(operation, part_of(some, i, 1), swaps[left]);
        }
    }
    return 0;
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
