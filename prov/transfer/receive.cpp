// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The application's receives, from the call on: what becomes of them when a message meets them is
// in arrival.cpp.

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
    matcher.post(*receive);
    let_come_what_is_wanted();
    return 0;
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

} // namespace odrc::transfer
