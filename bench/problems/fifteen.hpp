// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// The 15-puzzle: its positions and moves, and jobs of a search for the way to the goal.

#include "fabtests_ext/support/content.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace bench {

// Four bits for each place; 0 is the empty one. At the goal, tile i is at place i.
using Tiles = uint64_t;
constexpr Tiles kGoal = 0xfedcba9876543210;

enum Move : uint8_t { kUp, kDown, kLeft, kRight, kNone };

// What is searched from here: as long as Multigame's.
struct Job {
    Tiles tiles;
    uint64_t depth; // moves from the root
    uint32_t left;  // the sum of how far each tile is from its place
    Move last;      // which is not taken back
    uint8_t empty;  // where
    std::array<uint8_t, 10> unused;
};
static_assert(sizeof(Job) == 32);

inline uint64_t hash_of(Tiles tiles) noexcept { return fabtests_ext::scramble(tiles) >> 16; }

constexpr unsigned tile_at(Tiles tiles, unsigned place) noexcept {
    return unsigned(tiles >> 4 * place & 15);
}

inline unsigned distance(unsigned tile, unsigned place) noexcept {
    return unsigned(std::abs(int(tile % 4) - int(place % 4)) +
                    std::abs(int(tile / 4) - int(place / 4)));
}

// Where the empty place goes, or 16 where it cannot.
constexpr unsigned moved(unsigned empty, Move move) noexcept {
    switch (move) {
    case kUp:
        return empty >= 4 ? empty - 4 : 16;
    case kDown:
        return empty < 12 ? empty + 4 : 16;
    case kLeft:
        return empty % 4 > 0 ? empty - 1 : 16;
    case kRight:
        return empty % 4 < 3 ? empty + 1 : 16;
    default:
        return 16;
    }
}

constexpr Move reverse(Move move) noexcept {
    constexpr Move kReverse[] = {kDown, kUp, kRight, kLeft, kNone};
    return kReverse[move];
}

inline Job after(const Job& job, Move move) noexcept {
    const unsigned to = moved(job.empty, move), tile = tile_at(job.tiles, to);
    Job next = job;
    next.tiles += (Tiles(tile) << 4 * job.empty) - (Tiles(tile) << 4 * to);
    next.left += distance(tile, job.empty) - distance(tile, to);
    next.depth = job.depth + 1;
    next.empty = uint8_t(to);
    next.last = move;
    return next;
}

// Calls what(JOB) for each move that may lead to the goal within the bound.
template <class What>
void expand(const Job& job, unsigned bound, What&& what) {
    if (job.left == 0) return;
    for (const Move move : {kUp, kDown, kLeft, kRight}) {
        if (moved(job.empty, move) == 16 || move == reverse(job.last)) continue;
        const Job next = after(job, move);
        if (next.depth + next.left <= bound) what(next);
    }
}

// The root of a search: the goal after so many random moves, none of which takes back the last.
inline Job shuffled(int moves, uint64_t seed) {
    Job job{.tiles = kGoal, .depth = 0, .left = 0, .last = kNone, .empty = 0, .unused = {}};
    while (moves > 0) {
        const auto move = Move((seed = fabtests_ext::scramble(seed)) % 4);
        if (moved(job.empty, move) == 16 || move == reverse(job.last)) continue;
        job = after(job, move);
        --moves;
    }
    job.depth = 0;
    job.last = kNone;
    return job;
}

// Which jobs have been done in an iteration.
class JobSet {
public:
    // Whether it was not there.
    bool insert(const Job& job) {
        if (2 * ++count_ > entries_.size()) grow();
        Entry& entry = find({job.tiles, job.depth * 8 + job.last + 1});
        if (entry.what != 0) {
            --count_;
            return false;
        }
        entry = {job.tiles, job.depth * 8 + job.last + 1};
        return true;
    }

    void clear() {
        entries_.assign(entries_.size(), {});
        count_ = 0;
    }

private:
    struct Entry {
        Tiles tiles{0};
        uint64_t what{0}; // 0: there is none
        bool operator==(const Entry&) const = default;
    };

    // Where it is, or would be.
    Entry& find(const Entry& wanted) {
        for (size_t at = fabtests_ext::scramble(wanted.tiles + wanted.what);; ++at) {
            Entry& entry = entries_[at & (entries_.size() - 1)];
            if (entry.what == 0 || entry == wanted) return entry;
        }
    }

    void grow() {
        std::vector<Entry> old(2 * entries_.size());
        old.swap(entries_);
        for (const Entry& entry : old)
            if (entry.what != 0) find(entry) = entry;
    }

    std::vector<Entry> entries_{std::vector<Entry>(1024)};
    size_t count_{0};
};

// What a search came to: the same for any number of processes and any order of jobs, as a job is
// its position, its depth and its last move, and is done once in each iteration.
struct SearchResult {
    uint64_t nodes{0};     // in all iterations
    uint64_t solutions{0}; // jobs of the last one that got there
    unsigned length{0};
    bool operator==(const SearchResult&) const = default;
};

inline SearchResult search_alone(const Job& root) {
    SearchResult result;
    JobSet seen;
    std::vector<Job> open;
    for (unsigned bound = root.left; result.solutions == 0; bound += 2) {
        seen.clear();
        result.length = bound;
        open.push_back(root);
        while (!open.empty()) {
            const Job job = open.back();
            open.pop_back();
            if (!seen.insert(job)) continue;
            ++result.nodes;
            if (job.left == 0) ++result.solutions;
            expand(job, bound, [&](const Job& next) { open.push_back(next); });
        }
    }
    return result;
}

} // namespace bench
