// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "orders.hpp"
#include "side.hpp"

#include <map>

// Some endpoints, what they have to say to each other, and what may go wrong meanwhile.
struct Scenario {
    struct Wish {
        size_t from, to;
        // To say a word, also when the lane shall give way to a deeper one first; to come to know
        // the other's address, and the list of its queue pairs; to lose the connection; to have one
        // instead of datagrams; to leave.
        enum What : uint8_t { say, deepen, name, read_list, lose, promote, leave } what{say};
    };
    std::vector<uint32_t> most_lanes; // of each endpoint
    std::vector<Wish> before{};       // is said before anything else, and all is quiet again
    std::vector<Wish> wishes;         // those of one endpoint come in this order
    int faults;                       // datagrams lost, doubled or overtaken, in all
    int waits;                        // how often time passes while something is under way
    int steps{1000};                  // in any order; then all takes its course
    odrc::ondemand::Seal seal{};      // of all
    uint32_t job{0};               // they are the last of so many, who connect by their addresses
    bool lists{false};             // and by lists
    odrc::Clock::duration wait{};  // how much time passes, at the least
    std::vector<bool> soft{};      // which of them meet others on soft0; empty: none
    std::vector<bool> datagrams{}; // which of them begin with those; empty: none
};

// One run of a scenario, in one order.
class World {
public:
    World(std::vector<std::unique_ptr<Seat>>& seats, const Scenario& scenario, Orders& orders);

    // In the order that is chosen, then in that of sending, until all is quiet.
    void run();

    // Nobody waits for anything; and unless somebody has closed, all that was to be said was heard,
    // once and in order.
    void check() const;

    // One word from everybody to everybody who has spoken: over the connections that stand.
    void speak_again();

    // So much time passes, and what is due then happens.
    void pass(odrc::Clock::duration time);

    Side& side(size_t i) const { return *sides_[i]; }

private:
    enum class Kind { wish, deliver, lose, twice, wait };
    struct Action {
        Kind kind;
        size_t which;
        bool fault;
    };

    std::vector<Action> possible() const;
    void act(const Action& action);
    void wish(const Scenario::Wish& wish);
    void step_all();
    void wait();
    void calm_down();
    bool somebody_waits() const;

    const Scenario& scenario_;
    Orders& orders_;
    std::vector<std::unique_ptr<Side>> sides_;
    std::vector<Scenario::Wish> wishes_;                 // not made yet
    std::map<std::pair<size_t, size_t>, uint32_t> said_; // how many words, from whom to whom
    int faults_, waits_;
};
