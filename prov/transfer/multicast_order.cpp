// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Messages that all members get in one order (FI_ODRC_ORDERED). The group's first member gives each
// its number; whoever sends asks for it before the message goes out, and who receives puts messages
// in order. Their sender gets them as all others do.
//
// Messages with higher numbers wait for those with lower ones, and not the other way round: what
// waits is within its own root's credit, and the one with the lowest number that is missing has to
// wait for nothing but messages before it, which are there. A number is not given to anybody else
// if its owner dies: then the group fails, since those who wait ask all members whether they live.
//
// The device's fetch-and-add on a word of that member's would do without its progress. But an
// atomic of which it is not known whether it was done is not repeated, so that a lane that breaks
// would end a group that survives it as it is; and members by datagrams, or on soft0 beside the
// device, would have to ask all the same. A program that wants it has fi_fetch_atomic(3).

#include "base/copy_few.hpp"
#include "transfer/engine.hpp"
#include "transfer/multicast.hpp"

#include <algorithm>
#include <new>

namespace odrc::transfer {

using wire::MulticastWord;

namespace {

constexpr uint32_t kSequencer = 0; // its rank

} // namespace

// Asks for the message's number, which comes in the order in which it is asked for.
void Multicast::ask_for_number(CollectiveGroup& group, OutgoingMulticast& message) noexcept {
    if (group.rank == kSequencer) {
        message.what.number = group.multicasts.next_given++;
        return;
    }
    message.unnumbered = true;
    engine_.send_word(group.members[kSequencer], group.numbers[kSequencer],
                      {.word = MulticastWord::ask,
                       .tree = message.what.tree,
                       .sender = group.number(),
                       .root = group.rank});
    engine_.look_after_members();
}

void Multicast::on_ask(CollectiveGroup& group, Peer& peer, const wire::Multicast& what) noexcept {
    if (group.rank != kSequencer) return refuse(group, peer);
    engine_.send_word(peer, what.sender,
                      {.word = MulticastWord::give,
                       .tree = what.tree,
                       .sender = group.number(),
                       .root = what.root,
                       .number = group.multicasts.next_given++});
}

void Multicast::on_give(CollectiveGroup& group, const Peer& peer,
                        const wire::Multicast& what) noexcept {
    Stream* stream =
        what.root == group.rank ? stream_of(group, Tree{what.tree}, what.root) : nullptr;
    OutgoingMulticast* message = stream ? stream->outgoing.front() : nullptr;
    while (message && !message->unnumbered) message = stream->outgoing.after(*message);
    if (!message || engine_.peer_at(group.members[kSequencer]) != &peer) return refuse(group, peer);
    message->unnumbered = false;
    message->what.number = what.number;
    pump(group, *stream);
}

// The sender's own copy, which counts as what has come to any other member. False when memory is
// out.
bool Multicast::keep_own(CollectiveGroup& group, Stream& stream,
                         const OutgoingMulticast& message) noexcept {
    IncomingMulticast* own = incoming_.create();
    if (!own) return false;
    own->stream = &stream;
    own->what = message.what;
    own->come = message.what.length;
    own->together.reset(new (std::nothrow) std::byte[std::max<size_t>(own->come, 1)]);
    if (!own->together) {
        incoming_.destroy(own);
        return false;
    }
    copy_few(own->together.get(), message.data, own->come);
    for (size_t done = 0; done == 0 || done < own->come; done += wire::kEagerLimit)
        own->cost += cost_of(std::min(own->come - done, wire::kEagerLimit));
    engine_.keep_early(own->cost * kCreditUnit);
    put_in_order(group, *own);
    return true;
}

void Multicast::put_in_order(CollectiveGroup& group, IncomingMulticast& message) noexcept {
    Multicasts& multicasts = group.multicasts;
    IncomingMulticast* behind = multicasts.held.front();
    while (behind && behind->what.number < message.what.number)
        behind = multicasts.held.after(*behind);
    if (behind)
        List<IncomingMulticast>::insert_before(message, *behind);
    else
        multicasts.held.push_back(message);
    while (IncomingMulticast* next = multicasts.held.front()) {
        if (next->what.number != multicasts.next_taken) return engine_.look_after_members();
        List<IncomingMulticast>::erase(*next);
        multicasts.arrived.push_back(*next);
        ++multicasts.next_taken;
    }
}

} // namespace odrc::transfer
