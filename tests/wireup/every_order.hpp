// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "world.hpp"

#include <doctest/doctest.h>

// A place for each endpoint of a scenario, made once; and where others make queue pairs at the same
// time.
std::vector<std::unique_ptr<Seat>>& seats();
std::vector<std::unique_ptr<Seat>>& seats_in_a_crowd();

template <class Check>
void in_every_order(const Scenario& scenario, Check&& check,
                    std::vector<std::unique_ptr<Seat>>& places = seats()) {
    Orders orders{scenario.job == 0 && scenario.datagrams.empty()};
    do {
        World world{places, scenario, orders};
        world.run();
        INFO("order " << orders.count() << ": " << orders.text());
        world.check();
        check(world);
    } while (orders.next());
    MESSAGE(orders.count() << " orders");
}
