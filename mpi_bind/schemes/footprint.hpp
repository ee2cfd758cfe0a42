// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace odrc::mpi {

// How much memory a process's last messages lie in: programs use the same data time and again, and
// what there is of it fits into a cache or does not.
class Footprint {
public:
    void add(const void* address, uint64_t bytes) noexcept {
        const auto known = std::ranges::find(last_, address, &Place::address);
        Place& place = known != last_.end() ? *known : last_[next_++ % last_.size()];
        bytes_ += bytes - place.bytes;
        place = {address, bytes};
    }
    uint64_t bytes() const noexcept { return bytes_; }

private:
    struct Place {
        const void* address{nullptr};
        uint64_t bytes{0};
    };
    std::array<Place, 16> last_{};
    size_t next_{0};
    uint64_t bytes_{0}; // of all of them
};

} // namespace odrc::mpi
