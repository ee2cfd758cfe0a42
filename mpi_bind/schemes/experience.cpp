// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "schemes/experience.hpp"

#include <utility>

namespace odrc::mpi {
namespace {

// A burst of so many messages does to caches and pages what one message does in several, and takes
// as long.
constexpr uint32_t kLongBurst = 16;
// Those that are about as quick meet once more, and for longer: one message alone at a time fills
// caches slowly. (Of many at once, a burst does. But of those that are many, one counts: so all do
// that are not much slower, and those that are about as quick some times.)
constexpr uint32_t kLongTrial = 16, kTrialsOfClose = 4;
constexpr double kClose = 1.5; // times what the best one takes
// Bursts until another one is tried again: the first of these when much still has to find its
// place, and twice as many each time round, up to the second for many at once, and up to the last
// for messages that go alone: what a trial leaves in the caches is felt by them for long. When the
// quickest changes, or takes so many times what it took, or that part, everything may have: then it
// is the first again, or for messages that go alone no more than the second.
constexpr uint32_t kSoon = 32, kAgain = 512, kSeldom = 8192;
constexpr double kChanged = 1.25;
constexpr size_t rounds_until(uint32_t bursts) { return std::countr_zero(bursts / kSoon); }
constexpr size_t kAgainTurns = rounds_until(kAgain) * kSchemes;
// Bursts: as long as a peer tries each of its ways some times; and later, when it tries one again.
constexpr uint32_t kPatience = 64, kPatienceLater = 8;
constexpr uint32_t kLongest = 256; // messages of a burst; then there is another one
// Messages that are not asked for between those that are: at first, and twice as many each time.
constexpr uint32_t kFirstUnasked = 12, kMostUnasked = 384;
constexpr double kMostSpared = 2; // times what is left of it
// Behind so many bursts of a way that is settled, and alone, each one tells of itself and of so
// many behind it: looking at the clock, and at what is known, takes a twentieth of a short message.
constexpr uint32_t kSteady = 16, kUntold = 7;
// What was held up by something else tells nothing of a way, and what was quick could be: so
// what is known falls faster than it rises, but for what is late again and again.
constexpr double kFall = 2, kRise = 8;
constexpr uint32_t kMostLate = 3; // each time it rises twice as fast, until it is what was found
constexpr uint32_t kFirst = 4; // bursts, of which the quickest counts: others had pages to be made
constexpr double kLate = 1.5;  // times what is known: no more than that counts
// Times what the best one takes. Expectations may be wrong by the first; a burst in very many that
// takes the second is not felt, nor one in a few that takes the last.
constexpr double kHopeless = 40, kSlow = 4, kSlowSoon = 2;

bool is_within(double times, size_t way, const Expected& expected) noexcept {
    return expected[way] < kNever && expected[way] <= times * *std::ranges::min_element(expected);
}

} // namespace

Experience::Kind Experience::kind_of(uint64_t bytes, const Shape& sender,
                                     const Shape& receiver) noexcept {
    const auto log2 = [](uint64_t n) { return static_cast<uint8_t>(std::bit_width(n)); };
    const auto side = [&](const Shape& shape) {
        return Side{log2(shape.piece), log2(shape.median), log2(shape.extent)};
    };
    return {.bytes = log2(bytes), .out = side(sender), .in = side(receiver)};
}

Experience::Begun Experience::begin(const Kind& kind, uint64_t bytes, Expected& expected,
                                    const std::optional<News>& like, double spared) noexcept {
    if (of_ == Of::none) return {quickest(expected), std::nullopt, 0, false};
    const uint32_t place = place_of(kind);
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
    return {burst.way, Ticket{place, entry.generation, entry.newest}, entry.unasked,
            !entry.is_settled};
}

void Experience::begin_burst(Entry& entry, uint64_t bytes, Expected& expected,
                             const std::optional<News>& like, double spared) const noexcept {
    const Scheme last = entry.bursts[entry.newest].way;
    const bool goes_on =
        (!like || like->way == last) && expected[static_cast<size_t>(last)] < kNever;
    Burst next{.way = last};
    if (entry.untold > 0 && !entry.many && goes_on) {
        --entry.untold;
        ++entry.turns[0].since;
        put_right(expected, entry.records[0], bytes);
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
    entry.is_settled = follows;
    const Burst next =
        next_burst(entry, follows ? like->way : choose(entry, bytes, expected, spared));
    entry.unasked = follows                      ? like->unasked
                    : next.counts && !entry.many ? unasked_behind(entry, next.way)
                                                 : 0;
    const bool is_steady = entry.in_a_row > kSteady && entry.is_settled;
    entry.untold = is_steady && !entry.many && static_cast<size_t>(next.way) > 0 ? kUntold : 0;
    return next;
}

// Some at the end of a trial of the first way, too: what is spared is seen by them alone.
uint32_t Experience::unasked_behind(Entry& entry, Scheme way) const noexcept {
    const bool is_first = static_cast<size_t>(way) == 0;
    if (!entry.is_settled) {
        const bool tells =
            of_ == Of::all && entry.trial == 0 && !is_far_behind(entry.records[0], 0);
        return is_first && tells ? kFirstUnasked : 0;
    }
    entry.trusted = !is_first            ? 0
                    : entry.trusted == 0 ? kFirstUnasked
                                         : std::min(2 * entry.trusted, kMostUnasked);
    return entry.trusted;
}

void Experience::pause(const Kind& kind, uint32_t messages) noexcept {
    Entry& entry = entries_[place_of(kind)];
    if (entry.kind != kind) return;
    entry.in_a_row = 0;
    entry.turns[0].since += messages;
}

void Experience::settle(const Kind& kind, Scheme way, uint32_t messages) noexcept {
    Entry& entry = entries_[place_of(kind)];
    if (entry.kind != kind) return; // another one has taken its place
    entry.alone = way;
    entry.left_alone = messages;
}

void Experience::put_off(const Kind& kind) noexcept {
    Entry& entry = entries_[place_of(kind)];
    if (entry.kind != kind) return;
    for (Burst& burst : entry.bursts)
        if (!burst.is_over()) burst.is_put_off = true;
}

void Experience::came(const Kind& kind, Scheme way) noexcept {
    Entry& entry = entries_[place_of(kind)];
    if (entry.kind == kind) entry.news = {way, entry.trusted};
}

std::optional<Experience::News> Experience::news(const Kind& kind) noexcept {
    Entry& entry = entries_[place_of(kind)];
    if (entry.kind != kind || entry.many) return std::nullopt;
    return std::exchange(entry.news, std::nullopt);
}

Experience::Trial Experience::trial_of(const Entry& entry) noexcept {
    constexpr Trial kShort{.bursts = 4, .warm = 2};
    constexpr Trial kOfLong{.bursts = 2, .warm = 1};
    return entry.many && entry.most >= kLongBurst ? kOfLong : kShort;
}

Experience::Burst Experience::next_burst(Entry& entry, Scheme way) const noexcept {
    entry.in_a_row = way == entry.bursts[entry.newest].way ? entry.in_a_row + 1 : 1;
    const bool counts = entry.in_a_row > trial_of(entry).warm;
    return {.way = way, .counts = counts, .begin = of_ == Of::all && counts ? now_() : 0};
}

Scheme Experience::choose(Entry& entry, uint64_t bytes, Expected& expected,
                          double spared) const noexcept {
    if (of_ == Of::many_at_once && !entry.many) {
        if (entry.left_alone == 0) return quickest(expected);
        --entry.left_alone;
        return entry.alone;
    }
    Records& records = entry.records[entry.many];
    const Expected hoped = expected;
    put_right(expected, records, bytes);
    if (records[0].known > 0 && !entry.many)
        expected[0] = std::max(expected[0] - spared, expected[0] / kMostSpared);
    const auto tried = static_cast<size_t>(entry.bursts[entry.newest].way);
    // Nobody waits until one is settled that is so far behind.
    const uint32_t trial = trial_of(entry).bursts;
    if (entry.trial % trial == 0 && is_far_behind(records, tried)) entry.trial = 0;
    if (entry.trial > 0) {
        --entry.trial;
        return static_cast<Scheme>(tried);
    }
    ++entry.turns[entry.many].since;
    const auto next = to_be_tried(entry, hoped, expected);
    entry.is_settled = !next;
    if (!next) return quickest(expected);
    const bool is_first = records[*next].trials++ == 0;
    const bool is_close = !is_first && is_within(kClose, *next, expected);
    entry.trial = (is_close && !entry.many ? kLongTrial : trial) - 1;
    entry.patience = is_first ? kPatience : kPatienceLater;
    return static_cast<Scheme>(*next);
}

void Experience::put_right(Expected& expected, const Records& records, uint64_t bytes) noexcept {
    for (size_t i = 0; i < kSchemes; ++i)
        if (records[i].known > 0 && expected[i] < kNever)
            expected[i] = records[i].byte_takes * static_cast<double>(bytes);
}

bool Experience::is_far_behind(const Records& records, size_t way) noexcept {
    return std::ranges::any_of(records, [&](const Record& other) {
        return other.known > 0 && kClose * other.byte_takes < records[way].byte_takes;
    });
}

// hoped: of each before anything was known of it; known: and now.
std::optional<size_t> Experience::to_be_tried(Entry& entry, const Expected& hoped,
                                              const Expected& known) const noexcept {
    const Records& records = entry.records[entry.many];
    std::optional<size_t> next;
    for (size_t i = 0; i < kSchemes; ++i)
        if (records[i].trials == 0 && is_within(kHopeless, i, hoped) &&
            (!next || hoped[i] < hoped[*next]))
            next = i;
    if (next) return next;
    for (size_t i = 0; i < kSchemes; ++i)
        if ((records[i].trials == 1 && is_within(entry.many ? kSlow : kClose, i, known)) ||
            (entry.many && records[i].trials < kTrialsOfClose && is_within(kClose, i, known)))
            return i;
    // What was found may have had other reasons.
    Turns& turns = entry.turns[entry.many];
    const Scheme best = quickest(known);
    const double takes = records[static_cast<size_t>(best)].byte_takes;
    constexpr Rounds kOfMany{.most = rounds_until(kAgain), .changed = 0};
    constexpr Rounds kAlone{.most = rounds_until(kSeldom), .changed = rounds_until(kAgain)};
    if (turns.since < until(turns, entry.many ? kOfMany : kAlone, best, takes)) return std::nullopt;
    turns.since = 0;
    for (size_t i = 0; i < kSchemes; ++i) {
        const bool is_soon = turns.taken < kAgainTurns;
        const size_t turn = turns.taken++ % kSchemes;
        if (is_within(is_soon ? kSlowSoon : kSlow, turn, known) ||
            (!is_soon && is_within(kSlow, turn, hoped)))
            return turn;
    }
    return std::nullopt;
}

uint32_t Experience::until(Turns& turns, Rounds rounds, Scheme best, double takes) noexcept {
    size_t round = std::min(turns.taken / kSchemes, rounds.most);
    if (best != turns.best || takes > kChanged * turns.best_takes ||
        takes * kChanged < turns.best_takes) {
        turns.best = best;
        turns.best_takes = takes;
        round = std::min(round, rounds.changed);
        turns.taken = round * kSchemes + turns.taken % kSchemes;
    }
    return kSoon << round;
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
    learn(entry, burst, tells ? now_() : 0);
}

void Experience::learn(Entry& entry, const Burst& burst, double now) noexcept {
    const double since = std::max(burst.begin, entry.last_end);
    entry.last_end = now;
    entry.many = burst.begun > 1;
    entry.most = std::max(burst.begun, entry.most - (entry.most + 3) / 4);
    if (burst.is_put_off && entry.many && entry.patience > 0) {
        --entry.patience;
        ++entry.trial;
        return;
    }
    if (!burst.counts || 2 * burst.begun < entry.most) return;
    Record& record = entry.records[entry.many][static_cast<size_t>(burst.way)];
    const double takes = (now - since) / static_cast<double>(burst.bytes);
    double& known = record.byte_takes;
    const bool is_late = record.known > 0 && takes > kLate * known;
    const double rise = kRise / (1 << record.late);
    record.late = is_late ? std::min(record.late + 1, kMostLate) : 0;
    if (++record.known <= kFirst)
        known = record.known == 1 ? takes : std::min(known, takes);
    else if (takes < known)
        known += (takes - known) / kFall;
    else
        known += (std::min(takes, kLate * known) - known) / rise;
}

} // namespace odrc::mpi
