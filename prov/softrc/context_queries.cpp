// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What a program may ask of the device, and what the device tells unasked.

#include "softrc/context.hpp"
#include "softrc/queue_pair.hpp"

#include <cerrno>

namespace odrc::soft {

int SoftContext::query_port(uint8_t number, ibv_port_attr* attr) noexcept {
    if (number != port_.number) return EINVAL;
    *attr = port_.port_attr;
    return 0;
}

int SoftContext::resize_cq(ibv_cq* cq, int cqe) noexcept {
    if (cqe > static_cast<int>(kMaxCompletions)) return EINVAL;
    return static_cast<CompletionQueue*>(cq)->resize(cqe);
}

int SoftContext::query_srq(ibv_srq* srq, ibv_srq_attr* attr) noexcept {
    const ReceiveQueue& queue = static_cast<SharedReceiveQueue*>(srq)->queue;
    *attr = {
        .max_wr = queue.capacity(), .max_sge = queue.max_segments(), .srq_limit = queue.limit()};
    return 0;
}

int SoftContext::modify_srq(ibv_srq* srq, ibv_srq_attr* attr, int mask) noexcept {
    if (mask & ~IBV_SRQ_LIMIT) return EINVAL; // it keeps the size it was made with
    auto& shared = *static_cast<SharedReceiveQueue*>(srq);
    if (mask & IBV_SRQ_LIMIT) {
        if (attr->srq_limit > shared.queue.capacity()) return EINVAL;
        const AsyncEvent event{EventSource::srq, shared.index, 0, IBV_EVENT_SRQ_LIMIT_REACHED};
        shared.queue.arm_limit(attr->srq_limit, events_.name(), event.bits());
    }
    return 0;
}

int SoftContext::query_qp(ibv_qp* qp, ibv_qp_attr* attr, int, ibv_qp_init_attr* init) noexcept {
    static_cast<QueuePair*>(qp)->query(*attr, *init);
    return 0;
}

int SoftContext::get_async_event(ibv_async_event* out) noexcept {
    for (uint64_t bits; events_.read(bits);) {
        const auto event = AsyncEvent::from(bits);
        // Events of objects that have gone since are passed over.
        out->element.qp = nullptr;
        switch (event.source) {
        case EventSource::qp:
            // Another thread may be about to destroy it.
            process_->queue_pairs().with(event.index, [&](QueuePair& qp) {
                if (qp.qp_num == event.qp_num) out->element.qp = &qp;
            });
            if (!out->element.qp) continue;
            break;
        case EventSource::cq:
            out->element.cq = process_->completion_queues().find(event.index);
            if (!out->element.cq) continue;
            break;
        case EventSource::srq:
            out->element.srq = process_->shared_receive_queues().find(event.index);
            if (!out->element.srq) continue;
            break;
        default:
            continue;
        }
        out->event_type = static_cast<ibv_event_type>(event.type);
        return 0;
    }
    return -1;
}

void SoftContext::ack_async_event(ibv_async_event*) noexcept {
    // An event is a number in a pipe: an object may go away with events under way.
}

} // namespace odrc::soft
