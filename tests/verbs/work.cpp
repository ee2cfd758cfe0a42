// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "work.hpp"

namespace rig {
namespace {

ibv_send_wr request(const Work& w) {
    ibv_send_wr wr{};
    wr.wr_id = w.id;
    wr.sg_list = const_cast<ibv_sge*>(w.segments.data());
    wr.num_sge = static_cast<int>(w.segments.size());
    wr.opcode = w.opcode;
    wr.send_flags = w.flags;
    wr.imm_data = w.imm;
    if (w.ah) {
        wr.wr.ud.ah = w.ah;
        wr.wr.ud.remote_qpn = w.qpn;
        wr.wr.ud.remote_qkey = w.qkey;
    } else if (w.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || w.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        wr.wr.atomic.remote_addr = w.remote;
        wr.wr.atomic.rkey = w.rkey;
        wr.wr.atomic.compare_add = w.compare_add;
        wr.wr.atomic.swap = w.swap;
    } else {
        wr.wr.rdma.remote_addr = w.remote;
        wr.wr.rdma.rkey = w.rkey;
    }
    return wr;
}

ibv_recv_wr request(const Receive& r) {
    ibv_recv_wr wr{};
    wr.wr_id = r.id;
    wr.sg_list = const_cast<ibv_sge*>(r.segments.data());
    wr.num_sge = static_cast<int>(r.segments.size());
    return wr;
}

int call(ibv_qp* qp, ibv_send_wr* first, ibv_send_wr** bad) {
    return ibv_post_send(qp, first, bad);
}
int call(ibv_qp* qp, ibv_recv_wr* first, ibv_recv_wr** bad) {
    return ibv_post_recv(qp, first, bad);
}
int call(ibv_srq* srq, ibv_recv_wr* first, ibv_recv_wr** bad) {
    return ibv_post_srq_recv(srq, first, bad);
}

template <class Queue, class Item>
Posted post_items(Queue* queue, const std::vector<Item>& items) {
    using Request = decltype(request(items.front()));
    std::vector<Request> requests;
    for (const Item& item : items) requests.push_back(request(item));
    for (size_t i = 1; i < requests.size(); ++i) requests[i - 1].next = &requests[i];
    Request* bad = nullptr;
    const int error = call(queue, requests.data(), &bad);
    return {error, error && bad ? bad - requests.data() : Posted::kNone};
}

} // namespace

Posted post_list(ibv_qp* qp, const std::vector<Work>& list) { return post_items(qp, list); }
Posted post_receive_list(ibv_qp* qp, const std::vector<Receive>& list) {
    return post_items(qp, list);
}
Posted post_receive_list(ibv_srq* srq, const std::vector<Receive>& list) {
    return post_items(srq, list);
}

} // namespace rig
