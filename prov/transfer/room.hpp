// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstddef>
#include <cstdint>

namespace odrc::transfer {

// How much room there is for messages that come before their receives. What becomes of them is told
// in room.cpp.
class Room {
public:
    enum class State : uint8_t { much, little, none };

    explicit Room(size_t bytes) noexcept
        : bytes_{bytes} {}

    State state() const noexcept { return state_; }
    bool is(State state) const noexcept { return state_ == state; }
    // With so many bytes in use. What was full has to empty by a quarter before it is not: else
    // each message would change it.
    State with(size_t used) const noexcept {
        const size_t none_from = is(State::none) ? bytes_ / 4 * 3 : bytes_;
        const size_t little_from = is(State::much) ? bytes_ / 2 : bytes_ / 8 * 3;
        return used >= none_from ? State::none : used >= little_from ? State::little : State::much;
    }
    void become(State state) noexcept { state_ = state; }

private:
    const size_t bytes_;
    State state_{State::much};
};

} // namespace odrc::transfer
