// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "schemes/rhythm.hpp"

namespace odrc::mpi {
namespace {

constexpr uint32_t kWarm = 2; // of a row, the first that do not count
// Behind so many of a row each eighth one tells how soon the next one follows, and behind so many
// fewer still: a look at the clock, and at what is known, takes a twentieth of a short message.
constexpr uint32_t kLooked = 16, kLookedOften = 128;
constexpr uint32_t interval_at(uint32_t in_a_row) { return in_a_row < kLookedOften ? 8 : 64; }
// The quickest have been held up by nothing else.
constexpr double kFall = 2, kRise = 16, kLate = 1.5;

} // namespace

bool Rhythm::tells(uint32_t in_a_row) noexcept {
    return in_a_row > kWarm && (in_a_row <= kLooked || in_a_row % interval_at(in_a_row) == 0);
}

void Rhythm::begin(const MessageKind& kind, bool is_offered) noexcept {
    Entry& entry = entries_[kind.place()];
    if (entry.kind != kind) entry = {.kind = kind};
    if (entry.messages > 0) entry.in_a_row = entry.how == entry.before ? entry.in_a_row + 1 : 1;
    const bool has_told = entry.begin > 0 && entry.under_way == 0 && tells(entry.in_a_row);
    const double now = has_told || tells(entry.in_a_row + 1) ? now_() : 0;
    if (has_told) learn(entry, now);
    entry.before = entry.how;
    entry.how = is_offered ? How::otherwise : How::as_it_is;
    entry.messages = 1;
    entry.begin = now;
    ++entry.under_way;
}

void Rhythm::learn(Entry& entry, double now) noexcept {
    if (entry.how == How::otherwise) return;
    const double takes = (now - entry.begin) / entry.messages;
    double& known = entry.known[static_cast<size_t>(entry.how)];
    if (known == 0)
        known = takes;
    else if (takes < known)
        known += (takes - known) / kFall;
    else
        known += (std::min(takes, kLate * known) - known) / kRise;
}

void Rhythm::generic(const MessageKind& kind) noexcept {
    Entry* entry = find(kind);
    if (entry && entry->how == How::otherwise) entry->how = How::generic;
}

void Rhythm::end(uint32_t place) noexcept {
    Entry& entry = entries_[place];
    if (entry.under_way > 0) --entry.under_way; // else another kind has taken its place
}

// The last one that has begun is itself one more in the row: it tells, the next ones do, or those
// do that come up to the next one that does.
uint32_t Rhythm::untold(const MessageKind& kind) const noexcept {
    const Entry& entry = entries_[kind.place()];
    const uint32_t last = entry.in_a_row + 1;
    if (entry.kind != kind || entry.how != entry.before || last <= kLooked || tells(last)) return 0;
    return interval_at(last) - 1 - last % interval_at(last);
}

void Rhythm::went(const MessageKind& kind, uint32_t messages) noexcept {
    if (Entry* entry = find(kind)) entry->in_a_row += messages;
}

void Rhythm::came(const MessageKind& kind) noexcept {
    if (Entry* entry = find(kind)) ++entry->messages;
}

Pace Rhythm::pace(const MessageKind& kind) const noexcept {
    const Entry& entry = entries_[kind.place()];
    if (entry.kind != kind) return {};
    const auto in_word = [](double ns) { return static_cast<uint32_t>(std::min(ns, 1e9)); };
    return {.offered = in_word(entry.known[static_cast<size_t>(How::generic)]),
            .as_it_is = in_word(entry.known[static_cast<size_t>(How::as_it_is)])};
}

} // namespace odrc::mpi
