// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "crowded_device.hpp"
#include "every_order.hpp"
#include "hostrc/device.hpp"
#include "softrc/device.hpp"

#include <deque>

using namespace odrc;

namespace {

const verbs::Device& soft_device() {
    static const auto device = soft::make_soft_device();
    return *device;
}

std::vector<std::unique_ptr<Seat>> seats_on(const verbs::Device& device, size_t count) {
    static Watchdog watchdog;
    static std::deque<std::unique_ptr<verbs::Device>> by_datagrams;
    static std::deque<verbs::Adapter> adapters;
    verbs::Adapter& adapter = adapters.emplace_back(device, Gate::Kind::many_threads, watchdog);
    // Beside that.
    verbs::Adapter& soft = adapters.emplace_back(soft_device(), Gate::Kind::many_threads, watchdog);
    by_datagrams.push_back(
        host::make_host_device(adapter.context(), adapter.pd(), adapter.port(), size_t{512} << 10));
    verbs::Adapter& datagrams =
        adapters.emplace_back(*by_datagrams.back(), Gate::Kind::many_threads, watchdog);
    std::vector<std::unique_ptr<Seat>> all;
    while (all.size() < count) all.push_back(std::make_unique<Seat>(adapter, soft, datagrams));
    return all;
}

} // namespace

std::vector<std::unique_ptr<Seat>>& seats() {
    static auto all = seats_on(soft_device(), 3);
    return all;
}

std::vector<std::unique_ptr<Seat>>& seats_in_a_crowd() {
    static const CrowdedDevice device{soft_device()};
    static auto all = seats_on(device, 2);
    return all;
}
