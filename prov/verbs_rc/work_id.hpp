// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstdint>

namespace odrc::verbs {

// What a completion was for, packed into the 64 bits of a work request's id: a pointer, what it
// points to, and the position of the work request in its send queue.
enum class WorkKind : uint64_t {
    receive, // a buffer of the shared receive queue
    send,    // a message on its way out
    read,    // a message being fetched from its sender
    rma,     // a read or write of the program's own
    atomic,  // a word of a peer's that the device changes
    lane,    // the connection's own business
};

class WorkId {
public:
    WorkId(WorkKind kind, const void* object, uint16_t position) noexcept
        : bits_{reinterpret_cast<uint64_t>(object) | static_cast<uint64_t>(kind) |
                uint64_t{position} << kPositionShift} {}
    explicit WorkId(uint64_t bits) noexcept
        : bits_{bits} {}

    uint64_t bits() const noexcept { return bits_; }
    WorkKind kind() const noexcept { return static_cast<WorkKind>(bits_ & kKindMask); }
    uint16_t position() const noexcept { return static_cast<uint16_t>(bits_ >> kPositionShift); }
    template <class T>
    T* object() const noexcept {
        static_assert(alignof(T) > kKindMask);
        return reinterpret_cast<T*>(bits_ & ((uint64_t{1} << kPositionShift) - 1) & ~kKindMask);
    }

private:
    // User addresses have 47 bits on x86-64 and 48 on arm64, unless a program asks for more.
    static constexpr unsigned kPositionShift = 48;
    static constexpr uint64_t kKindMask = 7;
    uint64_t bits_;
};

} // namespace odrc::verbs
