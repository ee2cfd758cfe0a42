// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "schemes/trials.hpp"

#include <bit>

namespace odrc::mpi {
namespace {

// Of many at once, where one burst of those that are tried counts, ways that are about as quick
// are tried so often. (Of one alone they meet once more, and for longer.)
constexpr uint32_t kTimesOfClose = 4;

// Times what the quickest takes. Expectations may be wrong by the first; a burst in very many that
// takes the second is not felt, nor one in a few that takes the last.
constexpr double kHopeless = 40, kSlow = 4, kSlowSoon = 2;

// Bursts until another one is tried again: the first of these when much still has to find its
// place, and four times as many each time round, up to the third for many at once, and up to the
// last for messages that go alone: what a trial leaves in the caches is felt by them for long. When
// the quickest changes, or takes so many times what it took, or that part, everything may have:
// then it is no more than the second for many at once, and than the third for one alone.
constexpr uint32_t kSoon = 32, kSoonAgain = 128, kAgain = 512, kSeldom = 8192;
constexpr double kChanged = 1.25;
constexpr size_t bursts_in(size_t round) { return size_t{kSoon} << 2 * round; }
constexpr size_t rounds_until(uint32_t bursts) { return std::countr_zero(bursts / kSoon) / 2; }
constexpr size_t kAgainTurns = rounds_until(kAgain) * kSchemes;

} // namespace

std::optional<Trials::Trial> Trials::next(const Expected& hoped, const Expected& known,
                                          const Records& records) noexcept {
    ++since_;
    std::optional<size_t> way = first_times(hoped, known);
    if (!way) {
        const Scheme best = quickest(known);
        if (!is_due(best, records.byte_takes(best))) return std::nullopt;
        way = again(hoped, known);
    }
    if (!way) return std::nullopt;
    if (begun_with_ == kSchemes) begun_with_ = *way;
    return Trial{.way = static_cast<Scheme>(*way), .is_first = times_[*way]++ == 0};
}

std::optional<size_t> Trials::first_times(const Expected& hoped,
                                          const Expected& known) const noexcept {
    std::optional<size_t> next;
    for (size_t i = 0; i < kSchemes; ++i)
        if (times_[i] == 0 && is_within(kHopeless, i, hoped) && (!next || hoped[i] < hoped[*next]))
            next = i;
    if (next) return next;
    // None is to be worse than the first way is, and one trial may mislead.
    for (size_t i = 0; i < kSchemes; ++i)
        if ((times_[i] == 1 && (i == static_cast<size_t>(kFirstWay) || i == begun_with_ ||
                                is_within(is_of_many_ ? kSlow : kClose, i, known))) ||
            (is_of_many_ && times_[i] < kTimesOfClose && is_within(kClose, i, known)))
            return i;
    return std::nullopt;
}

bool Trials::is_due(Scheme best, double takes) noexcept {
    const size_t most = rounds_until(is_of_many_ ? kAgain : kSeldom);
    size_t round = std::min(turns_ / kSchemes, most);
    if (best != best_ || takes > kChanged * best_takes_ || takes * kChanged < best_takes_) {
        best_ = best;
        best_takes_ = takes;
        round = std::min(round, rounds_until(is_of_many_ ? kSoonAgain : kAgain));
        turns_ = round * kSchemes + turns_ % kSchemes;
    }
    return since_ >= bursts_in(round);
}

std::optional<size_t> Trials::again(const Expected& hoped, const Expected& known) noexcept {
    since_ = 0;
    for (size_t i = 0; i < kSchemes; ++i) {
        const bool is_soon = turns_ < kAgainTurns;
        const size_t way = turns_++ % kSchemes;
        if (way == static_cast<size_t>(quickest(known))) {
            if (is_of_many_) continue;
            return std::nullopt; // and others are tried the more seldom
        }
        if (is_within(is_soon ? kSlowSoon : kSlow, way, known) ||
            (!is_soon && is_within(kSlow, way, hoped)))
            return way;
    }
    return std::nullopt;
}

} // namespace odrc::mpi
