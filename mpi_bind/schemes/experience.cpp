// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "schemes/experience.hpp"

#include <utility>

namespace odrc::mpi {
namespace {

// A burst of so many messages does to caches and pages what one message does in several, and takes
// as long.
constexpr uint32_t kLongBurst = 16;
// Ways that are about as quick meet once more, and for longer: one message alone at a time fills
// caches slowly. (Of many at once, a burst does.)
constexpr uint32_t kLongTrial = 16;
// Bursts: as long as a peer tries each of its ways some times; and later, when it tries one again.
constexpr uint32_t kPatience = 64, kPatienceLater = 8;
constexpr uint32_t kLongest = 256; // messages of a burst; then there is another one
// Messages that are not asked for between those that are: at first, and twice as many each time.
constexpr uint32_t kFirstUnasked = 12, kMostUnasked = 384;
constexpr double kMostSpared = 2; // times what is left of it
// Behind so many bursts of a way that is settled, and alone, each one tells of itself and of so
// many behind it: looking at the clock, and at what is known, takes a twentieth of a short message.
constexpr uint32_t kSteady = 16, kUntold = 7;

} // namespace

Experience::Begun Experience::begin(const MessageKind& kind, uint64_t bytes, Expected& expected,
                                    const std::optional<News>& like, double spared) noexcept {
    if (of_ == Of::none) return {quickest(expected), std::nullopt, 0, false};
    const uint32_t place = kind.place();
    Entry& entry = entries_[place];
    if (entry.kind != kind) entry = {.kind = kind, .generation = entry.generation + 1};
    if (const Burst& last = entry.bursts[entry.newest];
        last.is_over() || (last.begun >= kLongest && entry.bursts[1 - entry.newest].is_over()))
        begin_burst(entry, bytes, expected, like, spared);
    Burst& burst = entry.bursts[entry.newest];
    if (expected[static_cast<size_t>(burst.way)] == kNever)
        return {quickest(expected), std::nullopt, 0, false};
    ++burst.begun;
    if (of_ == Of::many_at_once && burst.begun == 2) burst.begin = now_();
    const bool can_try = of_ == Of::all || entry.many;
    return {burst.way, Ticket{place, entry.generation, entry.newest}, entry.unasked,
            can_try && !entry.is_settled};
}

void Experience::begin_burst(Entry& entry, uint64_t bytes, Expected& expected,
                             const std::optional<News>& like, double spared) const noexcept {
    learn_of_sent(entry);
    const Scheme last = entry.bursts[entry.newest].way;
    const bool goes_on =
        (!like || like->way == last) && expected[static_cast<size_t>(last)] < kNever;
    Burst next{.way = last};
    if (entry.untold > 0 && !entry.many && goes_on) {
        --entry.untold;
        entry.one_alone.trials.pass(1);
        entry.one_alone.records.put_right(expected, bytes);
        entry.unasked = 0;
    } else {
        next = telling_burst(entry, bytes, expected, like, spared);
    }
    entry.newest = 1 - entry.newest;
    entry.bursts[entry.newest] = next;
    entry.news = {next.way, entry.unasked};
}

Experience::Burst Experience::telling_burst(Entry& entry, uint64_t bytes, Expected& expected,
                                            const std::optional<News>& like,
                                            double spared) const noexcept {
    const bool follows = like && !entry.many && expected[static_cast<size_t>(like->way)] < kNever;
    if (follows) entry.is_settled = true;
    const Burst next =
        next_burst(entry, follows ? like->way : choose(entry, bytes, expected, spared));
    entry.unasked = follows                      ? like->unasked
                    : next.counts && !entry.many ? unasked_behind(entry, next.way)
                                                 : 0;
    const bool is_steady = entry.in_a_row > kSteady && entry.is_settled;
    entry.untold = is_steady && !entry.many && next.way != kFirstWay ? kUntold : 0;
    return next;
}

// Some at the end of a trial of the first way, too: what is spared is seen by them alone.
uint32_t Experience::unasked_behind(Entry& entry, Scheme way) const noexcept {
    const bool is_first = way == kFirstWay;
    if (!entry.is_settled) {
        const bool tells =
            of_ == Of::all && entry.tried_again == 0 && !entry.one_alone.records.is_far_behind(way);
        return is_first && tells ? kFirstUnasked : 0;
    }
    entry.trusted = !is_first            ? 0
                    : entry.trusted == 0 ? kFirstUnasked
                                         : std::min(2 * entry.trusted, kMostUnasked);
    return entry.trusted;
}

void Experience::pause(const MessageKind& kind, uint32_t messages) noexcept {
    Entry& entry = entries_[kind.place()];
    if (entry.kind != kind) return;
    entry.in_a_row = 0;
    entry.one_alone.trials.pass(messages);
}

void Experience::settle(const MessageKind& kind, Scheme way, uint32_t messages) noexcept {
    Entry& entry = entries_[kind.place()];
    if (entry.kind != kind) return; // another one has taken its place
    entry.settled_way = way;
    entry.settled_for = messages;
}

bool Experience::go_alone(const MessageKind& kind) const noexcept {
    const Entry& entry = entries_[kind.place()];
    return entry.kind == kind && !entry.many;
}

uint32_t Experience::settled(const MessageKind& kind) const noexcept {
    const Entry& entry = entries_[kind.place()];
    return entry.kind == kind ? entry.settled_for : 0;
}

void Experience::went(const MessageKind& kind, uint32_t messages) noexcept {
    Entry& entry = entries_[kind.place()];
    if (entry.kind == kind) entry.settled_for -= std::min(entry.settled_for, messages);
}

void Experience::put_off(const MessageKind& kind) noexcept {
    Entry& entry = entries_[kind.place()];
    if (entry.kind != kind) return;
    for (Burst& burst : entry.bursts)
        if (!burst.is_over()) burst.is_put_off = true;
}

void Experience::came(const MessageKind& kind, Scheme way) noexcept {
    Entry& entry = entries_[kind.place()];
    if (entry.kind == kind) entry.news = {way, entry.trusted};
}

std::optional<Experience::News> Experience::news(const MessageKind& kind) noexcept {
    Entry& entry = entries_[kind.place()];
    if (entry.kind != kind || entry.many) return std::nullopt;
    return std::exchange(entry.news, std::nullopt);
}

Experience::Row Experience::row_of(const Entry& entry) noexcept {
    constexpr Row kShort{.bursts = 4, .warm = 2};
    constexpr Row kOfLong{.bursts = 2, .warm = 1};
    return entry.many && entry.most >= kLongBurst ? kOfLong : kShort;
}

Experience::Burst Experience::next_burst(Entry& entry, Scheme way) const noexcept {
    entry.in_a_row = way == entry.bursts[entry.newest].way ? entry.in_a_row + 1 : 1;
    const bool counts = entry.in_a_row > row_of(entry).warm;
    return {.way = way, .counts = counts, .begin = of_ == Of::all && counts ? now_() : 0};
}

Scheme Experience::choose(Entry& entry, uint64_t bytes, Expected& expected,
                          double spared) const noexcept {
    entry.is_settled = false;
    if (of_ == Of::many_at_once && !entry.many) {
        if (entry.settled_for == 0) return quickest(expected);
        --entry.settled_for;
        return entry.settled_way;
    }
    auto& [trials, records] = entry.many ? entry.many_at_once : entry.one_alone;
    const Expected hoped = expected;
    records.put_right(expected, bytes);
    if (records.knows(kFirstWay) && !entry.many)
        expected[0] = std::max(expected[0] - spared, expected[0] / kMostSpared);
    const Scheme tried = entry.bursts[entry.newest].way;
    // Nobody waits until one is settled that is so far behind.
    const uint32_t row = row_of(entry).bursts;
    if (entry.tried_again % row == 0 && records.is_far_behind(tried)) entry.tried_again = 0;
    if (entry.tried_again > 0) {
        --entry.tried_again;
        return tried;
    }
    if (entry.many && entry.gets_quicker && !records.is_far_behind(entry.trial_takes)) return tried;
    const auto trial = trials.next(hoped, expected, records);
    entry.is_settled = !trial;
    entry.trial_takes = 0;
    entry.gets_quicker = false;
    if (!trial) return quickest(expected);
    const bool is_close =
        !trial->is_first && is_within(kClose, static_cast<size_t>(trial->way), expected);
    entry.tried_again = (is_close && !entry.many ? kLongTrial : row) - 1;
    entry.patience = trial->is_first ? kPatience : kPatienceLater;
    return trial->way;
}

void Experience::end(const Ticket& ticket, uint64_t bytes) noexcept {
    Entry& entry = entries_[ticket.place];
    if (entry.generation != ticket.generation) return;
    Burst& burst = entry.bursts[ticket.burst];
    burst.bytes += bytes;
    burst.counts = burst.counts && bytes > 0;
    ++burst.ended;
    if (!burst.is_over()) return;
    const bool tells = burst.begun > 1 || (of_ == Of::all && burst.counts);
    burst.counts = burst.counts && tells;
    learn(entry, burst, tells ? now_() : 0);
}

void Experience::learn(Entry& entry, const Burst& burst, double now) const noexcept {
    const double since = std::max(burst.begin, entry.last_end);
    entry.last_end = now;
    entry.many = burst.begun > 1;
    entry.most = std::max(burst.begun, entry.most - (entry.most + 3) / 4);
    if (burst.is_put_off && entry.many && entry.patience > 0) {
        --entry.patience;
        ++entry.tried_again;
        return;
    }
    if (!burst.counts || 2 * burst.begun < entry.most) return;
    if (of_ == Of::many_at_once && &burst == &entry.bursts[entry.newest]) {
        entry.sent = {burst.way, burst.bytes, since, now};
        return;
    }
    note(entry, burst.way, (now - since) / static_cast<double>(burst.bytes));
}

// Until the next one begins, its receiver may have been at work, or the program: for as long as the
// burst itself took, it is taken for the receiver. One that is followed by more than that tells
// nothing where the one before was not: a way would seem slower each time that a program stops.
void Experience::learn_of_sent(Entry& entry) const noexcept {
    if (!entry.sent) return;
    const auto [way, bytes, begin, end] = *std::exchange(entry.sent, std::nullopt);
    const double took = end - begin, later = now_() - end;
    const bool was_left = std::exchange(entry.is_left, later > took);
    if (!entry.is_left || was_left)
        note(entry, way, (took + std::min(later, took)) / static_cast<double>(bytes));
    else if (!entry.is_settled)
        ++entry.tried_again;
}

// Of many, what is tried gets quicker as what it needs comes into the caches, for some bursts. Of
// the first one that counts that is not known yet.
void Experience::note(Entry& entry, Scheme way, double takes) noexcept {
    constexpr double kQuicker = 0.95;
    (entry.many ? entry.many_at_once : entry.one_alone).records.learn(way, takes);
    if (entry.is_settled) return;
    entry.gets_quicker = entry.trial_takes == 0 || takes < kQuicker * entry.trial_takes;
    entry.trial_takes = takes;
}

} // namespace odrc::mpi
