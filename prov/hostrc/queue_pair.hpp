// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "hostrc/activity.hpp"
#include "hostrc/datagrams.hpp"
#include "hostrc/round_trip.hpp"
#include "hostrc/window.hpp"

#include <cstddef>
#include <memory>

namespace odrc::host {

class CompletionQueue;

// A shared receive queue.
struct SharedReceiveQueue : ibv_srq {
    explicit SharedReceiveQueue(uint32_t most)
        : ibv_srq{}
        , receives{most} {}
    Receives receives;
    int leaning{0}; // queue pairs that use it
};

// What of an ibv_qp anybody reads. The rest, a lock and whom it wakes, is for what ibv_create_qp(3)
// has made, and nobody else's: a connection has members of its own in that place.
struct VerbsQueuePair {
    ibv_context* context;
    void* qp_context;
    ibv_pd* pd;
    ibv_cq* send_cq;
    ibv_cq* recv_cq;
    ibv_srq* srq;
    uint32_t handle;
    uint32_t qp_num;
    ibv_qp_state state;
    ibv_qp_type qp_type;
};
static_assert(offsetof(VerbsQueuePair, context) == offsetof(ibv_qp, context) &&
              offsetof(VerbsQueuePair, qp_context) == offsetof(ibv_qp, qp_context) &&
              offsetof(VerbsQueuePair, pd) == offsetof(ibv_qp, pd) &&
              offsetof(VerbsQueuePair, send_cq) == offsetof(ibv_qp, send_cq) &&
              offsetof(VerbsQueuePair, recv_cq) == offsetof(ibv_qp, recv_cq) &&
              offsetof(VerbsQueuePair, srq) == offsetof(ibv_qp, srq) &&
              offsetof(VerbsQueuePair, handle) == offsetof(ibv_qp, handle) &&
              offsetof(VerbsQueuePair, qp_num) == offsetof(ibv_qp, qp_num) &&
              offsetof(VerbsQueuePair, state) == offsetof(ibv_qp, state) &&
              offsetof(VerbsQueuePair, qp_type) == offsetof(ibv_qp, qp_type) &&
              sizeof(VerbsQueuePair) <= offsetof(ibv_qp, mutex));

struct Named; // connections of a completion queue, by their numbers

// A reliable connection over datagrams. Each side has one numbered stream of packets: requester.cpp
// sends it, hearing.cpp learns what becomes of it, arrival.cpp takes in the other's, and
// responder.cpp does what that asks for.
class QueuePair : public VerbsQueuePair, public ListNode<Named> {
public:
    // Throws Error or std::bad_alloc.
    QueuePair(CompletionQueue& cq, ibv_pd* pd, uint32_t number, const ibv_qp_init_attr& attr);
    ~QueuePair();

    static QueuePair& of(ibv_qp* qp) noexcept {
        return static_cast<QueuePair&>(*reinterpret_cast<VerbsQueuePair*>(qp));
    }
    ibv_qp* verbs() noexcept {
        return reinterpret_cast<ibv_qp*>(static_cast<VerbsQueuePair*>(this));
    }

    // As the verbs of these names.
    int modify(const ibv_qp_attr& attr, int mask) noexcept;
    int post_send(ibv_send_wr* wr, ibv_send_wr** bad) noexcept;
    int post_receive(ibv_recv_wr* wr, ibv_recv_wr** bad) noexcept;

    // ---- for the completion queue, which has the lock ----
    // Who has our number has been told it, and tells its own.
    bool knows(const Datagrams::Arrival& arrival) const noexcept {
        return ah_ && arrival.from == peer_datagrams_ &&
               (arrival.packet.from == peer_number_ || peer_number_ == kNobody);
    }
    // By somebody who does not know our number.
    bool is_called_by(const Datagrams::Arrival& arrival) const noexcept {
        return alive() && arrival.from == peer_datagrams_ && arrival.packet.from == peer_number_;
    }
    void take(const Datagrams::Arrival& arrival) noexcept;
    // Sends what may go, and tells what is over. False: the device has no room, or has not let go
    // of something; again later.
    bool tend() noexcept;

    void acknowledge() noexcept; // at once
    void on_timer(Ticks now) noexcept;
    // Gives up what it has for what is under way, if nothing is.
    void rest() noexcept;

private:
    CompletionQueue& cq() const noexcept;
    Receives& receives() noexcept {
        return srq ? static_cast<SharedReceiveQueue*>(srq)->receives : *own_receives_;
    }
    bool alive() const noexcept { return state == IBV_QPS_RTR || state == IBV_QPS_RTS; }

    // queue_pair.cpp
    bool rouse() noexcept;
    int become_ready_to_receive(const ibv_qp_attr& attr) noexcept;
    int learn_number(const ibv_qp_attr& attr) noexcept;
    void fail() noexcept;

    // requester.cpp
    int accept(const ibv_send_wr& wr) noexcept;
    bool send_all() noexcept;
    WorkRequest* next_to_send() noexcept;
    bool start(WorkRequest& w) noexcept;
    bool may_use_memory(const WorkRequest& w) const noexcept;
    bool send_piece(WorkRequest& w) noexcept;
    Packet make_packet(PacketKind kind, uint32_t number, Ticks now) noexcept;
    bool complete() noexcept;
    void complete_one(WorkRequest& w) noexcept;
    void end(WorkRequest& w, ibv_wc_status status) noexcept;

    // hearing.cpp
    void hear(const Packet& packet) noexcept;
    void hear_of_arrival(uint32_t before, Stamp echo) noexcept;
    void hear_not_ready() noexcept;
    void hear_refusal(const Packet& packet) noexcept;
    void send_again() noexcept;
    void await_answer(Ticks from) noexcept;
    void give_up(WorkRequest* guilty, ibv_wc_status status) noexcept;

    // arrival.cpp
    void take_in(const Datagrams::Arrival& arrival) noexcept;
    void take_again(const Packet& packet) noexcept;
    void take_early(const Datagrams::Arrival& arrival) noexcept;
    bool take_next(const Datagrams::Arrival& arrival) noexcept;
    void tell_gap() noexcept;
    void owe(const Packet& packet, Ticks when) noexcept;
    void say(PacketKind kind, uint8_t flags) noexcept;

    // responder.cpp
    enum class Verdict : uint8_t { done, not_ready, refused };
    Verdict carry_out(const Datagrams::Arrival& arrival) noexcept;
    Verdict take_piece(const Datagrams::Arrival& arrival) noexcept;
    Verdict take_write(const Datagrams::Arrival& arrival) noexcept;
    Verdict take_read(const Packet& packet) noexcept;
    bool is_being_read(uint64_t address, uint64_t length) noexcept;
    Verdict take_atomic(const Datagrams::Arrival& arrival) noexcept;
    Verdict take_answer(const Datagrams::Arrival& arrival) noexcept;
    Verdict refuse(ibv_wc_status status) noexcept;
    Verdict claim_receive() noexcept;
    void complete_receive(const Packet& packet, ibv_wc_opcode opcode, uint32_t length) noexcept;
    void give_receive_back() noexcept;
    void queue_answer(WorkRequest& w) noexcept;

    std::unique_ptr<Receives> own_receives_; // null: they are those of a shared queue
    ibv_ah* ah_{nullptr};                    // of the other side; null: not known yet
    Activity* active_{nullptr};              // null: the connection is quiet
    uint32_t peer_datagrams_{0};
    uint32_t peer_number_{kNobody}; // until it is known
    OutWindow out_;
    InWindow in_;
    RoundTrip trip_;
    const uint32_t most_queued_;
    uint16_t most_data_{0}; // of a packet
    const uint8_t most_segments_;
    const bool signal_all_;
    uint8_t access_{0};     // that the other side has here, IBV_ACCESS_*
    uint8_t most_reads_{1}; // that it takes at a time
    uint8_t refusal_{IBV_WC_SUCCESS};
};

} // namespace odrc::host
