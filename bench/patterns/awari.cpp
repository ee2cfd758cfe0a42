// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Retrograde analysis: who wins each position of a game, from its ends backwards. A position that
// becomes known makes others known, whose owners are told so by calls, many updates in each.

#include "bench/patterns/calls.hpp"
#include "bench/patterns/program.hpp"
#include "bench/patterns/termination.hpp"
#include "bench/problems/random_game.hpp"

#include <algorithm>

namespace bench {
namespace {

struct Options : Setting {
    uint32_t positions{100000};
    size_t updates{64}; // in a call
};

class Solver {
public:
    Solver(Process& process, const Game& game, size_t updates_in_call)
        : process_{process}
        , game_{game}
        , most_{updates_in_call}
        , part_{game, Position(process.rank()), Position(process.size())}
        , outgoing_(size_t(process.size()))
        , calls_{process.messenger, [this](Bytes arguments, auto&) { take_updates(arguments); }}
        , termination_{process.messenger} {}

    void solve() {
        const auto tell = [this](Position position, Value after) { this->tell(position, after); };
        part_.begin(game_, tell);
        for (int to = 0; to < process_.size(); ++to) flush(to);
        while (has_work() || !termination_.ended()) {
            for (; !open_.empty(); flush_full()) {
                const Update update = open_.back();
                open_.pop_back();
                part_.update(update.position, update.after, tell);
                process_.messenger.poll();
            }
            for (int to = 0; to < process_.size(); ++to) flush(to);
            process_.messenger.poll_or_yield();
        }
    }

    const Part& part() const noexcept { return part_; }
    uint64_t calls() const noexcept { return called_; }

private:
    // Nothing is left to go out when this is asked.
    bool has_work() const noexcept { return !open_.empty(); }

    void tell(Position position, Value after) {
        if (part_.has(position)) return open_.push_back({position, after});
        const auto to = int(position % Position(process_.size()));
        auto& updates = outgoing_[size_t(to)];
        updates.push_back({position, after});
        if (updates.size() == most_) full_.push_back(to);
    }

    void flush_full() {
        for (; !full_.empty(); full_.pop_back()) flush(full_.back());
    }

    void flush(int to) {
        auto& all = outgoing_[size_t(to)];
        while (!all.empty()) {
            const size_t count = std::min(all.size(), most_);
            const std::vector<Update> now(all.end() - long(count), all.end());
            all.resize(all.size() - count);
            termination_.sent();
            ++called_;
            calls_.call(to, std::as_bytes(std::span{now}));
        }
    }

    void take_updates(Bytes arguments) {
        termination_.received();
        while (!arguments.empty()) {
            const auto update = take<Update>(arguments);
            if (update.position >= game_.positions() || !part_.has(update.position))
                throw std::out_of_range{"an update of a position that is not here"};
            open_.push_back(update);
        }
    }

    Process& process_;
    const Game& game_;
    size_t most_;
    Part part_;
    std::vector<Update> open_;
    std::vector<std::vector<Update>> outgoing_; // by rank
    std::vector<int> full_;                     // ranks for which there is enough for a call
    Calls calls_;
    Termination termination_;
    uint64_t called_{0};
};

int run(fabtests_ext::Team& team, const Options& options) {
    Process process{team, options, options.updates * sizeof(Update)};
    const Game game{options.positions, options.seed};
    Solver solver{process, game, options.updates};
    process.measure([&] { solver.solve(); });
    process.report("calls", solver.calls());
    const Part alone = solve_alone(game);
    bool right = true;
    uint64_t won = 0;
    for (Position position = 0; position < game.positions(); ++position) {
        if (!solver.part().has(position)) continue;
        right &= solver.part().value(position) == alone.value(position);
        won += alone.value(position) == Value::won;
    }
    process.report("won", won);
    return process.conclude(right);
}

} // namespace
} // namespace bench

int main(int argc, char** argv) {
    bench::Options options;
    fabtests_ext::CommandLine command{"Retrograde analysis of a game."};
    bench::add_setting(command, options);
    command.option("--positions", options.positions).positive();
    command.option("-u,--updates", options.updates, "in a call").positive();
    if (!command.read(argc, argv)) return command.status();
    return fabtests_ext::run_team(options.processes,
                                  [&](auto& team) { return bench::run(team, options); });
}
