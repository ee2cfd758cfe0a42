// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "fabtests_ext/replay/plan.hpp"

#include "fabtests_ext/support/content.hpp"

#include <algorithm>
#include <cmath>

namespace fabtests_ext {
namespace {

constexpr double kToPartners = 0.95; // of a process's messages

// Numbers that follow from those who ask, whoever asks.
class Dice {
public:
    explicit Dice(uint64_t seed) noexcept
        : state_{seed} {}
    double roll() noexcept {
        state_ = scramble(state_ + 1);
        return static_cast<double>(state_ >> 11) / static_cast<double>(uint64_t{1} << 53);
    }
    int below(int count) noexcept { return static_cast<int>(roll() * count); }

private:
    uint64_t state_;
};

struct Draw {
    int to;
    size_t size;
    bool late;
};

Draw draw(const Profile& p, int from, int processes, int number, uint64_t seed) {
    Dice dice{scramble(seed) +
              scramble(static_cast<uint64_t>(from) << 32 | static_cast<uint64_t>(number))};
    const int others = processes - 1;
    int distance;
    if (p.in_turn)
        distance = number % others;
    else if (p.partners > 0 && dice.roll() < kToPartners)
        distance = dice.below(std::min(p.partners, others));
    else
        distance = dice.below(others);
    double share = dice.roll();
    auto size = p.sizes.begin();
    while (share >= size->of_messages && size + 1 != p.sizes.end()) share -= size++->of_messages;
    return {(from + 1 + distance) % processes, size->size, dice.roll() < p.unexpected};
}

} // namespace

// Partners and shares of unexpected messages are those of the study's table 1, for 64 processes.
// Of lengths it has figures; here is what the programs send, class B on 64 processes, roughly: sums
// and flags of a few bytes, faces and vectors by their size, and parts of transposed arrays.
const std::map<std::string, Profile>& profiles() {
    static const std::map<std::string, Profile> all{
        {"alltoall", {0, 0, {{1, 8}}, true}},
        {"random", {0, 0, {{1, 8}}}},
        {"is", {6, 0.027, {{0.6, 8}, {0.2, 1024}, {0.2, 32768}}}},
        {"mg", {9, 0.102, {{0.3, 8}, {0.3, 128}, {0.2, 1152}, {0.15, 8712}, {0.05, 33800}}}},
        {"cg", {3, 0.135, {{0.65, 8}, {0.35, 75000}}}},
        {"ft", {1, 0.119, {{0.6, 16}, {0.4, 131072}}}},
        {"lu", {4, 0.381, {{0.98, 520}, {0.02, 83200}}}},
        {"bt", {4, 0.003, {{0.5, 4800}, {0.5, 21000}}}},
        {"sp", {1, 0.007, {{0.5, 8400}, {0.5, 17000}}}},
        {"namd", {53, 0.482, {{0.5, 200}, {0.4, 2000}, {0.1, 6000}}}},
        {"hpl", {6, 0.136, {{0.7, 64}, {0.2, 2048}, {0.1, 65536}}}},
    };
    return all;
}

Plan make_plan(const Profile& profile, int rank, int processes, int rounds, int in_round,
               uint64_t seed) {
    Plan plan;
    plan.rounds.resize(static_cast<size_t>(rounds));
    for (int r = 0; r < rounds; ++r) {
        Plan::Round& round = plan.rounds[static_cast<size_t>(r)];
        for (int from = 0; from < processes; ++from) {
            for (int i = 0; i < in_round; ++i) {
                const int number = r * in_round + i;
                const Draw d = draw(profile, from, processes, number, seed);
                const uint64_t tag =
                    static_cast<uint64_t>(from) << 32 | static_cast<uint64_t>(number);
                plan.longest = std::max(plan.longest, d.size);
                if (from == rank) round.out.push_back({d.to, d.size, tag});
                if (d.to == rank) (d.late ? round.late : round.in).push_back({from, d.size, tag});
            }
        }
        plan.most = std::max(plan.most, round.in.size() + round.late.size());
    }
    return plan;
}

} // namespace fabtests_ext
