// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "schemes/staging.hpp"

#include <utility>

namespace odrc::mpi {

Staging::~Staging() {
    region_.reset();
    if (memory_) fabric_.release(memory_, kBytes);
}

bool Staging::open() noexcept {
    if (region_ || refused_) return !refused_;
    memory_ = fabric_.allocate(kBytes);
    if (memory_) region_ = fabric_.expose(memory_, kBytes);
    refused_ = !region_;
    return !refused_;
}

Staging::Stretch Staging::take(size_t bytes) noexcept {
    const size_t wanted = (bytes + kGranule - 1) / kGranule;
    const auto first = granules_.take(wanted);
    if (!first) return {};
    const size_t offset = *first * kGranule;
    const RemoteMemory all = region_->remote();
    return {.address = memory_ + offset,
            .bytes = wanted * kGranule,
            .remote = {all.address + offset, all.key},
            .alone = nullptr};
}

Staging::Stretch Staging::make(size_t bytes) noexcept {
    std::byte* const memory = fabric_.allocate(bytes);
    auto region = memory ? fabric_.expose(memory, bytes) : nullptr;
    if (memory && !region) fabric_.release(memory, bytes);
    if (!region) return {};
    const RemoteMemory remote = region->remote();
    return {.address = memory, .bytes = bytes, .remote = remote, .alone = std::move(region)};
}

void Staging::give_back(Stretch& stretch) noexcept {
    Stretch gone = std::exchange(stretch, {});
    if (!gone) return;
    if (gone.alone) {
        gone.alone.reset();
        return fabric_.release(gone.address, gone.bytes);
    }
    granules_.give_back(static_cast<size_t>(gone.address - memory_) / kGranule,
                        gone.bytes / kGranule);
}

} // namespace odrc::mpi
