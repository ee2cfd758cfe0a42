// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/inbox.hpp"

#include "base/copy_few.hpp"

#include <rdma/fi_endpoint.h>

namespace odrc::transfer {

// ---- receives ---------------------------------------------------------------------------------

Receive* Inbox::take(const void* context) noexcept {
    Receive* receive = tagged_.take_receive(context);
    return receive ? receive : messages_.take_receive(context);
}

void Inbox::withdraw_all() noexcept {
    for (Matcher* matcher : {&messages_, &tagged_}) {
        while (Receive* receive = matcher->take_any()) {
            if (receive->many && receive->many->parts > 0)
                receive->many->full = true; // it goes with the last part
            else
                receives_.destroy(receive);
        }
    }
}

Receive* Inbox::claim_part(Matcher& matcher, Receive& whole, size_t length) noexcept {
    Receive* part = next_part(whole, length);
    if (whole.many->full) matcher.take(whole);
    return part;
}

Receive* Inbox::next_part(Receive& whole, size_t length) noexcept {
    Receive* part = receives_.create();
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

// ---- messages ---------------------------------------------------------------------------------

bool Inbox::keep(const Message& message) noexcept {
    Arrived* arrived = make_room(message, message.payload.size());
    if (!arrived) return false;
    copy_few(arrived->room(), message.payload.data(), message.payload.size());
    return show(*arrived);
}

Arrived* Inbox::make_room(const Message& message, size_t bytes) noexcept {
    Arrived* arrived = arrived_.create();
    if (!arrived) return nullptr;
    arrived->message = message;
    if (bytes > Arrived::kInside) {
        arrived->outside.reset(new (std::nothrow) std::byte[bytes]);
        if (!arrived->outside) {
            arrived_.destroy(arrived);
            return nullptr;
        }
        counters_.memory_taken(bytes);
    }
    arrived->message.payload = {arrived->room(), bytes};
    kept_bytes_ += bytes_of(*arrived);
    counters_.unexpected_bytes_peak =
        std::max<uint64_t>(counters_.unexpected_bytes_peak, kept_bytes_);
    return arrived;
}

bool Inbox::show(Arrived& arrived) noexcept {
    if (matcher(arrived.message).keep(arrived)) return true;
    release(arrived);
    return false;
}

void Inbox::release(Arrived& arrived) noexcept {
    kept_bytes_ -= bytes_of(arrived);
    if (arrived.outside) counters_.memory_given_back(arrived.message.payload.size());
    arrived_.destroy(&arrived);
}

void Inbox::set_aside(Arrived& arrived, void* context) noexcept {
    matcher(arrived.message).take(arrived);
    arrived.claimed_by = context;
    aside_.push_back(arrived);
}

Arrived* Inbox::find_aside(const void* context) noexcept {
    Arrived* arrived = aside_.front();
    while (arrived && arrived->claimed_by != context) arrived = aside_.after(*arrived);
    return arrived;
}

} // namespace odrc::transfer
