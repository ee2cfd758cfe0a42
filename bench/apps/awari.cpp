// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Retrograde analysis: who wins each position of a game, from its ends backwards. A position that
// becomes known makes others known, whose owners are told so, many updates to a message.

#include "bench/apps/one_way.hpp"
#include "bench/problems/random_game.hpp"

namespace {

using namespace bench;

void solve(Part& part, const Game& game, const Ranks& ranks, size_t updates_in_message) {
    OneWay<Update> messages{ranks, updates_in_message};
    std::vector<Update> open;
    const auto tell = [&](Position position, Value after) {
        if (part.has(position))
            open.push_back({position, after});
        else
            messages.put(int(position % Position(ranks.size)), {position, after});
    };
    part.begin(game, tell);
    do {
        while (!open.empty()) {
            const Update update = open.back();
            open.pop_back();
            part.update(update.position, update.after, tell);
        }
        messages.flush_all();
        messages.poll([&](const Update& update) { open.push_back(update); });
    } while (!open.empty() || !messages.ended());
}

} // namespace

int main(int argc, char** argv) {
    const Mpi mpi{argc, argv};
    Position positions = 100'000;
    size_t updates = 64;
    CommandLine command{"Retrograde analysis of a game."};
    command.option("-s,--size", positions).positive();
    command.option("-u,--updates", updates, "in a message").positive();
    if (!command.read(argc, argv)) return command.status();
    const Ranks ranks{MPI_COMM_WORLD};
    const Game game{positions, 1};
    Part part{game, Position(ranks.rank), Position(ranks.size)};
    measure([&] {
        solve(part, game, ranks, updates);
        return 0;
    });
    const Part alone = solve_alone(game);
    bool right = true;
    for (Position position = 0; position < positions; ++position)
        if (part.has(position)) right &= part.value(position) == alone.value(position);
    return conclude(right);
}
