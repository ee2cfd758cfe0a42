// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "verbs_rc/objects.hpp"

#include <cerrno>
#include <system_error>

namespace bench {

namespace verbs = odrc::verbs;

// What a call gave, unless it gave nothing.
template <class T>
T must(T object, const char* call) {
    if (!object) throw std::system_error{errno, std::generic_category(), call};
    return object;
}

std::unique_ptr<verbs::Context> open_soft_device();

// Takes a new queue pair to the state in which it sends and receives.
void connect(verbs::Context& context, ibv_qp* qp, uint32_t peer);

} // namespace bench
