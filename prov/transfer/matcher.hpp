// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/buckets.hpp"
#include "base/pool.hpp"
#include "transfer/message.hpp"

#include <vector>

namespace odrc::transfer {

struct Pattern;

// An arrived message's place under one pattern.
struct IndexEntry : ListNode<> {
    Arrived* arrived;
    Pattern* pattern;
    IndexEntry* next_of_message;
};

// What a group of receives leaves open.
struct Pattern {
    uint64_t ignore;
    bool any_source;
    Buckets<Receive, Matching> receives;
    Buckets<IndexEntry> arrivals;

    size_t hash(const Peer* peer, uint64_t tag) const noexcept {
        uint64_t x = tag & ~ignore;
        if (!any_source) x ^= reinterpret_cast<uint64_t>(peer) * 0x9e3779b97f4a7c15;
        x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93;
        return x ^ (x >> 32);
    }
};

// Finds the receive for a message and the message for a receive, first posted and first arrived
// first, at a cost that does not grow with how many wait. Receives are hashed by what their
// pattern (ignore mask, one source or any) leaves significant; a message is looked up, and kept,
// under every pattern in use, of which programs have a few.
//
// Most messages match the receive that was posted first, but for some that wait for long. So a
// receive is hashed only when a message comes that is for none of those that are, nor for the first
// of the others: once, and never if it is that first.
class Matcher {
public:
    void post(Receive& receive) noexcept {
        receive.order = order_++;
        fresh_.push_back(receive);
        ++posted_count_;
    }
    // The first posted receive that the message matches; or null. It stays until taken.
    Receive* find_receive(const Message& message) noexcept {
        if (!hashed_.empty()) return find_among_all(message.peer, message.tag);
        Receive* first = fresh_.front();
        return !first || first->matches(message.peer, message.tag)
                   ? first
                   : find_among_all(message.peer, message.tag);
    }
    void take(Receive& receive) noexcept {
        if (receive.pattern) receive.pattern->receives.remove(receive);
        List<Receive, Posting>::erase(receive);
        --posted_count_;
    }
    // The first posted receive of that context, taken out; or null.
    Receive* take_receive(const void* context) noexcept;
    // The first posted receive from that source alone, taken out; or null.
    Receive* take_receive_from(const Peer& source) noexcept;
    // Any receive, taken out; null when there is none.
    Receive* take_any() noexcept;

    // Keeps an arrived message. False when memory is out.
    bool keep(Arrived& arrived) noexcept;
    // The first message that arrived for such a receive; or null. It stays until taken.
    Arrived* find_arrived(const Peer* source, uint64_t tag, uint64_t ignore) noexcept;
    void take(Arrived& arrived) noexcept;
    Arrived* any_arrived() noexcept { return arrivals_.front(); }
    // The first message of such a tag, whoever sent it, taken out; or null. Looks at all.
    Arrived* take_arrived(uint64_t tag, uint64_t ignore) noexcept;

    template <class F>
    void for_each_posted(F&& f) {
        for (List<Receive, Posting>* list : {&hashed_, &fresh_})
            for (Receive* r = list->front(); r; r = list->after(*r)) f(*r);
    }

    size_t posted() const noexcept { return posted_count_; }

private:
    template <class Wanted>
    Receive* take_first(const Wanted& wanted) noexcept;
    Receive* find_among_all(const Peer* source, uint64_t tag) noexcept;
    Receive* find_hashed(const Peer* source, uint64_t tag) noexcept;
    void hash_fresh() noexcept;
    Pattern* pattern_of(uint64_t ignore, bool any_source) noexcept;
    Pattern* add_pattern(uint64_t ignore, bool any_source) noexcept;
    void drop_unused_pattern() noexcept;
    void drop(const Pattern& pattern) noexcept;
    bool index(Pattern& pattern, Arrived& arrived) noexcept;
    void unindex(Arrived& arrived) noexcept;

    std::vector<std::unique_ptr<Pattern>> patterns_;
    List<Receive, Posting> hashed_; // of those that are posted
    List<Receive, Posting> fresh_;  // the others, which were posted after them
    size_t posted_count_{0};
    uint64_t order_{0};
    List<Arrived, ArrivalOrder> arrivals_;
    Pool<IndexEntry> entries_;
};

} // namespace odrc::transfer
