// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The messages that collectives are made of.

#include "base/log.hpp"
#include "transfer/engine.hpp"

#include <algorithm>

namespace odrc::transfer {

// What comes in for the operation.
uint64_t Engine::tag_of(const CollectiveOperation& op) noexcept {
    return op.join ? op.group->join_tag : part_tag(op.group->number(), op.number);
}

// ---- out ----------------------------------------------------------------------------------------

// Null when memory is out, or the member's address is not in the address vector any more.
Send* Engine::make_part(const CollectiveOperation& op, uint32_t rank) noexcept {
    Peer* peer = peers_.find(op.group->members[rank]);
    Send* send = peer ? sends_.create(*peer) : nullptr;
    if (!send) return nullptr;
    ++transmitting_;
    send->header.kind = wire::FrameKind::message;
    send->header.flags = wire::kCollective;
    send->header.tag = op.join ? op.group->join_tag : part_tag(op.group->numbers[rank], op.number);
    return send;
}

// 0 or a positive fi_errno.
int Engine::send_part(CollectiveOperation& op) noexcept {
    const Exchange& to = *op.round.send;
    Send* send = make_part(op, to.rank);
    if (!send) return FI_ENOMEM;
    send->part_of = &op;
    send->length = to.bytes();
    const int error =
        send->pieces.assign(to.list(), longs_) ? submit(*send->peer, *send) : FI_ENOMEM;
    if (error) release(*send);
    return error;
}

// The member is to fail, too. Nobody waits for the end of this.
void Engine::send_error(const CollectiveOperation& op, uint32_t rank) noexcept {
    Send* send = make_part(op, rank);
    if (!send) return;
    send->header.flags |= wire::kData;
    send->data = static_cast<uint64_t>(op.error);
    send->again = true;
    if (submit(*send->peer, *send)) release(*send);
}

void Engine::part_sent(Send& send, int error) noexcept {
    CollectiveOperation* op = send.part_of;
    // Where nobody is, an error does not arrive either.
    const bool lost = error && error != FI_ECONNREFUSED && error != FI_ETIMEDOUT;
    if (lost && send.again && !closing_) repeat(send);
    release(send);
    if (!op) return;
    if (lost)
        part_lost(*op, error);
    else
        part_over(*op, error);
}

// An error that went down with a connection may arrive over the next one.
void Engine::repeat(const Send& lost) noexcept {
    Send* send = sends_.create(*lost.peer);
    if (!send) return;
    ++transmitting_;
    send->header = lost.header;
    send->data = lost.data;
    if (submit(*send->peer, *send)) release(*send);
}

// ---- in -----------------------------------------------------------------------------------------

// 0 or a positive fi_errno.
int Engine::receive_part(CollectiveOperation& op) noexcept {
    const Exchange& from = *op.round.receive;
    Peer* peer = peers_.find(op.group->members[from.rank]);
    Receive* receive = peer ? posted_.create() : nullptr;
    if (!receive) return FI_ENOMEM;
    receive->source = peer;
    receive->tag = tag_of(op);
    receive->part_of = &op;
    receive->handed_over = adapter_.now();
    if (!receive->pieces.assign(from.list(), longs_)) {
        posted_.destroy(receive);
        return FI_ENOMEM;
    }
    if (Arrived* arrived = parts_.find_arrived(peer, receive->tag, 0)) {
        parts_.take(*arrived);
        deliver(*receive, arrived->message);
        release(*arrived);
        return 0;
    }
    if (!parts_.post(*receive)) {
        posted_.destroy(receive);
        return FI_ENOMEM;
    }
    op.posted = receive;
    look_after_peers();
    return 0;
}

void Engine::on_part(const Message& message) noexcept {
    if (Receive* receive = parts_.find_receive(message)) {
        parts_.take(*receive);
        receive->part_of->posted = nullptr;
        return deliver(*receive, message);
    }
    if (is_late(message.tag)) {
        if (message.wants_finish()) send_finish(message, 0);
        return;
    }
    if (!keep(message)) lose(message);
}

// Its operation has been broken off, or the group been left. What is not late is early.
bool Engine::is_late(uint64_t tag) noexcept {
    if (tag & kJoinTag)
        return std::ranges::any_of(groups_, [tag](const auto& entry) {
            return entry.second->join_tag == tag && entry.second->over();
        });
    const auto number = static_cast<uint32_t>(tag);
    CollectiveGroup* group = find_group(kGroupAddress | tag >> 32);
    if (!group) return true;
    if (static_cast<int32_t>(number - group->next) >= 0) return false;
    CollectiveOperation* op = group->operations.front();
    while (op && op->number != number) op = group->operations.after(*op);
    return !op;
}

// What a message says of how its operation goes.
int Engine::error_of_part(const Receive& receive, const Message& message, int error) noexcept {
    const Peer& peer = *receive.source;
    if (message.has_data) {
        ODRC_WARN(FI_LOG_EP_DATA, "{}: a collective has failed at {}: {}", adapter_.port().name(),
                  peer.address.text(), fi_strerror(static_cast<int>(message.data)));
        return message.data > 0 && message.data < 4096 ? static_cast<int>(message.data) : FI_EIO;
    }
    if (message.length == receive.pieces.bytes) return error;
    ODRC_WARN(FI_LOG_EP_DATA, "{}: {} has {} bytes for a collective, and we have {}",
              adapter_.port().name(), peer.address.text(), message.length, receive.pieces.bytes);
    return FI_EIO;
}

void Engine::discard_parts(uint64_t tag, uint64_t ignore) noexcept {
    while (Arrived* arrived = parts_.take_arrived(tag, ignore)) discard(*arrived);
}

void Engine::part_received(Receive& receive, int error) noexcept {
    CollectiveOperation& op = *receive.part_of;
    op.posted = nullptr;
    posted_.destroy(&receive);
    part_over(op, error);
}

// A member is lost, and with it what it may have sent.
void Engine::fail_parts(const Peer& peer, int error) noexcept {
    while (Receive* receive = parts_.take_receive_from(peer)) part_received(*receive, error);
}

} // namespace odrc::transfer
