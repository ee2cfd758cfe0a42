// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/fd.hpp"
#include "base/ticks.hpp"
#include "verbs_rc/objects.hpp"

namespace odrc::host {

class CompletionQueue;

// A completion channel whose descriptor becomes readable when a datagram comes, and when it is
// time to do something without one: to acknowledge, or to send again.
class CompletionChannel : public ibv_comp_channel {
public:
    CompletionChannel(verbs::Context& device, ibv_context& context); // throws Error

    // Where datagrams announce themselves.
    ibv_comp_channel* below() const noexcept { return below_.get(); }

    // So late at the latest that queue is to be looked at.
    void wake_in(Ticks rest, CompletionQueue& queue) noexcept;

    // As ibv_get_cq_event(3): null where there is none.
    CompletionQueue* take_event() noexcept;

    int leaning{0}; // completion queues that use it

private:
    verbs::Context& device_;
    verbs::Channel below_;
    Fd timer_;
    Fd epoll_;
    CompletionQueue* timed_{nullptr};
};

} // namespace odrc::host
