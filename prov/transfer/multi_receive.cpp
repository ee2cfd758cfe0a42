// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Receives that take many messages into one buffer (FI_MULTI_RECV), packed without gaps. A message
// that is longer than what is left of the buffer is cut, as it would be by any other receive.

#include "transfer/engine.hpp"

#include <algorithm>
#include <rdma/fi_endpoint.h>

namespace odrc::transfer {

ssize_t Engine::receive_many(const ReceiveArguments& a, Peer* source) noexcept {
    if (messages_.posted() >= settings_.receive_size) return -FI_EAGAIN;
    Receive* whole = make_receive(a, source);
    if (!whole) return -FI_EAGAIN;
    whole->many = Many{.least = std::max<size_t>(a.least, 1)};
    if (!messages_.post(*whole)) {
        posted_.destroy(whole);
        return -FI_EAGAIN;
    }
    // It may go with the last of the messages that came before it.
    for (bool posted = true; posted;) {
        Arrived* arrived = messages_.find_arrived(source, a.tag, a.ignore);
        if (!arrived) break;
        messages_.take(*arrived);
        Receive* part = claim(*whole, arrived->message);
        posted = !whole->many->full;
        if (part)
            deliver(*part, arrived->message);
        else
            lose(arrived->message);
        release(*arrived);
    }
    return 0;
}

// The receive for a message that matches a posted one: that one, or the next part of its buffer.
// Null when memory is out.
Receive* Engine::claim(Receive& posted, const Message& message) noexcept {
    Receive* receive = posted.many ? next_part(posted, message.length) : &posted;
    if (!posted.many || posted.many->full) matcher_of(message).take(posted);
    return receive;
}

Receive* Engine::next_part(Receive& whole, size_t length) noexcept {
    Receive* part = posted_.create();
    if (!part) return nullptr;
    Many& many = *whole.many;
    const size_t room = whole.pieces.bytes - many.used;
    const iovec piece{static_cast<std::byte*>(whole.pieces.first()) + many.used,
                      std::min(length, room)};
    part->context = whole.context;
    part->kind = whole.kind;
    part->wanted = whole.wanted;
    part->handed_over = whole.handed_over;
    part->whole = &whole;
    part->pieces.assign({&piece, 1}, longs_);
    many.used += piece.iov_len;
    many.full = room - piece.iov_len < many.least;
    ++many.parts;
    return part;
}

// With its completion the whole buffer goes back to the application.
bool Engine::is_last_part(const Receive& receive) noexcept {
    if (!receive.whole) return false;
    const Many& many = *receive.whole->many;
    return many.full && many.parts == 1;
}

void Engine::part_done(Receive& whole) noexcept {
    Many& many = *whole.many;
    if (--many.parts > 0) return;
    if (many.canceled)
        complete_canceled(whole);
    else if (many.full)
        posted_.destroy(&whole);
}

// Takes a receive back that is not posted any more, without a word to the application.
void Engine::withdraw(Receive& receive) noexcept {
    if (receive.many && receive.many->parts > 0)
        receive.many->full = true;
    else
        posted_.destroy(&receive);
}

} // namespace odrc::transfer
