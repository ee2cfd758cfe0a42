// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// A game to analyse from its ends backwards: a random one, in which who cannot move has lost, in
// place of the board game awari: its positions, too, are scattered over all processes.

#include "fabtests_ext/support/content.hpp"

#include <cstdint>
#include <vector>

namespace bench {

using Position = uint32_t;
enum class Value : uint8_t { unknown, lost, won };

class Game {
public:
    Game(Position positions, uint64_t seed)
        : positions_{positions}
        , seed_{seed} {}

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

inline Part solve_alone(const Game& game) {
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

} // namespace bench
