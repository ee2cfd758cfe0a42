// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "fabric.hpp"
#include "granules.hpp"

namespace odrc::mpi {

// Memory through which packed data passes, registered once, at the first message that needs it, and
// bounded: what many messages go through stays in a processor's cache. Who gets none of it can wait
// until others give back what they have, or have some made for him alone.
class Staging {
public:
    static constexpr size_t kBytes = size_t{2} << 20;
    static constexpr size_t kGranule = size_t{16} << 10;

    struct Stretch {
        std::byte* address{nullptr}; // null: there is none
        size_t bytes{0};
        RemoteMemory remote{};
        std::unique_ptr<Fabric::Region> alone; // it is none of the common memory

        explicit operator bool() const noexcept { return address != nullptr; }
    };

    explicit Staging(Fabric& fabric) noexcept
        : fabric_{fabric} {}
    ~Staging();
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;

    // Whether there is such memory at all.
    bool open() noexcept;
    // At least that many bytes in one piece.
    Stretch take(size_t bytes) noexcept;
    // Made for this, and gone when it is given back.
    Stretch make(size_t bytes) noexcept;
    void give_back(Stretch& stretch) noexcept;

private:
    Fabric& fabric_;
    std::byte* memory_{nullptr};
    std::unique_ptr<Fabric::Region> region_;
    Granules<kBytes / kGranule> granules_;
    bool refused_{false};
};

} // namespace odrc::mpi
