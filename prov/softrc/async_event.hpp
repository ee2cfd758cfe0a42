// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstdint>

namespace odrc::soft {

enum class EventSource : uint64_t { none = 0, qp = 1, cq = 2, srq = 3 };

// An asynchronous event as it goes through a pipe: what happened to which object.
//
//   source (4 bits) | index in the owner's table (28) | number of the queue pair (24) | type (8)
struct AsyncEvent {
    EventSource source;
    uint32_t index;
    uint32_t qp_num;
    uint32_t type; // ibv_event_type

    constexpr uint64_t bits() const noexcept {
        return static_cast<uint64_t>(source) << 60 | uint64_t{index} << 32 | uint64_t{qp_num} << 8 |
               type;
    }
    static constexpr AsyncEvent from(uint64_t bits) noexcept {
        return {static_cast<EventSource>(bits >> 60), static_cast<uint32_t>(bits >> 32 & 0xfffffff),
                static_cast<uint32_t>(bits >> 8 & 0xffffff), static_cast<uint32_t>(bits & 0xff)};
    }
};

} // namespace odrc::soft
