// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "packed.hpp"

#include "granules.hpp"

#include <cstdint>
#include <sys/mman.h>

namespace odrc::mpi {
namespace {

// What the process keeps: of huge pages, where the system has any, which are made and found by
// devices many times as quickly. Pages are there only from when they are used.
class Kept {
public:
    static Kept& get() {
        static Kept kept;
        return kept;
    }

    std::byte* take(size_t bytes) noexcept {
        const auto first = memory_ ? granules_.take(in_granules(bytes)) : std::nullopt;
        return first ? memory_ + *first * kGranule : nullptr;
    }
    void give_back(std::byte* place, size_t bytes) noexcept {
        granules_.give_back(static_cast<size_t>(place - memory_) / kGranule, in_granules(bytes));
    }

private:
    static constexpr size_t kBytes = size_t{32} << 20;
    static constexpr size_t kGranule = size_t{16} << 10;
    static constexpr size_t kHuge = size_t{2} << 20;

    Kept() noexcept
        : mapped_{mmap(nullptr, kBytes + kHuge, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)} {
        if (mapped_ == MAP_FAILED) return;
        const auto begin = reinterpret_cast<uintptr_t>(mapped_);
        memory_ = static_cast<std::byte*>(mapped_) + (kHuge - begin % kHuge) % kHuge;
        madvise(memory_, kBytes, MADV_HUGEPAGE);
    }
    ~Kept() {
        if (memory_) munmap(mapped_, kBytes + kHuge);
    }

    static constexpr size_t in_granules(size_t bytes) noexcept {
        return (bytes + kGranule - 1) / kGranule;
    }

    void* const mapped_;
    std::byte* memory_{nullptr};
    Granules<kBytes / kGranule> granules_;
};

} // namespace

std::byte* Packed::make(size_t bytes, From from) {
    drop();
    if (bytes <= kShort) {
        if (!short_) short_.reset(new std::byte[kShort]);
        return place_ = short_.get();
    }
    if (from == From::kept) {
        place_ = Kept::get().take(bytes);
        if (place_) taken_ = bytes;
    }
    if (!place_) {
        long_.reset(new std::byte[bytes]);
        place_ = long_.get();
    }
    return place_;
}

void Packed::give_up() noexcept {
    if (taken_) Kept::get().give_back(place_, taken_);
    taken_ = 0;
    long_.reset();
    place_ = nullptr;
}

} // namespace odrc::mpi
