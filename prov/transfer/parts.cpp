// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Messages that are parts of something greater: sent and received like any, but by us, and
// matched among themselves.

#include "transfer/engine.hpp"
#include "transfer/multicast.hpp"
#include "transfer/part_sink.hpp"

namespace odrc::transfer {

// ---- out ----------------------------------------------------------------------------------------

int Engine::send_part(const PartArguments& a) noexcept {
    Peer* peer = peers_.find(a.peer);
    Send* send = peer ? make_part(*peer, a.tag, a.failure) : nullptr;
    if (!send) return FI_ENOMEM;
    send->context = a.context;
    send->again = a.failure != 0;
    send->length = length_of(a.iov);
    const int error = send->pieces.assign(a.iov, longs_) ? submit(*peer, *send) : FI_ENOMEM;
    if (error) release(*send);
    return error;
}

// Null when memory is out.
Send* Engine::make_part(Peer& peer, uint64_t tag, int failure) noexcept {
    Send* send = sends_.create(peer);
    if (!send) return nullptr;
    ++transmitting_;
    send->header.kind = wire::FrameKind::message;
    send->header.flags = wire::kCollective;
    if (failure) send->header.flags |= wire::kData;
    send->header.tag = tag;
    send->data = static_cast<uint64_t>(failure);
    return send;
}

void Engine::part_sent(Send& send, int error) noexcept {
    if (send.parcel) return packet_sent(send, error);
    // What went down with a connection may arrive over the next one, unless nobody is there.
    if (send.again && is_lost(error) && !closing_) send_once_more(send);
    void* const context = send.context;
    release(send);
    if (context) part_sink_->part_sent(context, error);
}

void Engine::send_once_more(const Send& lost) noexcept {
    Send* send = make_part(*lost.peer, lost.header.tag, static_cast<int>(lost.data));
    if (send && submit(*send->peer, *send)) release(*send);
}

// ---- in -----------------------------------------------------------------------------------------

int Engine::receive_part(const PartArguments& a) noexcept {
    Peer* peer = peers_.find(a.peer);
    Receive* receive = peer ? make_receive({.iov = a.iov,
                                            .from = a.peer,
                                            .tag = a.tag,
                                            .ignore = 0,
                                            .context = a.context,
                                            .flags = 0,
                                            .least = 0},
                                           peer)
                            : nullptr;
    if (!receive) return FI_ENOMEM;
    receive->kind = 0;
    if (Arrived* arrived = inbox_.parts().find_arrived(peer, a.tag, 0)) {
        inbox_.parts().take(*arrived);
        deliver(*receive, arrived->message);
        inbox_.release(*arrived);
        weigh();
        return 0;
    }
    inbox_.parts().post(*receive);
    let_come_what_is_wanted();
    look_after_peers();
    return 0;
}

bool Engine::withdraw_part(const void* context) noexcept {
    Receive* receive = inbox_.parts().take_receive(context);
    if (receive) inbox_.destroy(*receive);
    return receive != nullptr;
}

void Engine::discard_parts(uint64_t tag, uint64_t ignore) noexcept {
    while (Arrived* arrived = inbox_.parts().take_arrived(tag, ignore)) discard(*arrived);
}

void Engine::on_part(const Message& message) noexcept {
    if (Receive* receive = inbox_.parts().find_receive(message)) {
        inbox_.parts().take(*receive);
        return deliver(*receive, message);
    }
    if (part_sink_ && part_sink_->is_late(message.tag)) {
        if (message.wants_finish()) send_finish(message, 0);
        return;
    }
    if (!inbox_.keep(message)) return lose(message); // it is early
    weigh();
}

void Engine::part_received(Receive& receive, const Message& message, int error) noexcept {
    void* const context = receive.context;
    inbox_.destroy(receive);
    part_sink_->part_received(context, message, error);
}

// A peer is lost, and with it what it may have sent.
void Engine::lose_parts(const Peer& peer, int error) noexcept {
    if (multicast_) multicast_->lose(peer, error);
    while (Receive* receive = inbox_.parts().take_receive_from(peer)) {
        void* const context = receive->context;
        inbox_.destroy(*receive);
        part_sink_->part_lost(context, error);
    }
}

} // namespace odrc::transfer
