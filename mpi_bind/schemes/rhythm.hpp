// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "schemes/experience.hpp"
#include "schemes/message_kind.hpp"

namespace odrc::mpi {

// How soon one message of a kind follows the other, of those that go and those that come, where
// each goes alone: what is spared by a message that is not offered, neither of its sides can
// measure. Times are in nanoseconds.
class Rhythm {
public:
    explicit Rhythm(Experience::Clock now) noexcept
        : now_{now} {}

    // One of ours begins; of what is offered, generic() tells later that it goes by Generic.
    void begin(const MessageKind& kind, bool is_offered) noexcept;
    void generic(const MessageKind& kind) noexcept;
    void end(uint32_t place) noexcept; // one that has begun (MessageKind::place)
    // So many of the next ones of ours, if they go like the last two, tell nothing, and need not
    // begin here; and so many did not.
    uint32_t untold(const MessageKind& kind) const noexcept;
    void went(const MessageKind& kind, uint32_t messages) noexcept;
    // One of the other side's has come.
    void came(const MessageKind& kind) noexcept;

    // Of each message, if it goes by Generic; 0: not known.
    Pace pace(const MessageKind& kind) const noexcept;

private:
    enum class How : uint8_t { as_it_is, generic, otherwise };
    struct Entry {
        MessageKind kind{};
        How how{How::otherwise}, before{How::otherwise}; // the last one, and the one before that
        uint32_t in_a_row{0};                            // that went like that, and it
        uint32_t messages{0};                            // since the last one began, and it
        uint32_t under_way{0};
        double begin{0};               // of the last one, if the clock was looked at
        std::array<double, 2> known{}; // by How
    };

    Entry* find(const MessageKind& kind) noexcept {
        Entry& entry = entries_[kind.place()];
        return entry.kind == kind ? &entry : nullptr;
    }
    static bool tells(uint32_t in_a_row) noexcept;
    static void learn(Entry& entry, double now) noexcept;

    const Experience::Clock now_;
    std::array<Entry, MessageKind::kPlaces> entries_{};
};

} // namespace odrc::mpi
