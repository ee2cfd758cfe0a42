// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/matcher.hpp"

namespace odrc::transfer {
namespace {

// A program that keeps on inventing ignore masks does not make every message dearer for ever.
constexpr size_t kManyPatterns = 16;

} // namespace

template <class Wanted>
Receive* Matcher::take_first(const Wanted& wanted) noexcept {
    for (List<Receive, Posting>* list : {&hashed_, &fresh_}) {
        Receive* r = list->front();
        while (r && !wanted(*r)) r = list->after(*r);
        if (!r) continue;
        take(*r);
        return r;
    }
    return nullptr;
}

Receive* Matcher::take_receive(const void* context) noexcept {
    return take_first([context](const Receive& r) { return r.context == context; });
}

Receive* Matcher::take_receive_from(const Peer& source) noexcept {
    return take_first([&source](const Receive& r) { return r.source == &source; });
}

Receive* Matcher::take_any() noexcept {
    return take_first([](const Receive&) { return true; });
}

// Without memory for it, the rest stays as it is: it can be looked through as well.
void Matcher::hash_fresh() noexcept {
    while (Receive* receive = fresh_.front()) {
        Pattern* pattern = pattern_of(receive->ignore, !receive->source);
        if (!pattern || !pattern->receives.add(*receive, [pattern](const Receive& r) {
                return pattern->hash(r.source, r.tag);
            }))
            return;
        receive->pattern = pattern;
        List<Receive, Posting>::erase(*receive);
        hashed_.push_back(*receive);
    }
}

Receive* Matcher::find_hashed(const Peer* source, uint64_t tag) noexcept {
    Receive* first = nullptr;
    for (const auto& pattern : patterns_) {
        if (pattern->receives.count() == 0) continue;
        auto& bucket = pattern->receives[pattern->hash(source, tag)];
        Receive* r = bucket.front();
        while (r && !r->matches(source, tag)) r = bucket.after(*r);
        if (r && (!first || r->order < first->order)) first = r;
    }
    return first;
}

Receive* Matcher::find_among_all(const Peer* source, uint64_t tag) noexcept {
    if (Receive* r = find_hashed(source, tag)) return r;
    Receive* r = fresh_.front();
    if (!r || r->matches(source, tag)) return r;
    hash_fresh();
    if (Receive* hashed = find_hashed(source, tag)) return hashed;
    r = fresh_.front();
    while (r && !r->matches(source, tag)) r = fresh_.after(*r);
    return r;
}

bool Matcher::keep(Arrived& arrived) noexcept {
    for (const auto& pattern : patterns_) {
        if (index(*pattern, arrived)) continue;
        unindex(arrived);
        return false;
    }
    arrivals_.push_back(arrived);
    return true;
}

Arrived* Matcher::find_arrived(const Peer* source, uint64_t tag, uint64_t ignore) noexcept {
    if (arrivals_.empty()) return nullptr;
    Pattern* pattern = pattern_of(ignore, !source);
    if (!pattern || pattern->arrivals.count() == 0) return nullptr;
    auto& bucket = pattern->arrivals[pattern->hash(source, tag)];
    for (IndexEntry* e = bucket.front(); e; e = bucket.after(*e))
        if (matches({source, tag, ignore}, e->arrived->message.peer, e->arrived->message.tag))
            return e->arrived;
    return nullptr;
}

Arrived* Matcher::take_arrived(uint64_t tag, uint64_t ignore) noexcept {
    Arrived* a = arrivals_.front();
    while (a && ((a->message.tag ^ tag) & ~ignore) != 0) a = arrivals_.after(*a);
    if (a) take(*a);
    return a;
}

void Matcher::take(Arrived& arrived) noexcept {
    unindex(arrived);
    List<Arrived, ArrivalOrder>::erase(arrived);
}

Pattern* Matcher::pattern_of(uint64_t ignore, bool any_source) noexcept {
    for (const auto& pattern : patterns_)
        if (pattern->ignore == ignore && pattern->any_source == any_source) return pattern.get();
    return add_pattern(ignore, any_source);
}

Pattern* Matcher::add_pattern(uint64_t ignore, bool any_source) noexcept {
    if (patterns_.size() >= kManyPatterns) drop_unused_pattern();
    try {
        auto pattern = std::make_unique<Pattern>();
        pattern->ignore = ignore;
        pattern->any_source = any_source;
        patterns_.push_back(std::move(pattern));
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
    for (Arrived* a = arrivals_.front(); a; a = arrivals_.after(*a)) {
        if (index(*patterns_.back(), *a)) continue;
        drop(*patterns_.back());
        return nullptr;
    }
    return patterns_.back().get();
}

// Without receives a pattern is only a help; it is made again when it is needed again.
void Matcher::drop_unused_pattern() noexcept {
    for (const auto& pattern : patterns_)
        if (pattern->receives.count() == 0) return drop(*pattern);
}

void Matcher::drop(const Pattern& pattern) noexcept {
    for (Arrived* a = arrivals_.front(); a; a = arrivals_.after(*a)) {
        for (IndexEntry** e = &a->entries; *e; e = &(*e)->next_of_message) {
            IndexEntry* entry = *e;
            if (entry->pattern != &pattern) continue;
            *e = entry->next_of_message;
            entry->pattern->arrivals.remove(*entry);
            entries_.destroy(entry);
            break;
        }
    }
    std::erase_if(patterns_, [&](const auto& p) { return p.get() == &pattern; });
}

bool Matcher::index(Pattern& pattern, Arrived& arrived) noexcept {
    IndexEntry* entry = entries_.create();
    if (!entry) return false;
    entry->arrived = &arrived;
    entry->pattern = &pattern;
    if (!pattern.arrivals.add(*entry, [&pattern](const IndexEntry& e) {
            return pattern.hash(e.arrived->message.peer, e.arrived->message.tag);
        })) {
        entries_.destroy(entry);
        return false;
    }
    entry->next_of_message = std::exchange(arrived.entries, entry);
    return true;
}

void Matcher::unindex(Arrived& arrived) noexcept {
    while (IndexEntry* entry = arrived.entries) {
        arrived.entries = entry->next_of_message;
        entry->pattern->arrivals.remove(*entry);
        entries_.destroy(entry);
    }
}

} // namespace odrc::transfer
