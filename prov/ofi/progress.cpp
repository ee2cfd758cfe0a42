// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/progress.hpp"

#include "ofi/endpoint.hpp"
#include "ofi/wait_object.hpp"

#include <algorithm>

namespace odrc::ofi {

void Progress::attach(Endpoint& endpoint, WaitObject& wait) {
    std::lock_guard lock{mutex_};
    if (std::ranges::find(endpoints_, &endpoint) != endpoints_.end()) return;
    endpoints_.push_back(&endpoint);
    if (wait.by_descriptor()) wait.watch(endpoint.engine().fd());
}

void Progress::detach(Endpoint& endpoint) noexcept {
    std::lock_guard lock{mutex_};
    std::erase(endpoints_, &endpoint);
}

// Visits the endpoints, each by itself. Under FI_THREAD_DOMAIN the caller is inside the one gate.
template <class Visit>
void Progress::visit(const Visit& visit) noexcept {
    if (domain_.one_thread()) {
        for (Endpoint* endpoint : endpoints_) visit(endpoint->engine());
        return;
    }
    std::lock_guard lock{mutex_};
    for (Endpoint* endpoint : endpoints_) {
        const Entry entry{endpoint->gate()};
        visit(endpoint->engine());
    }
}

void Progress::make() noexcept {
    visit([](transfer::Engine& engine) { engine.progress(); });
}

void Progress::arm() noexcept {
    visit([](transfer::Engine& engine) { engine.arm_for_program(); });
}

} // namespace odrc::ofi
