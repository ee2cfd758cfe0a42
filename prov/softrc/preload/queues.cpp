// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Completion channels, completion queues, shared receive queues, and events.

#include "softrc/preload/verbs.hpp"

using namespace odrc::soft;

ODRC_VERBS ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
    return SoftContext::of(context).create_comp_channel();
}

ODRC_VERBS int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
    return SoftContext::of(channel->context).destroy_comp_channel(channel);
}

ODRC_VERBS ibv_cq* ibv_create_cq(ibv_context* context, int cqe, void* cq_context,
                                 ibv_comp_channel* channel, int vector) {
    if (vector < 0 || vector >= context->num_comp_vectors) {
        errno = EINVAL;
        return nullptr;
    }
    return SoftContext::of(context).create_cq(cqe, cq_context, channel);
}

ODRC_VERBS int ibv_destroy_cq(ibv_cq* cq) { return SoftContext::of(cq->context).destroy_cq(cq); }

ODRC_VERBS int ibv_resize_cq(ibv_cq* cq, int cqe) {
    return SoftContext::of(cq->context).resize_cq(cq, cqe);
}

ODRC_VERBS int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
    return SoftContext::of(channel->context).get_cq_event(channel, cq, cq_context);
}

ODRC_VERBS void ibv_ack_cq_events(ibv_cq* cq, unsigned count) {
    SoftContext::of(cq->context).ack_cq_events(cq, count);
}

ODRC_VERBS ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* attr) {
    return SoftContext::of(pd->context).create_srq(pd, attr);
}

ODRC_VERBS int ibv_modify_srq(ibv_srq* srq, ibv_srq_attr* attr, int mask) {
    return SoftContext::of(srq->context).modify_srq(srq, attr, mask);
}

ODRC_VERBS int ibv_query_srq(ibv_srq* srq, ibv_srq_attr* attr) {
    return SoftContext::of(srq->context).query_srq(srq, attr);
}

ODRC_VERBS int ibv_destroy_srq(ibv_srq* srq) {
    return SoftContext::of(srq->context).destroy_srq(srq);
}

ODRC_VERBS int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
    return SoftContext::of(context).get_async_event(event);
}

ODRC_VERBS void ibv_ack_async_event(ibv_async_event* event) {
    // The event does not say whose it is: its object does. Those of the port have none.
    ibv_context* context = nullptr;
    switch (event->event_type) {
    case IBV_EVENT_CQ_ERR:
        context = event->element.cq->context;
        break;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
        context = event->element.srq->context;
        break;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
        context = event->element.qp->context;
        break;
    default:
        return;
    }
    SoftContext::of(context).ack_async_event(event);
}
