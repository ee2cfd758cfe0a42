// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// The device under test: the one that ODRC_TEST_DOMAIN names, or the first.

#include "objects.hpp"

#include <chrono>
#include <sched.h>
#include <string>

namespace rig {

struct Device {
    std::string name;
    ibv_device_attr attr{};
    ibv_port_attr port{};
    // How one queue pair here reaches another.
    ibv_ah_attr path{};
};

inline constexpr uint8_t kPort = 1;

// Throws where there is no such device.
Context open_device();
const Device& device();

// Emulated machines are slow, and others may use this one's processors.
inline constexpr std::chrono::seconds kPatience{40};

// Waits for a condition; fails the test case if it never comes about.
template <class Condition>
void await(Condition&& condition) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) FAIL("nothing came");
        sched_yield();
    }
}

} // namespace rig
