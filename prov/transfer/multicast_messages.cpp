// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Messages for which nobody posts a receive (fi_odrc.h).

#include "transfer/engine.hpp"
#include "transfer/multicast.hpp"

namespace odrc::transfer {
namespace {

// A member's messages go along one tree, so that they come in order.
Tree tree_of_messages() noexcept { return tree_of_environment(Tree::binary); }

} // namespace

ssize_t Multicast::send(const MulticastArguments& a) noexcept {
    if (a.length > kMaxMulticast) return -FI_EMSGSIZE;
    CollectiveGroup* group = find_by_address(a.group);
    if (!group || (a.length > 0 && !a.data)) return -FI_EINVAL;
    if (!group->joined) return -FI_EOPBADSTATE;
    if (group->multicasts.failure) return -group->multicasts.failure;
    if (outgoing_.size() >= settings_.size ||
        (settings_.completions && settings_.completions->full()))
        return -FI_EAGAIN;
    const Tree tree = tree_of_messages();
    Stream* stream = stream_of(*group, tree, group->rank);
    OutgoingMulticast* message = stream ? outgoing_.create() : nullptr;
    if (!message) return -FI_ENOMEM;
    message->what = {.word = wire::MulticastWord::message,
                     .tree = static_cast<uint8_t>(tree),
                     .unused = 0,
                     .sender = group->number(),
                     .root = group->rank,
                     .operation = 0,
                     .number = kUnordered,
                     .length = a.length};
    message->data = static_cast<const std::byte*>(a.data);
    message->context = a.context;
    message->wanted = a.wanted;
    message->ordered = a.ordered;
    if (a.ordered) ask_for_number(*group, *message);
    put(*group, *stream, *message);
    return 0;
}

ssize_t Multicast::receive(fi_addr_t address, IncomingMulticast*& message) noexcept {
    CollectiveGroup* group = find_by_address(address);
    if (!group) return -FI_EINVAL;
    Multicasts& multicasts = group->multicasts;
    message = multicasts.arrived.pop_front();
    if (message) {
        multicasts.lent.push_back(*message);
        return 1;
    }
    if (multicasts.failure) return -multicasts.failure;
    engine_.let_come_what_is_looked_for();
    return 0;
}

void Multicast::release(fi_addr_t address, IncomingMulticast& message) noexcept {
    CollectiveGroup* group = find_by_address(address);
    if (!group) return;
    Stream& stream = *message.stream;
    give_up(message);
    if (stream.place.parent)
        tell_credit(*group, stream);
    else
        pump(*group, stream); // it was our own
}

fi_addr_t Multicast::source_of(const IncomingMulticast& message, fi_addr_t address) noexcept {
    return find_by_address(address)->members[message.what.root];
}

} // namespace odrc::transfer
