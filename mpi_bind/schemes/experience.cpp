// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "schemes/experience.hpp"

namespace odrc::mpi {
namespace {

constexpr uint32_t kTries = 3;     // bursts with a scheme, the first of which does not count
constexpr uint32_t kAgain = 64;    // bursts until another one is tried again
constexpr uint32_t kLongest = 256; // messages of a burst; then there is another one
// What was held up by something else tells nothing of a scheme, and what was quick could be: so
// what is known falls faster than it rises.
constexpr double kFall = 2, kRise = 8;
constexpr double kLate = 1.5; // times what is known: no more than that counts
// Times what the best one takes. Expectations may be wrong by the one; a burst in very many that
// takes the other is not felt.
constexpr double kHopeless = 40, kSlow = 4;

} // namespace

// Fibonacci hashing: what is alike but for one number comes to different places.
uint32_t Experience::place_of(const Kind& kind) noexcept {
    const uint32_t number = uint32_t{kind.bytes} << 12 | uint32_t{kind.out} << 6 | kind.in;
    return number * 2654435769U >> (32 - kPlaceBits);
}

Experience::Begun Experience::begin(const Kind& kind, uint64_t bytes, Expected& expected,
                                    double now) noexcept {
    const uint32_t place = place_of(kind);
    Entry& entry = entries_[place];
    if (entry.kind != kind) entry = {.kind = kind, .generation = entry.generation + 1};
    if (const Burst& now_one = entry.bursts[entry.newest];
        now_one.is_over() ||
        (now_one.begun >= kLongest && entry.bursts[1 - entry.newest].is_over())) {
        entry.newest = 1 - entry.newest;
        entry.bursts[entry.newest] = {.scheme = choose(entry, bytes, expected), .begin = now};
    }
    Burst& burst = entry.bursts[entry.newest];
    if (expected[static_cast<size_t>(burst.scheme)] == kNever)
        return {quickest(expected), std::nullopt};
    ++burst.begun;
    return {burst.scheme, Ticket{place, entry.generation, entry.newest}};
}

Scheme Experience::choose(Entry& entry, uint64_t bytes, Expected& expected) noexcept {
    Records& records = entry.records[entry.many];
    const double hopeless = kHopeless * *std::ranges::min_element(expected);
    const auto is_hopeful = [&](size_t i) { return expected[i] <= hopeless; };
    std::optional<size_t> untried;
    for (size_t i = kSchemes; i-- > 0;)
        if (is_hopeful(i) && records[i].tries < kTries) untried = i;
    for (size_t i = 0; i < kSchemes; ++i)
        if (records[i].known > 1 && expected[i] < kNever)
            expected[i] = records[i].byte_takes * static_cast<double>(bytes);
    const uint32_t turn = ++entry.bursts_begun / kAgain % kSchemes;
    if (!untried && entry.bursts_begun % kAgain == 0 &&
        expected[turn] < kSlow * *std::ranges::min_element(expected))
        untried = turn;
    if (!untried) return quickest(expected);
    ++records[*untried].tries;
    return static_cast<Scheme>(*untried);
}

void Experience::end(const Ticket& ticket, uint64_t bytes, double now) noexcept {
    Entry& entry = entries_[ticket.place];
    if (entry.generation != ticket.generation) return;
    Burst& burst = entry.bursts[ticket.burst];
    burst.bytes += bytes;
    burst.failed = burst.failed || bytes == 0;
    ++burst.ended;
    if (burst.is_over()) learn(entry, burst, now);
}

void Experience::learn(Entry& entry, const Burst& burst, double now) noexcept {
    const double since = std::max(burst.begin, entry.last_end);
    entry.last_end = now;
    entry.many = burst.begun > 1;
    if (burst.failed) return;
    Record& record = entry.records[entry.many][static_cast<size_t>(burst.scheme)];
    const uint32_t before = record.known++;
    if (before == 0) return; // it has made what others find
    const double takes = (now - since) / static_cast<double>(burst.bytes);
    double& known = record.byte_takes;
    if (before == 1)
        known = takes;
    else if (takes < known)
        known += (takes - known) / kFall;
    else
        known += (std::min(takes, kLate * known) - known) / kRise;
}

} // namespace odrc::mpi
