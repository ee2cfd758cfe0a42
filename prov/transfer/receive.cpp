// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Messages and receives: what becomes of them when they meet.

#include "base/log.hpp"
#include "transfer/engine.hpp"

#include <cstring>
#include <rdma/fi_tagged.h>

namespace odrc::transfer {

// ---- from the application ---------------------------------------------------------------------

ssize_t Engine::receive(const ReceiveArguments& a) noexcept {
    if (a.iov.size() > segments_) return -FI_EINVAL;
    if (settings_.receive) {
        if (settings_.receive->full()) return -FI_EAGAIN;
    } else if (!settings_.tallies.received || a.flags & FI_PEEK) {
        return -FI_ENOCQ; // nobody would hear of it
    }
    if (a.flags & FI_MULTI_RECV &&
        (a.flags & (FI_TAGGED | FI_PEEK | FI_CLAIM) || a.iov.size() != 1))
        return -FI_EINVAL;
    if (a.flags & FI_CLAIM && !(a.flags & FI_PEEK)) return receive_claimed(a);
    Peer* source = nullptr;
    if (settings_.directed && a.from != FI_ADDR_UNSPEC) {
        source = peers_.find(a.from);
        if (!source) return -FI_EINVAL;
    }
    if (a.flags & FI_PEEK) return peek(a, source);
    if (a.flags & FI_MULTI_RECV) return receive_many(a, source);

    Matcher& matcher = inbox_.matcher(a.flags);
    Arrived* arrived = matcher.find_arrived(source, a.tag, a.ignore);
    if (!arrived && matcher.posted() >= settings_.receive_size) return -FI_EAGAIN;
    Receive* receive = make_receive(a, source);
    if (!receive) return -FI_EAGAIN;
    if (arrived) {
        matcher.take(*arrived);
        deliver(*receive, arrived->message);
        inbox_.release(*arrived);
        weigh();
        return 0;
    }
    if (matcher.post(*receive)) {
        let_come_what_is_wanted();
        return 0;
    }
    inbox_.destroy(*receive);
    return -FI_EAGAIN;
}

Receive* Engine::make_receive(const ReceiveArguments& a, Peer* source) noexcept {
    Receive* receive = inbox_.create();
    if (!receive) return nullptr;
    receive->source = source;
    receive->tag = a.tag;
    receive->ignore = a.ignore;
    receive->context = a.context;
    receive->kind = FI_RECV | (a.flags & (FI_MSG | FI_TAGGED));
    receive->wanted = (a.flags & FI_COMPLETION) != 0;
    receive->handed_over = adapter_.now();
    if (receive->pieces.assign(a.iov, longs_)) return receive;
    inbox_.destroy(*receive);
    return nullptr;
}

// Looks for a message without receiving it (fi_tagged(3), FI_PEEK). What was found may be kept
// for the caller (FI_CLAIM) or thrown away (FI_DISCARD).
ssize_t Engine::peek(const ReceiveArguments& a, const Peer* source) noexcept {
    progress(); // it may have arrived and not been looked at
    Matcher& matcher = inbox_.matcher(a.flags);
    const uint64_t kind = FI_RECV | (a.flags & (FI_MSG | FI_TAGGED));
    Arrived* arrived = matcher.find_arrived(source, a.tag, a.ignore);
    if (!arrived) {
        fi_cq_err_entry entry{};
        entry.op_context = a.context;
        entry.flags = kind;
        entry.tag = a.tag;
        entry.err = FI_ENOMSG;
        entry.prov_errno = FI_ENOMSG;
        settings_.receive->push_error(entry);
        if (room_.is(Room::State::none)) let_each_send_one();
        return 0;
    }
    const Message& m = arrived->message;
    settings_.receive->push({.context = a.context,
                             .flags = kind | (m.has_data() ? FI_REMOTE_CQ_DATA : 0),
                             .length = m.length,
                             .buffer = nullptr,
                             .data = m.data,
                             .tag = m.tag,
                             .source = source_of(m.peer)});
    if (a.flags & FI_CLAIM) {
        inbox_.set_aside(*arrived, a.context);
    } else if (a.flags & FI_DISCARD) {
        matcher.take(*arrived);
        discard(*arrived);
    }
    return 0;
}

ssize_t Engine::receive_claimed(const ReceiveArguments& a) noexcept {
    Arrived* arrived = inbox_.find_aside(a.context);
    if (!arrived) return -FI_EINVAL;
    Receive* receive = make_receive(a, nullptr);
    if (!receive) return -FI_EAGAIN;
    inbox_.take_aside(*arrived);
    if (a.flags & FI_DISCARD) {
        complete(*receive, arrived->message, 0, 0);
        discard(*arrived);
        return 0;
    }
    deliver(*receive, arrived->message);
    inbox_.release(*arrived);
    weigh();
    return 0;
}

ssize_t Engine::cancel(void* context) noexcept {
    Receive* receive = inbox_.take(context);
    if (!receive) return -FI_ENOENT;
    if (receive->many && receive->many->parts > 0) {
        receive->many->canceled = true;
        return 0; // after what is on its way into it
    }
    complete_canceled(*receive);
    return 0;
}

void Engine::complete_canceled(Receive& receive) noexcept {
    const Message none{.peer = nullptr,
                       .session = 0,
                       .flags = 0,
                       .announced = false,
                       .tag = receive.tag,
                       .data = 0,
                       .handle = 0,
                       .length = 0,
                       .payload = {}};
    complete(receive, none, 0, FI_ECANCELED);
}

void Engine::complete_badly(const Receive& receive, const Message& message, uint64_t flags,
                            size_t bytes, int error) noexcept {
    if (!settings_.receive) return;
    fi_cq_err_entry entry{};
    entry.op_context = receive.context;
    entry.flags = flags;
    entry.len = bytes;
    entry.buf = receive.pieces.first();
    entry.data = message.data;
    entry.tag = message.tag;
    entry.olen = error == FI_ETRUNC ? message.length - bytes : 0;
    entry.err = error;
    entry.prov_errno = error;
    settings_.receive->push_error(entry);
}

// ---- the end of a receive: what each message takes, in line -------------------------------------

[[gnu::always_inline]] inline void Engine::end(Receive& receive, const Message& message,
                                               size_t bytes, int error) noexcept {
    if (receive.kind == 0) [[unlikely]]
        return part_received(receive, message, error);
    const bool released = receive.many || receive.is_last_part();
    const uint64_t flags = receive.kind | (message.has_data() ? FI_REMOTE_CQ_DATA : 0) |
                           (released ? FI_MULTI_RECV : 0);
    count(settings_.tallies.received, error);
    if (error) [[unlikely]]
        complete_badly(receive, message, flags, bytes, error);
    else if (settings_.receive && (receive.wanted || released))
        settings_.receive->push({.context = receive.context,
                                 .flags = flags,
                                 .length = bytes,
                                 .buffer = receive.pieces.first(),
                                 .data = message.data,
                                 .tag = message.tag,
                                 .source = source_of(message.peer)});
    if (receive.whole) part_done(*receive.whole);
    inbox_.destroy(receive);
}

// The message is the receive's.
[[gnu::always_inline]] inline void Engine::take_in(Receive& receive,
                                                   const Message& message) noexcept {
    if (message.announced) return fetch(receive, message);
    const size_t bytes = receive.pieces.fill(message.payload);
    if (message.confirm()) send_finish(message, 0);
    end(receive, message, bytes, bytes < message.length ? FI_ETRUNC : 0);
}

// The same, for who is not in this file.
void Engine::complete(Receive& receive, const Message& message, size_t bytes, int error) noexcept {
    end(receive, message, bytes, error);
}
void Engine::deliver(Receive& receive, const Message& message) noexcept {
    take_in(receive, message);
}

// ---- from the peers -----------------------------------------------------------------------------

void Engine::on_message(const Message& message) noexcept {
    if (closing_) return;
    ++counters_.messages_received;
    counters_.bytes_received += message.length;
    if (message.collective()) [[unlikely]]
        return on_part(message);
    if (Receive* posted = inbox_.matcher(message).find_receive(message)) [[likely]] {
        Receive* receive = inbox_.claim(*posted, message);
        return receive ? take_in(*receive, message) : lose(message);
    }
    ++counters_.unexpected;
    if (!inbox_.keep(message)) return lose(message);
    weigh();
}

// Without memory to keep a message, the connection is given up, so that both sides know.
void Engine::lose(const Message& message) noexcept {
    ODRC_WARN(FI_LOG_EP_DATA, "{}: no memory for a message of {} bytes from {}",
              adapter_.port().name(), message.payload.size(), message.peer->address.text());
    wireup_.drop(*message.peer, FI_ENOMEM);
}

void Engine::discard(Arrived& arrived) noexcept {
    if (arrived.message.wants_finish()) send_finish(arrived.message, 0);
    inbox_.release(arrived);
    weigh();
}

} // namespace odrc::transfer
