// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Barnes-Hut: how so many bodies attract each other, in shared memory. Bodies and the cells of the
// tree are small regions of their own; computing forces, everybody walks through most of the tree.

#include "bench/patterns/octree.hpp"
#include "bench/patterns/program.hpp"
#include "bench/patterns/regions.hpp"
#include "fabtests_ext/support/content.hpp"

#include <cmath>

namespace bench {
namespace {

struct Options : Setting {
    uint32_t bodies{1024};
    int steps{2};
};

constexpr size_t kRegionBytes = 104;
static_assert(sizeof(Body) <= kRegionBytes && sizeof(Cell) <= kRegionBytes);
constexpr double kTime = 1e-3, kAngle = 0.8, kSoftening = 1e-4;

Body make_body(uint64_t seed, Node number) {
    uint64_t id = fabtests_ext::scramble(seed) + number;
    const auto random = [&id] { return double((id = fabtests_ext::scramble(id)) >> 11) * 0x1p-53; };
    return {.mass = 0.5 + random(), .at = {random(), random(), random()}, .velocity = {}};
}

// Numbers below that of bodies are bodies, those from there on cells, the first of which is the
// root.
template <class Memory>
class Galaxy {
public:
    Galaxy(Memory& memory, Node bodies)
        : memory_{memory}
        , bodies_{bodies} {}

    void make_tree() {
        std::vector<Body> bodies;
        for (Node i = 0; i < bodies_; ++i) bodies.push_back(memory_.template read_as<Body>(i));
        const std::vector<Cell> cells = bench::make_tree(bodies);
        if (cells.size() > bodies_) throw std::length_error{"a tree of too many cells"};
        for (Node i = 0; i < cells.size(); ++i)
            memory_.template write_as<Cell>(bodies_ + i) = cells[i];
    }

    Vector acceleration(Node of) {
        const Vector at = memory_.template read_as<Body>(of).at;
        Vector sum{};
        open_.assign(1, bodies_);
        while (!open_.empty()) {
            const Node node = open_.back();
            open_.pop_back();
            if (node == of) continue;
            if (node < bodies_) {
                const auto& body = memory_.template read_as<Body>(node);
                attract(sum, at, body.at, body.mass);
                continue;
            }
            const auto& cell = memory_.template read_as<Cell>(node);
            if (cell.width * cell.width < kAngle * kAngle * square_of_distance(at, cell.centre)) {
                attract(sum, at, cell.centre, cell.mass);
                continue;
            }
            for (const Node child : cell.children)
                if (child != kNoNode) open_.push_back(child);
        }
        return sum;
    }

    void move(Node number, const Vector& acceleration) {
        auto& body = memory_.template write_as<Body>(number);
        for (size_t axis = 0; axis < 3; ++axis) {
            body.velocity[axis] += kTime * acceleration[axis];
            body.at[axis] += kTime * body.velocity[axis];
        }
    }

private:
    static void attract(Vector& sum, const Vector& at, const Vector& to, double mass) {
        const double square = square_of_distance(at, to) + kSoftening;
        const double strength = mass / (square * std::sqrt(square));
        for (size_t axis = 0; axis < 3; ++axis) sum[axis] += strength * (to[axis] - at[axis]);
    }

    Memory& memory_;
    Node bodies_;
    std::vector<Node> open_;
};

// What Regions are for many.
class OwnMemory {
public:
    explicit OwnMemory(size_t regions)
        : regions_(regions) {}
    template <class T>
    T& write_as(Node id) {
        return *reinterpret_cast<T*>(regions_[id].bytes);
    }
    template <class T>
    const T& read_as(Node id) {
        return write_as<T>(id);
    }

private:
    struct Region {
        alignas(double) std::byte bytes[kRegionBytes];
    };
    std::vector<Region> regions_;
};

void simulate_alone(const Options& options, OwnMemory& memory) {
    Galaxy galaxy{memory, options.bodies};
    for (Node i = 0; i < options.bodies; ++i) memory.write_as<Body>(i) = make_body(options.seed, i);
    std::vector<Vector> accelerations(options.bodies);
    for (int step = 0; step < options.steps; ++step) {
        galaxy.make_tree();
        for (Node i = 0; i < options.bodies; ++i) accelerations[i] = galaxy.acceleration(i);
        for (Node i = 0; i < options.bodies; ++i) galaxy.move(i, accelerations[i]);
    }
}

// Member 0 makes the tree: it takes little of the time, beside the forces.
void simulate(Process& process, Galaxy<Regions>& galaxy, const Options& options) {
    const auto first = Node(process.first_of(options.bodies));
    const auto end = Node(process.end_of(options.bodies));
    std::vector<Vector> accelerations(end - first);
    for (int step = 0; step < options.steps; ++step) {
        if (process.rank() == 0) galaxy.make_tree();
        process.agreement.barrier();
        for (Node i = first; i < end; ++i) {
            accelerations[i - first] = galaxy.acceleration(i);
            process.messenger.poll();
        }
        process.agreement.barrier(); // nobody reads any longer what moves now
        for (Node i = first; i < end; ++i) galaxy.move(i, accelerations[i - first]);
        process.agreement.barrier();
    }
}

int run(fabtests_ext::Team& team, const Options& options) {
    Process process{team, options};
    const auto home = [&](Node id) { return int(id % Node(process.size())); };
    Regions regions{process.messenger, 2 * options.bodies, kRegionBytes, home};
    Galaxy galaxy{regions, options.bodies};
    const auto first = Node(process.first_of(options.bodies));
    const auto end = Node(process.end_of(options.bodies));
    for (Node i = first; i < end; ++i) regions.write_as<Body>(i) = make_body(options.seed, i);
    process.measure([&] { simulate(process, galaxy, options); });
    process.report("read_misses", regions.counts().read_misses);
    process.report("write_misses", regions.counts().write_misses);
    process.report("recalls", regions.counts().recalls);

    OwnMemory alone{2 * options.bodies};
    simulate_alone(options, alone);
    bool right = true;
    for (Node i = first; i < end; ++i) right &= regions.read_as<Body>(i) == alone.read_as<Body>(i);
    return process.conclude(right);
}

} // namespace
} // namespace bench

int main(int argc, char** argv) {
    bench::Options options;
    fabtests_ext::CommandLine command{"Barnes-Hut in shared memory."};
    bench::add_setting(command, options);
    command.option("-b,--bodies", options.bodies).positive();
    command.option("-s,--steps", options.steps);
    if (!command.read(argc, argv)) return command.status();
    return fabtests_ext::run_team(options.processes,
                                  [&](auto& team) { return bench::run(team, options); });
}
