// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "hostrc/datagrams.hpp"
#include "hostrc/receives.hpp"
#include "hostrc/round_trip.hpp"
#include "hostrc/window.hpp"

#include <memory>

namespace odrc::host {

class CompletionQueue;

struct Stirred; // lists that a completion queue has of its connections
struct Owing;
struct Timed;

// A shared receive queue.
struct SharedReceiveQueue : ibv_srq {
    explicit SharedReceiveQueue(uint32_t most)
        : ibv_srq{}
        , receives{most} {}
    Receives receives;
    int leaning{0}; // queue pairs that use it
};

// A reliable connection over datagrams. Each side has one numbered stream of packets: requester.cpp
// sends it, hearing.cpp learns what becomes of it, responder.cpp takes in the other's and answers.
class QueuePair : public ibv_qp,
                  public ListNode<Stirred>,
                  public ListNode<Owing>,
                  public ListNode<Timed> {
public:
    // Throws Error or std::bad_alloc.
    QueuePair(CompletionQueue& cq, ibv_pd* pd, uint32_t number, const ibv_qp_init_attr& attr);
    ~QueuePair();

    // As the verbs of these names.
    int modify(const ibv_qp_attr& attr, int mask) noexcept;
    int post_send(ibv_send_wr* wr, ibv_send_wr** bad) noexcept;
    int post_receive(ibv_recv_wr* wr, ibv_recv_wr** bad) noexcept;

    // ---- for the completion queue, which has the lock ----
    bool knows(const Datagrams::Arrival& arrival) const noexcept {
        return ah_ && arrival.from == peer_datagrams_ && arrival.packet.from == peer_number_;
    }
    void take(const Datagrams::Arrival& arrival) noexcept;
    // Sends what may go, and tells what is over. False: the device has no room, or has not let go
    // of something; again later.
    bool tend() noexcept;

    void acknowledge() noexcept; // at once
    Ticks pays_at() const noexcept { return pays_at_; }

    void on_timer(Ticks now) noexcept;
    Ticks timer() const noexcept { return std::min(silence_at_, paused_until_); }

private:
    bool alive() const noexcept { return state == IBV_QPS_RTR || state == IBV_QPS_RTS; }

    // queue_pair.cpp
    int become_ready_to_receive(const ibv_qp_attr& attr) noexcept;
    void fail() noexcept;

    // requester.cpp
    int accept(const ibv_send_wr& wr) noexcept;
    bool send_all() noexcept;
    WorkRequest* next_to_send() noexcept;
    bool start(WorkRequest& w) noexcept;
    bool may_use_memory(const WorkRequest& w) const noexcept;
    bool send_piece(WorkRequest& w) noexcept;
    Packet make_packet(PacketKind kind, uint32_t number) noexcept;
    bool complete() noexcept;
    void complete_one(WorkRequest& w) noexcept;
    void end(WorkRequest& w, ibv_wc_status status) noexcept;

    // hearing.cpp
    void hear(const Packet& packet) noexcept;
    void hear_of_arrival(uint32_t before) noexcept;
    void hear_not_ready() noexcept;
    void hear_refusal(const Packet& packet) noexcept;
    void send_again(uint32_t packets) noexcept;
    void await_answer(Ticks from) noexcept;
    void give_up(WorkRequest* guilty, ibv_wc_status status) noexcept;

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
    void owe(Ticks when) noexcept;
    void say(PacketKind kind, uint8_t flags) noexcept;

    CompletionQueue& cq_;
    std::unique_ptr<Receives> own_receives_;
    Receives& receives_; // its own, or those of the shared queue
    const uint32_t most_queued_;
    const uint32_t most_segments_;
    const bool signal_all_;

    // the other side
    ibv_ah* ah_{nullptr}; // null: not known yet
    uint32_t peer_datagrams_{0};
    uint32_t peer_number_{0};
    uint32_t access_{0};     // that it has here, IBV_ACCESS_*
    uint32_t most_reads_{1}; // that it takes at a time

    // what goes out
    OutWindow out_;
    RoundTrip trip_;
    List<WorkRequest, InStream> stream_; // not acknowledged yet; those that have begun go first
    WorkRequest* cursor_{nullptr};       // of the stream; null: at its beginning
    List<WorkRequest, InQueue> queue_;   // the program's, in the order in which they complete
    List<WorkRequest, InQueue> spent_;   // answers that have come, and may be in a datagram yet
    uint32_t assigned_{0};               // number behind the last work request that has begun
    uint32_t queued_{0};
    uint32_t reads_{0};        // under way
    uint32_t open_answers_{0}; // of the stream
    uint32_t timed_number_{0}; // of the packet whose round trip is measured
    Ticks timed_at_{0};        // 0: of none
    Ticks silence_at_{UINT64_MAX};
    Ticks paused_until_{UINT64_MAX};
    bool tries_{false}; // whether there is a receive now: one packet at a time

    // what comes in
    InWindow in_;
    Ticks pays_at_{0}; // while it owes
    Receive receive_;
    bool receiving_{false};
    uint32_t received_{0}; // bytes of the message
    ibv_wc_status refusal_{IBV_WC_SUCCESS};
};

} // namespace odrc::host
