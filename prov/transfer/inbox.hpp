// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/counters.hpp"
#include "transfer/matcher.hpp"

namespace odrc::transfer {

// Where receives wait for messages, and messages for receives. What becomes of the two when they
// have met is not known here.
class Inbox {
public:
    Inbox(LongLists& longs, Counters& counters) noexcept
        : longs_{longs}
        , counters_{counters} {}

    // Untagged messages, tagged ones and ours meet their receives each among themselves.
    Matcher& matcher(uint64_t flags) noexcept { return flags & FI_TAGGED ? tagged_ : messages_; }
    Matcher& matcher(const Message& message) noexcept {
        return message.tagged() ? tagged_ : message.collective() ? parts_ : messages_;
    }
    Matcher& parts() noexcept { return parts_; }
    // Receives that wait for a message.
    size_t posted() const noexcept {
        return messages_.posted() + tagged_.posted() + parts_.posted();
    }

    // ---- receives ----
    // Null when memory is out.
    Receive* create() noexcept { return receives_.create(); }
    void destroy(Receive& receive) noexcept { receives_.destroy(&receive); }
    // The first posted receive of that context, which is posted no more; or null.
    Receive* take(const void* context) noexcept;
    // Takes all back that is posted, but for parts. What is on its way into it still comes.
    void withdraw_all() noexcept;
    // The receive for a message of that length that matches one posted there: that one, which is
    // posted no more, or the next part of its buffer. Null when memory is out.
    Receive* claim(Matcher& matcher, Receive& posted, size_t length) noexcept {
        if (posted.many) [[unlikely]]
            return claim_part(matcher, posted, length);
        matcher.take(posted);
        return &posted;
    }

    // ---- messages ----
    // Copies a message out of the buffer it came in. False when memory is out.
    bool keep(const Message& message) noexcept;
    // The same in two steps, for one that comes bit by bit: makes room for it, or gives null when
    // memory is out; and when it is whole, shows it to the receives. On failure it is released.
    Arrived* make_room(const Message& message, size_t bytes) noexcept;
    bool show(Arrived& arrived) noexcept;
    void release(Arrived& arrived) noexcept;
    size_t kept_bytes() const noexcept { return kept_bytes_; } // of all of these
    // Keeps a message from all but who knows the context.
    void set_aside(Arrived& arrived, void* context) noexcept;
    Arrived* find_aside(const void* context) noexcept; // or null
    void take_aside(Arrived& arrived) noexcept { List<Arrived, ArrivalOrder>::erase(arrived); }

private:
    static size_t bytes_of(const Arrived& arrived) noexcept {
        return sizeof arrived + (arrived.outside ? arrived.message.payload.size() : 0);
    }
    Receive* claim_part(Matcher& matcher, Receive& whole, size_t length) noexcept;
    Receive* next_part(Receive& whole, size_t length) noexcept;

    LongLists& longs_;
    Counters& counters_;
    Pool<Receive> receives_;
    Pool<Arrived> arrived_;
    Matcher messages_;
    Matcher tagged_;
    Matcher parts_;
    List<Arrived, ArrivalOrder> aside_;
    size_t kept_bytes_{0};
};

} // namespace odrc::transfer
