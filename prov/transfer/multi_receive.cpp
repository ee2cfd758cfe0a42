// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Receives that take many messages into one buffer (FI_MULTI_RECV), packed without gaps. A message
// that is longer than what is left of the buffer is cut, as it would be by any other receive.

#include "transfer/engine.hpp"

#include <rdma/fi_endpoint.h>

namespace odrc::transfer {

ssize_t Engine::receive_many(const ReceiveArguments& a, Peer* source) noexcept {
    Matcher& matcher = inbox_.matcher(a.flags);
    if (matcher.posted() >= settings_.receive_size) return -FI_EAGAIN;
    Receive* whole = make_receive(a, source);
    if (!whole) return -FI_EAGAIN;
    whole->many = Many{.least = std::max<size_t>(a.least, 1)};
    matcher.post(*whole);
    // It may go with the last of the messages that came before it.
    for (bool posted = true; posted;) {
        Arrived* arrived = matcher.find_arrived(source, a.tag, a.ignore);
        if (!arrived) break;
        matcher.take(*arrived);
        Receive* part = inbox_.claim(matcher, *whole, arrived->message.length);
        posted = !whole->many->full;
        if (part)
            deliver(*part, arrived->message);
        else
            lose(arrived->message);
        inbox_.release(*arrived);
    }
    weigh();
    let_come_what_is_wanted();
    return 0;
}

void Engine::part_done(Receive& whole) noexcept {
    Many& many = *whole.many;
    if (--many.parts > 0) return;
    if (many.canceled)
        complete_canceled(whole);
    else if (many.full)
        inbox_.destroy(whole);
}

} // namespace odrc::transfer
