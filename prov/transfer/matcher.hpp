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
    bool matches(const Peer* wanted, uint64_t tag, const Message& message) const noexcept {
        return ((tag ^ message.tag) & ~ignore) == 0 && (any_source || wanted == message.peer);
    }
};

// Finds the receive for a message and the message for a receive, first posted and first arrived
// first, at a cost that does not grow with how many wait. Receives are hashed by what their
// pattern (ignore mask, one source or any) leaves significant; a message is looked up, and kept,
// under every pattern in use, of which programs have a few.
class Matcher {
public:
    // Keeps a posted receive. False when memory is out.
    bool post(Receive& receive) noexcept;
    // The first posted receive that the message matches; or null. It stays until taken.
    Receive* find_receive(const Message& message) noexcept;
    void take(Receive& receive) noexcept {
        receive.pattern->receives.remove(receive);
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
        for (Receive* r = posted_.front(); r; r = posted_.after(*r)) f(*r);
    }

    size_t posted() const noexcept { return posted_count_; }

private:
    template <class Wanted>
    Receive* take_first(const Wanted& wanted) noexcept;
    Pattern* pattern_of(uint64_t ignore, bool any_source) noexcept;
    Pattern* add_pattern(uint64_t ignore, bool any_source) noexcept;
    void drop_unused_pattern() noexcept;
    void drop(const Pattern& pattern) noexcept;
    bool index(Pattern& pattern, Arrived& arrived) noexcept;
    void unindex(Arrived& arrived) noexcept;

    std::vector<std::unique_ptr<Pattern>> patterns_;
    List<Receive, Posting> posted_;
    size_t posted_count_{0};
    uint64_t order_{0};
    List<Arrived, ArrivalOrder> arrivals_;
    Pool<IndexEntry> entries_;
};

// ---- what each message and each receive take ----------------------------------------------------

inline Pattern* Matcher::pattern_of(uint64_t ignore, bool any_source) noexcept {
    for (const auto& pattern : patterns_)
        if (pattern->ignore == ignore && pattern->any_source == any_source) return pattern.get();
    return add_pattern(ignore, any_source);
}

inline bool Matcher::post(Receive& receive) noexcept {
    Pattern* pattern = pattern_of(receive.ignore, !receive.source);
    if (!pattern || !pattern->receives.add(receive, [pattern](const Receive& r) {
            return pattern->hash(r.source, r.tag);
        }))
        return false;
    receive.pattern = pattern;
    receive.order = order_++;
    posted_.push_back(receive);
    ++posted_count_;
    return true;
}

inline Receive* Matcher::find_receive(const Message& message) noexcept {
    Receive* first = nullptr;
    for (const auto& pattern : patterns_) {
        if (pattern->receives.count() == 0) continue;
        auto& bucket = pattern->receives[pattern->hash(message.peer, message.tag)];
        for (Receive* r = bucket.front(); r; r = bucket.after(*r)) {
            if (!pattern->matches(r->source, r->tag, message)) continue;
            if (!first || r->order < first->order) first = r;
            break;
        }
    }
    return first;
}

} // namespace odrc::transfer
