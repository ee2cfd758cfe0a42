// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// The operations of a connection, for test cases that hold for several of them.

#include "rig.hpp"

namespace rig {

template <ibv_wr_opcode Opcode, ibv_wc_opcode Completion, bool Receives, bool Immediate>
struct Operation {
    static constexpr ibv_wr_opcode opcode = Opcode;
    static constexpr ibv_wc_opcode completion = Completion;
    static constexpr bool receives = Receives; // takes a receive of the peer
    static constexpr bool immediate = Immediate;
    static constexpr bool atomic =
        Opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || Opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
    static constexpr bool fetches = Opcode == IBV_WR_RDMA_READ || atomic;
    static constexpr bool sends = Opcode == IBV_WR_SEND || Opcode == IBV_WR_SEND_WITH_IMM;
    static constexpr unsigned access = atomic    ? IBV_ACCESS_REMOTE_ATOMIC
                                       : fetches ? IBV_ACCESS_REMOTE_READ
                                                 : IBV_ACCESS_REMOTE_WRITE;
};

struct Send : Operation<IBV_WR_SEND, IBV_WC_SEND, true, false> {};
struct SendWithImm : Operation<IBV_WR_SEND_WITH_IMM, IBV_WC_SEND, true, true> {};
struct Write : Operation<IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE, false, false> {};
struct WriteWithImm : Operation<IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE, true, true> {};
struct Read : Operation<IBV_WR_RDMA_READ, IBV_WC_RDMA_READ, false, false> {};
struct FetchAdd : Operation<IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WC_FETCH_ADD, false, false> {};
struct CompareSwap : Operation<IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WC_COMP_SWAP, false, false> {};

inline constexpr uint64_t kSendId = 0xfeed000000000001;
inline constexpr uint64_t kReceiveId = 0xbeef000000000002;
inline constexpr uint32_t kImm = 0x01020304;

// The work request that moves bytes between these segments at a and an address at b.
template <class Op>
Work work(std::vector<ibv_sge> segments, const Region& remote, size_t offset = 0) {
    Work w{.id = kSendId, .opcode = Op::opcode, .segments = std::move(segments)};
    if (Op::immediate) w.imm = kImm;
    if (!Op::sends) {
        w.remote = remote.address(offset);
        w.rkey = remote.rkey();
    }
    return w;
}

// Posts the receive that the operation takes from the peer, if it takes one.
template <class Op>
void post_receive_for(ibv_qp* qp, std::vector<ibv_sge> segments) {
    if (!Op::receives) return;
    if (!Op::sends) segments.clear();
    REQUIRE(post_receive(qp, {.id = kReceiveId, .segments = std::move(segments)}) == 0);
}

template <class Op>
void check_sent(const ibv_wc& wc, const Qp& qp, size_t size) {
    CHECK(wc.status == IBV_WC_SUCCESS);
    CHECK(wc.wr_id == kSendId);
    CHECK(wc.opcode == Op::completion);
    CHECK(wc.qp_num == qp->qp_num);
    if (Op::fetches) CHECK(wc.byte_len == size);
}

template <class Op>
void check_received(const ibv_wc& wc, const Qp& qp, size_t size) {
    CHECK(wc.status == IBV_WC_SUCCESS);
    CHECK(wc.wr_id == kReceiveId);
    CHECK(wc.opcode == (Op::sends ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM));
    CHECK(wc.qp_num == qp->qp_num);
    CHECK(wc.byte_len == size);
    CHECK(bool(wc.wc_flags & IBV_WC_WITH_IMM) == Op::immediate);
    if (Op::immediate) CHECK(wc.imm_data == kImm);
}

// Moves the first bytes of one side's region to the other's, and checks all that can be seen.
template <class Op>
void move_bytes(Pair& p, size_t size) {
    Region& from = Op::fetches ? p.mb : p.ma;
    Region& into = Op::fetches ? p.ma : p.mb;
    from.fill(int(size));
    post_receive_for<Op>(p.qb.get(), {p.mb.segment(0, size)});
    REQUIRE(post(p.qa.get(), work<Op>({p.ma.segment(0, size)}, p.mb)) == 0);
    if (Op::receives) check_received<Op>(p.b.received(), p.qb, size);
    check_sent<Op>(p.a.sent(), p.qa, size);
    CHECK(std::equal(from.bytes.begin(), from.bytes.begin() + ptrdiff_t(size), into.bytes.begin()));
    CHECK(all_zero(into.bytes, size, into.bytes.size()));
    CHECK(p.a.quiet());
    CHECK(p.b.quiet());
}

} // namespace rig
