// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Messages at the members that are not their root: what becomes of their packets.

#include "base/copy_few.hpp"
#include "transfer/engine.hpp"
#include "transfer/multicast.hpp"

#include <new>

namespace odrc::transfer {

using wire::MulticastWord;

// Null when memory is out.
IncomingMulticast* Multicast::begin_incoming(CollectiveGroup& group, Stream& stream,
                                             const wire::Multicast& what) noexcept {
    IncomingMulticast* message = incoming_.create();
    if (!message) return nullptr;
    message->stream = &stream;
    message->what = what;
    if (what.word == MulticastWord::message) return message;
    message->operation = waiting_for(group, what);
    if (!message->operation) {
        group.multicasts.early.push_back(*message);
    } else if (!agrees(group, *message->operation, what)) {
        message->operation = nullptr;
        message->unwanted = true;
    }
    return message;
}

// parcel: that is held to be passed on; or null. False when memory is out.
bool Multicast::take_in(IncomingMulticast& message, std::span<const std::byte> bytes,
                        Parcel* parcel) noexcept {
    const uint64_t cost = cost_of(bytes.size());
    if (message.unwanted || message.operation) {
        if (message.operation)
            copy_few(message.operation->what.data + message.come, bytes.data(), bytes.size());
        message.stream->credit.took_in(cost);
    } else {
        if (!keep(message, bytes, parcel)) return false;
        message.cost += cost;
        engine_.keep_early(cost * kCreditUnit);
    }
    message.come += bytes.size();
    return true;
}

bool Multicast::keep(IncomingMulticast& message, std::span<const std::byte> bytes,
                     Parcel* parcel) noexcept {
    const bool in_pieces = message.what.word == MulticastWord::broadcast;
    if (!in_pieces && message.what.length > wire::kEagerLimit) {
        if (!message.together)
            message.together.reset(new (std::nothrow) std::byte[message.what.length]);
        if (!message.together) return false;
        copy_few(message.together.get() + message.come, bytes.data(), bytes.size());
        return true;
    }
    if (parcel) {
        ++parcel->users;
    } else {
        parcel = engine_.hold(message.what, bytes);
        if (!parcel) return false;
    }
    (message.last ? message.last->next : message.first) = parcel;
    message.last = parcel;
    return true;
}

// All of it has come.
void Multicast::on_whole(CollectiveGroup& group, IncomingMulticast& message) noexcept {
    if (message.what.word == MulticastWord::message) {
        if (message.what.number == kUnordered)
            group.multicasts.arrived.push_back(message);
        else
            put_in_order(group, message);
    } else if (message.unwanted || message.operation) {
        CollectiveOperation* op = message.operation;
        give_up(message);
        if (op) end(*op, 0);
    }
}

// Nobody needs what is kept of it any more.
void Multicast::let_go(IncomingMulticast& message) noexcept {
    while (Parcel* parcel = message.first) {
        message.first = parcel->next;
        engine_.release(*parcel);
    }
    message.last = nullptr;
    if (message.cost == 0) return;
    message.stream->credit.took_in(message.cost);
    engine_.forget_early(std::exchange(message.cost, 0) * kCreditUnit);
}

void Multicast::give_up(IncomingMulticast& message) noexcept {
    let_go(message);
    if (message.linked()) List<IncomingMulticast>::erase(message);
    if (message.stream->incoming == &message) message.stream->incoming = nullptr;
    incoming_.destroy(&message);
}

} // namespace odrc::transfer
