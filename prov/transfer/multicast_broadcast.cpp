// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// fi_broadcast(3) by packets. Those behind an inner member have theirs before that one's program
// has asked for its own, if need be; what is too early here is kept until then.

#include "base/copy_few.hpp"
#include "base/log.hpp"
#include "transfer/collectives.hpp"
#include "transfer/engine.hpp"
#include "transfer/multicast.hpp"

namespace odrc::transfer {
namespace {

// What is longer is quicker read by each member from the one above it, once and without a copy,
// though only when its program has come so far.
constexpr size_t kMostByPackets = size_t{64} << 10;

// Few steps count where a message is one packet; where it is many, that each member sends each of
// them to few.
Tree tree_for(const Collective& what) noexcept {
    return tree_of_environment(what.block <= wire::kEagerLimit ? Tree::binomial : Tree::binary);
}

} // namespace

Tree tree_of_environment(Tree otherwise) noexcept {
    switch (parameters().broadcast) {
    case Broadcast::binary:
        return Tree::binary;
    case Broadcast::binomial:
        return Tree::binomial;
    case Broadcast::knomial:
        return Tree::knomial;
    case Broadcast::chain:
        return Tree::chain;
    default:
        return otherwise;
    }
}

bool Multicast::takes(const Collective& what) noexcept {
    const bool by_messages =
        parameters().broadcast == Broadcast::message ||
        (parameters().broadcast == Broadcast::automatic && what.block > kMostByPackets);
    return what.kind == FI_BROADCAST && what.size > 1 && !by_messages;
}

void Multicast::begin(CollectiveOperation& op) noexcept {
    CollectiveGroup& group = *op.group;
    const Tree tree = tree_for(op.what);
    op.stream = stream_of(group, tree, op.what.root);
    if (!op.stream) return cannot_begin(op);
    if (group.multicasts.failure) return end(op, group.multicasts.failure);
    if (!op.what.is_root()) {
        op.waits = true;
        engine_.await(1);
        auto& early = group.multicasts.early;
        IncomingMulticast* message = early.front();
        while (message &&
               (message->what.root != op.what.root || message->what.operation != op.number))
            message = early.after(*message);
        if (message) return take_early(group, op, *message);
        return engine_.look_after_members();
    }
    OutgoingMulticast* message = outgoing_.create();
    if (!message) return cannot_begin(op);
    message->what = {.word = wire::MulticastWord::broadcast,
                     .tree = static_cast<uint8_t>(tree),
                     .unused = 0,
                     .sender = group.number(),
                     .root = op.what.root,
                     .operation = op.number,
                     .number = 0,
                     .length = op.what.block};
    message->data = op.what.data;
    message->operation = &op;
    put(group, *op.stream, *message);
}

void Multicast::cannot_begin(CollectiveOperation& op) noexcept {
    fail(*op.group, FI_ENOMEM);
    end(op, FI_ENOMEM);
}

// Null: its message is early.
CollectiveOperation* Multicast::waiting_for(CollectiveGroup& group,
                                            const wire::Multicast& what) noexcept {
    CollectiveOperation* op = group.operations.front();
    while (op && !(op->waits && op->number == what.operation && op->what.root == what.root))
        op = group.operations.after(*op);
    return op;
}

// Root and member mean the same broadcast. If not, it is over for us.
bool Multicast::agrees(CollectiveGroup& group, CollectiveOperation& op,
                       const wire::Multicast& what) noexcept {
    if (what.length == op.what.block) return true;
    ODRC_WARN(FI_LOG_EP_DATA, "{}: member {} has {} bytes for a broadcast, and we have {}",
              port_.name(), group.rank, what.length, op.what.block);
    end(op, FI_EIO);
    return false;
}

// What has come of it before the program asked for it.
void Multicast::take_early(CollectiveGroup& group, CollectiveOperation& op,
                           IncomingMulticast& message) noexcept {
    Stream& stream = *message.stream;
    List<IncomingMulticast>::erase(message);
    if (agrees(group, op, message.what)) {
        message.operation = &op;
        std::byte* to = op.what.data;
        for (const Parcel* parcel = message.first; parcel; parcel = parcel->next) {
            copy_few(to, parcel->payload, parcel->length);
            to += parcel->length;
        }
    } else {
        message.unwanted = true;
    }
    let_go(message);
    if (message.is_whole()) on_whole(group, message);
    tell_credit(group, stream);
}

void Multicast::end(CollectiveOperation& op, int error) noexcept {
    if (std::exchange(op.waits, false)) engine_.await(-1);
    collectives_.ended(op, error);
}

} // namespace odrc::transfer
