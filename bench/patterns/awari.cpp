// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Retrograde analysis: who wins each position of a game, from its ends backwards. A position that
// becomes known makes others known, whose owners are told so by calls, many updates in each.
//
// The game is a random one, in which who cannot move has lost, in place of the board game of this
// name: its positions, too, are scattered over all processes.

#include "bench/patterns/calls.hpp"
#include "bench/patterns/program.hpp"
#include "bench/patterns/termination.hpp"
#include "fabtests_ext/support/content.hpp"

#include <algorithm>

namespace bench {
namespace {

struct Options : Setting {
    uint32_t positions{100000};
    size_t updates{64}; // in a call
};

using Position = uint32_t;
enum class Value : uint8_t { unknown, lost, won };

class Game {
public:
    explicit Game(const Options& options)
        : positions_{options.positions}
        , seed_{options.seed} {}

    Position positions() const noexcept { return positions_; }
    // One in eight has none.
    unsigned moves(Position position) const noexcept { return random(position, 0) % 8; }
    Position after(Position position, unsigned move) const noexcept {
        return Position(random(position, move + 1) % positions_);
    }

private:
    uint64_t random(Position position, unsigned what) const noexcept {
        return fabtests_ext::scramble(fabtests_ext::scramble(seed_ + position) + what);
    }

    Position positions_;
    uint64_t seed_;
};

// Those positions that one process has, of several which have them in turn.
class Part {
public:
    Part(const Game& game, Position rank, Position size)
        : rank_{rank}
        , size_{size}
        , nodes_(game.positions() / size + 1) {
        for (Position position = 0; position < game.positions(); ++position) {
            const unsigned moves = game.moves(position);
            if (has(position)) node(position).open = uint8_t(moves);
            for (unsigned move = 0; move < moves; ++move) {
                const Position next = game.after(position, move);
                if (has(next)) node(next).before.push_back(position);
            }
        }
    }

    bool has(Position position) const noexcept { return position % size_ == rank_; }
    Value value(Position position) const { return nodes_[position / size_].value; }

    // Makes those known that have no moves.
    template <class Tell>
    void begin(const Game& game, Tell&& tell) {
        for (Position position = rank_; position < game.positions(); position += size_)
            if (node(position).open == 0) settle(position, Value::lost, tell);
    }

    // A position after this one has become known. tell(POSITION, VALUE) is called for all before
    // this, if that is now known as well.
    template <class Tell>
    void update(Position position, Value after, Tell&& tell) {
        Node& node = this->node(position);
        if (node.value != Value::unknown) return;
        if (after == Value::lost)
            settle(position, Value::won, tell);
        else if (--node.open == 0)
            settle(position, Value::lost, tell);
    }

private:
    struct Node {
        Value value{Value::unknown};
        uint8_t open{0}; // moves after which it is not known that the other one wins
        std::vector<Position> before;
    };

    Node& node(Position position) { return nodes_[position / size_]; }

    template <class Tell>
    void settle(Position position, Value value, Tell& tell) {
        node(position).value = value;
        for (const Position before : node(position).before) tell(before, value);
    }

    Position rank_, size_;
    std::vector<Node> nodes_;
};

struct Update {
    Position position;
    Value after;
};

Part solve_alone(const Game& game) {
    Part part{game, 0, 1};
    std::vector<Update> open;
    const auto tell = [&](Position position, Value after) { open.push_back({position, after}); };
    part.begin(game, tell);
    while (!open.empty()) {
        const Update update = open.back();
        open.pop_back();
        part.update(update.position, update.after, tell);
    }
    return part;
}

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
    const Game game{options};
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
    CLI::App app{"Retrograde analysis of a game."};
    bench::add_setting(app, options);
    app.add_option("--positions", options.positions)
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("-u,--updates", options.updates, "in a call")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    return fabtests_ext::run_team(options.processes,
                                  [&](auto& team) { return bench::run(team, options); });
}
