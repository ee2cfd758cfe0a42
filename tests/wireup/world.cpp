// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "world.hpp"

#include <doctest/doctest.h>

using namespace odrc;

namespace {

PlaceInJob place(size_t rank, uint32_t size) {
    return {.rank = static_cast<uint32_t>(rank), .size = size, .job = 1, .endpoint = 0};
}

// No wireup takes longer than this, nor more datagrams, whatever happens to a few of them.
constexpr auto kLongest = std::chrono::seconds{20};
constexpr int kMost = 1000;

} // namespace

World::World(std::vector<std::unique_ptr<Seat>>& seats, const Scenario& scenario, Orders& orders)
    : scenario_{scenario}
    , orders_{orders}
    , wishes_{scenario.wishes}
    , faults_{scenario.faults}
    , waits_{scenario.waits} {
    network::under_way().clear();
    const size_t sides = scenario.most_lanes.size();
    // Of two that are in each other's way the one with the smaller number goes first.
    const bool falling = sides > 2 && orders.choose(2) == 1;
    for (size_t i = 0; i < sides; ++i) {
        network::throw_next((falling ? 100 - i : 100 + i) << 32);
        sides_.push_back(std::make_unique<Side>(
            *seats[i], network::loopback(), scenario.seal, scenario.most_lanes[i],
            scenario.job ? place(scenario.job - sides + i, scenario.job) : PlaceInJob{},
            scenario.lists, !scenario.soft.empty() && scenario.soft[i],
            !scenario.datagrams.empty() && scenario.datagrams[i]));
    }
}

void World::run() {
    for (const auto& w : scenario_.before) wish(w);
    calm_down();
    for (int left = scenario_.steps; left > 0; --left) {
        const auto actions = possible();
        if (actions.empty()) break;
        act(actions[orders_.choose(actions.size())]);
    }
    for (; !wishes_.empty(); step_all()) {
        wish(wishes_.front());
        wishes_.erase(wishes_.begin());
    }
    calm_down();
}

// What may come next. Datagrams between the same two come in the order in which they were sent,
// unless that is one of the faults.
std::vector<World::Action> World::possible() const {
    std::vector<Action> all;
    for (size_t i = 0; i < wishes_.size(); ++i) {
        const bool first =
            std::none_of(wishes_.begin(), wishes_.begin() + static_cast<ptrdiff_t>(i),
                         [&](auto& w) { return w.from == wishes_[i].from; });
        if (first) all.push_back({Kind::wish, i, false});
    }
    const auto& sent = network::under_way();
    for (size_t i = 0; i < sent.size(); ++i) {
        const bool first =
            std::none_of(sent.begin(), sent.begin() + static_cast<ptrdiff_t>(i),
                         [&](auto& d) { return d.from == sent[i].from && d.to == sent[i].to; });
        if (first || faults_ > 0) all.push_back({Kind::deliver, i, !first});
        if (faults_ == 0) continue;
        all.push_back({Kind::lose, i, true});
        all.push_back({Kind::twice, i, true});
    }
    if (waits_ > 0 && !all.empty() && somebody_waits()) all.push_back({Kind::wait, 0, false});
    return all;
}

void World::act(const Action& action) {
    auto& sent = network::under_way();
    const auto which = static_cast<ptrdiff_t>(action.which);
    if (action.fault) --faults_;
    switch (action.kind) {
    case Kind::wish:
        wish(wishes_[action.which]);
        wishes_.erase(wishes_.begin() + which);
        break;
    case Kind::deliver:
        network::deliver(action.which, false);
        break;
    case Kind::lose:
        sent.erase(sent.begin() + which);
        break;
    case Kind::twice:
        network::deliver(action.which, true);
        break;
    case Kind::wait:
        --waits_;
        wait();
        break;
    }
    step_all();
}

void World::wish(const Scenario::Wish& wish) {
    Side& from = *sides_[wish.from];
    const Side& to = *sides_[wish.to];
    switch (wish.what) {
    case Scenario::Wish::say:
        return from.say(to.address(), ++said_[{wish.from, wish.to}]);
    case Scenario::Wish::name:
        return from.name(to);
    case Scenario::Wish::read_list:
        return from.read_list_of(to);
    case Scenario::Wish::deepen:
        from.deepen(to.address());
        return from.say(to.address(), ++said_[{wish.from, wish.to}]);
    case Scenario::Wish::lose:
        return from.lose(to);
    case Scenario::Wish::promote:
        return from.promote(to.address());
    case Scenario::Wish::leave:
        return from.close();
    }
}

void World::step_all() {
    for (int round = 0; round < 2; ++round) // a frame that one posts may be for one before
        for (auto& side : sides_) side->step();
}

bool World::somebody_waits() const {
    return std::ranges::any_of(sides_, [](auto& side) { return side->wireup().active(); });
}

// Until the first of them has something to do.
void World::wait() {
    Time first = kNever;
    for (auto& side : sides_) first = std::min(first, side->wireup().deadline());
    if (first != kNever) network::advance_to(std::max(first, Clock::now() + scenario_.wait));
}

void World::calm_down() {
    const Time end = Clock::now() + kLongest;
    int left = kMost;
    const auto goes_over = [](auto& side) { return side->goes_over(); };
    while (Clock::now() <= end && left > 0) { // check() tells if that is to blame
        if (!network::under_way().empty()) {
            network::deliver(0, false);
            --left;
        } else if (somebody_waits()) {
            wait();
        } else if (std::ranges::none_of(sides_, goes_over)) {
            return;
        }
        step_all();
    }
}

void World::check() const {
    CHECK(network::under_way().empty());
    CHECK_FALSE(somebody_waits());
    for (auto& side : sides_) CHECK(side->silent());
    const auto closes = [](auto& w) { return w.what == Scenario::Wish::leave; };
    if (std::ranges::any_of(scenario_.wishes, closes)) return;
    for (auto& side : sides_) CHECK(side->errors() == 0);
    for (auto& side : sides_)
        for (auto& other : sides_) CHECK(side->knows_window_of(*other));
    for (const auto& [pair, count] : said_) {
        const auto& words = sides_[pair.second]->heard_from(sides_[pair.first]->address());
        CHECK(words.size() == count);
        CHECK(std::ranges::is_sorted(words, std::less_equal{}));
    }
}

void World::pass(Clock::duration time) {
    network::advance_to(Clock::now() + time);
    step_all();
    calm_down();
}

void World::speak_again() {
    const auto said = said_;
    for (const auto& [pair, count] : said) {
        wish({pair.first, pair.second});
        wish({pair.second, pair.first});
    }
    step_all();
    calm_down();
}
