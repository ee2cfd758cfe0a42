// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ondemand/connect_rule.hpp"

#include "base/format.hpp"

#include <algorithm>

namespace odrc::ondemand {
namespace {

using namespace std::chrono_literals;

// What the start of a job may take for connections of which it is not known whether they will be
// used. A connection on demand takes two processes a fraction of a millisecond, when it is.
constexpr auto kWorthIt = 30ms;
constexpr size_t kMostBytes = size_t{16} << 20;
// Few take little, and are quicker from the first word on.
constexpr uint32_t kConnectedAtOnce = 64;

double ms(std::chrono::nanoseconds time) noexcept {
    return static_cast<double>(time.count()) / 1e6;
}

} // namespace

uint32_t most_queue_pairs(int device, size_t wanted, size_t processes_here) noexcept {
    const auto all = static_cast<size_t>(std::max(device, 1));
    const size_t share = std::max<size_t>(all / processes_here, 1);
    return static_cast<uint32_t>(wanted > 0 ? std::min(wanted, all) : share);
}

uint32_t connected_at_once(Reliability reliability) noexcept {
    switch (reliability) {
    case Reliability::automatic:
        return kConnectedAtOnce;
    case Reliability::nic:
        return UINT32_MAX;
    default:
        return 0;
    }
}

Choice choose(const Circumstances& c) {
    const uint32_t size = c.place.size;
    if (c.wish == Connect::ondemand) return {false, "as FI_ODRC_CONNECT says"};
    if (c.by_datagrams) return {false, "connections that the host keeps are made at no cost"};
    if (!c.place.known()) return {false, "nobody says how large the job is"};
    if (c.place.endpoint > kMostEndpointsInJob)
        return {false, "this process has many endpoints already"};
    if (size > c.most_lanes)
        return {false, odrc::format("{} processes are more than the {} queue pairs it may have",
                                    size, c.most_lanes)};
    if (c.wish == Connect::all) return {true, "as FI_ODRC_CONNECT says"};
    if (size * kBytesOfQueuePair > kMostBytes)
        return {false, odrc::format("queue pairs for {} processes may take more than {} MiB", size,
                                    kMostBytes >> 20)};
    return {true, "the job is small"};
}

Choice choose(const Circumstances& c, std::chrono::nanoseconds each) {
    if (c.wish == Connect::all) return {true, "as FI_ODRC_CONNECT says"};
    const auto all = each * c.place.size * static_cast<int64_t>(c.processes_here);
    return {all <= kWorthIt,
            odrc::format("connections to {} processes take {:.1f} ms for the {} processes of this "
                         "host, and {:.0f} may be",
                         c.place.size, ms(all), c.processes_here, ms(kWorthIt))};
}

} // namespace odrc::ondemand
