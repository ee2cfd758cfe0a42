// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "verbs_rc/device.hpp"

namespace odrc::host {

// A device with reliability on the host: the same port, whose reliable connections are not the
// device's own, but kept by the processes at both ends over its datagrams. room: for those that
// have come to a completion queue and are yet to be taken in, in bytes; one has room for a window's
// worth at least, and no more than is of use.
std::unique_ptr<verbs::Device> make_host_device(std::unique_ptr<verbs::Device> below, size_t room);

// The same beside an opened device and within a protection domain of that, which outlive what is
// opened here, as this does.
std::unique_ptr<verbs::Device> make_host_device(verbs::Context& beside, ibv_pd* pd,
                                                const verbs::Port& port, size_t room);

} // namespace odrc::host
