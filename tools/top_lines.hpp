// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/statistics_reader.hpp"

namespace odrc::top {

// What an endpoint has done since an earlier look, in a second.
struct Rates {
    double messages{0}, bytes{0}; // sent and received, with what was read and written
};
Rates rates(const EndpointSeen& before, const EndpointSeen& now, double seconds) noexcept;

// What is shown of an endpoint: a line of a table, and one for each connection that stalls.
std::string heading();
std::string lines(const EndpointSeen& endpoint, const Rates& rates);

// All that is known of it, as a line of JSON with the names of the profile.
std::string json(const EndpointSeen& endpoint);

} // namespace odrc::top
