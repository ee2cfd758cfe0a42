// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/clock.hpp"
#include "transfer/crossovers.hpp"
#include "verbs_rc/queue_pair.hpp"

#include <memory>
#include <optional>

namespace odrc::transfer {

// A device's connection to itself, over which bytes go in each way, one work request at a time.
// What throws Error leaves it of no use.
class DeviceLoop {
public:
    // most: bytes at a time. end: of processor_time(), beyond which nothing is waited for.
    DeviceLoop(verbs::Adapter& adapter, size_t most, std::chrono::nanoseconds end);

    void inlined(size_t bytes);
    void gathered(size_t bytes);
    void copied(size_t bytes);
    void read(size_t bytes);
    void taken(size_t bytes) noexcept;
    // The program's memory, as it is registered for a transfer; false if it was not, before.
    bool find_registered(size_t bytes);

private:
    struct Unmap {
        size_t bytes;
        void operator()(std::byte* memory) const noexcept;
    };

    void post(ibv_wr_opcode opcode, std::span<ibv_sge> pieces, int flags);
    void await();

    verbs::Adapter& adapter_;
    const std::chrono::nanoseconds end_;
    verbs::Slab here_, there_;
    std::unique_ptr<std::byte[], Unmap> own_; // as a program's
    verbs::Cq cq_;
    verbs::QueuePair qp_;
};

// All of it in turns, again and again. Nothing where a device cannot be asked, or where that would
// take more of a processor.
inline constexpr auto kPatience = std::chrono::milliseconds{4};
std::optional<DeviceCosts> measure(verbs::Adapter& adapter,
                                   std::chrono::nanoseconds patience = kPatience);

} // namespace odrc::transfer
