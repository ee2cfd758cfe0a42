// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/clock.hpp"
#include "base/spin_lock.hpp"
#include "softrc/async_event.hpp"
#include "softrc/completion_queue.hpp"
#include "softrc/process.hpp"
#include "softrc/receive_ring.hpp"
#include "softrc/target.hpp"

#include <cerrno>
#include <infiniband/verbs.h>
#include <list>
#include <optional>
#include <span>
#include <sys/uio.h>
#include <unordered_map>

namespace odrc::soft {

class PrivateCopy;
struct Change;

// Limits of the device, as ibv_query_device(3) tells them. Segments: as many as operations have
// pieces on any device, for those of this host may come here instead.
inline constexpr uint32_t kMaxSendSegments = 32;
inline constexpr uint32_t kMaxReceiveSegments = 32;
inline constexpr uint32_t kMaxInline = 4160; // a page, and what a protocol puts around it
inline constexpr uint32_t kMaxWorkRequests = 1 << 15;
inline constexpr uint32_t kMaxMessage = 1u << 31;
inline constexpr uint32_t kMaxDatagram = 4096; // the port's MTU
inline constexpr uint32_t kMaxReadAtomic = 16;
inline constexpr uint32_t kMaxCompletions = 1 << 20;

// A shared receive queue.
struct SharedReceiveQueue : ibv_srq {
    SharedReceiveQueue(Process& p, uint32_t pd_number, const ibv_srq_attr& attr) noexcept
        : ibv_srq{}
        , process{p}
        , queue{p.arena(), pd_number, attr.max_wr, attr.max_sge}
        , listed{process.shared_receive_queues().add(*this, index)} {}
    ~SharedReceiveQueue() {
        if (listed) process.shared_receive_queues().remove(index);
    }
    Process& process;
    ReceiveQueue queue;
    uint32_t index{0};
    bool listed;
    std::atomic<int> leaning{0}; // queue pairs that use it
};

// Where a datagram goes.
struct AddressHandle : ibv_ah {
    bool reachable; // on this node
};

// A queue pair: a reliable connection (RC) or unreliable datagrams (UD). A work request is carried
// out by the thread that posts it, there and then; what must wait for the peer (no receive posted,
// not yet connected) is kept, with all that follows it, and tried again later.
class QueuePair : public ibv_qp {
public:
    // events: where its asynchronous events go. Null and errno on failure.
    static QueuePair* create(Process& process, ibv_pd* pd, uint32_t pd_number,
                             const EventPipe& events, ibv_qp_init_attr* attr) noexcept;
    ~QueuePair();

    // As the verbs of these names.
    int modify(const ibv_qp_attr& attr, int mask) noexcept;
    void query(ibv_qp_attr& attr, ibv_qp_init_attr& init) const noexcept;
    int post_send(ibv_send_wr* wr, ibv_send_wr** bad_wr) noexcept;
    int post_receive(ibv_recv_wr* wr, ibv_recv_wr** bad_wr) noexcept;

    ReceiveQueue& receives() noexcept {
        return srq ? static_cast<SharedReceiveQueue*>(srq)->queue : *own_receives_;
    }

    // Where this process sees what it may write to at the peer; else null.
    const std::byte* peer_memory(uint64_t address, uint32_t rkey, size_t length) noexcept;
    // As verbs::DirectOps. Between the two the caller has the lock.
    std::byte* begin_write(uint64_t address, uint32_t rkey, uint32_t length) noexcept;
    void end_write() noexcept;
    // What is long is copied past the peer's caches this time.
    bool is_far() noexcept;

    // The completion of a send was polled: the send queue has room again up to this position.
    // Gives the work request's wr_id, if there is such a send.
    std::optional<uint64_t> sent(uint32_t position) noexcept;

    // Tries what waits. False when nothing waits any more.
    bool retry() noexcept;

    // The queue of its receives' completions was resized.
    void receive_queue_moved() noexcept { port_->completion_ring = receive_queue().offset(); }

    // Returns when the peer's sender is not inside an operation that it began before the call.
    void wait_for_sender() noexcept;

    // Clear up behind who sent here and died: a connected peer, or a visitor.
    void peer_died(const PeerProcess& peer) noexcept;
    void visitor_died(uint32_t number, uint32_t holds) noexcept;

    // A peer has put the queue pair into the error state.
    void broken() noexcept;

private:
    // The peer's side, looked up once when the connection is made.
    struct Link {
        std::shared_ptr<PeerProcess> process;
        QpPort* port{nullptr};
        uint64_t completion_ring{0}; // where it was seen last
        ReceiveRingView receives;
        CompletionRingView completions;
        Target target;
        bool recovered{false}; // the process has died, and what it held is taken back
        int error{0};          // why the process cannot be reached, though it is there
        explicit operator bool() const noexcept { return port != nullptr; }
        // Looks whether the completion queue was resized. False if it cannot be found.
        bool refresh() noexcept {
            const uint64_t now = port->completion_ring.load(std::memory_order_acquire);
            if (now == completion_ring) return true;
            completions = CompletionRingView{process->arena(), now};
            completion_ring = now;
            return static_cast<bool>(completions);
        }
    };

    // What has become of a work request.
    enum class Verdict { done, no_receive, no_peer, gone };
    struct Outcome {
        Verdict verdict;
        ibv_wc_status status;
    };

    // A work request that waits, with copies of all it points to.
    struct Waiting {
        ibv_send_wr wr;
        uint32_t position;
        Verdict why; // done: not tried yet
        std::vector<ibv_sge> segments;
        std::vector<std::byte> inline_data;
        Time deadline{};
    };

    QueuePair(Process& process, ibv_pd* pd, uint32_t pd_number,
              const ibv_qp_init_attr& attr) noexcept;
    bool allocate(const EventPipe& events) noexcept;
    CompletionQueue& send_queue() noexcept { return *static_cast<CompletionQueue*>(send_cq); }
    CompletionQueue& receive_queue() noexcept { return *static_cast<CompletionQueue*>(recv_cq); }

    bool datagram() const noexcept { return qp_type == IBV_QPT_UD; }
    AsyncEvent event(ibv_event_type type) const noexcept {
        return {EventSource::qp, index_, qp_num, type};
    }

    // states.cpp
    uint32_t posted() const noexcept { return posted_.load(std::memory_order_relaxed); }
    uint32_t state() const noexcept { return port_->state.load(std::memory_order_seq_cst); }
    void set_state(uint32_t state) noexcept;
    void take_attributes(const ibv_qp_attr& attr, int mask) noexcept;
    int to_rtr() noexcept; // an errno value, where the peer is there and cannot be reached
    void to_error() noexcept;
    void to_reset() noexcept;

    // Who we are to the peer, and who it is to us, once it is found.
    uint64_t name() const noexcept { return sender_name(qp_num, attr_.sq_psn); }
    void let_in_sender() noexcept {
        port_->sender = link_ ? sender_name(attr_.dest_qp_num, attr_.rq_psn) : 0;
    }

    // queue_pair.cpp: who is at the other end
    Link find_link(uint32_t qp_number, ibv_qp_type type) const noexcept;
    void await_sender() const noexcept;
    void recover_from_death() noexcept;
    void recover(uint32_t producer, uint32_t holds) noexcept;

    // send_queue.cpp: order
    // After so many more.
    bool has_room(uint32_t begun = 0) const noexcept {
        return posted() + begun - retired_.load(std::memory_order_acquire) < cap_.max_send_wr;
    }
    int accept(const ibv_send_wr& wr) noexcept;
    // The next work request is over, in its turn.
    void conclude(const ibv_send_wr& wr, ibv_wc_status status) noexcept {
        const uint32_t position = posted() + 1;
        posted_.store(position, std::memory_order_relaxed);
        if (status == IBV_WC_SUCCESS) [[likely]]
            complete(wr, position, IBV_WC_SUCCESS);
        else
            fail(wr, position, status);
    }
    int keep(const ibv_send_wr& wr, uint32_t position, Verdict why) noexcept;
    void complete(const ibv_send_wr& wr, uint32_t position, ibv_wc_status status) noexcept {
        if (status != IBV_WC_SUCCESS || signal_all_ || wr.send_flags & IBV_SEND_SIGNALED)
            push_completion(wr, position, status);
    }
    void push_completion(const ibv_send_wr& wr, uint32_t position, ibv_wc_status status) noexcept;
    void flush() noexcept;
    void fail(const ibv_send_wr& wr, uint32_t position, ibv_wc_status status) noexcept;
    bool goes_on() const noexcept;
    void resume() noexcept;
    void begin_drain() noexcept;
    void end_drain() noexcept;
    void drop_receives() noexcept;
    template <class F>
    void take_receives(F&& taken) noexcept;
    Time deadline_of(Verdict why) const noexcept;

    // Nothing is special about the moment: a work request may be carried out at once. If the peer
    // is ready, which is asked within Busy.
    bool is_at_ease() const noexcept {
        return link_ && waiting_.empty() && state() == IBV_QPS_RTS && !link_.process->dead();
    }
    bool peer_is_ready() const noexcept {
        const QpPort& there = *link_.port;
        return there.state.load(std::memory_order_seq_cst) == IBV_QPS_RTS &&
               there.qp_num == attr_.dest_qp_num && there.sender == name();
    }

    // express.cpp
    std::byte* find_target(uint64_t address, uint32_t rkey, uint32_t length) noexcept;
    [[gnu::noinline]] std::byte* find_new_target(uint64_t address, uint32_t rkey,
                                                 uint32_t length) noexcept;
    std::optional<ibv_wc_status> carry_out_at_once(const ibv_send_wr& wr) noexcept;
    int carry_out_now(const ibv_send_wr& wr) noexcept;

    // run.cpp
    bool join_run(const ibv_send_wr& wr, PrivateCopy& batch, uint64_t& done) noexcept;
    ibv_send_wr* carry_out_run(ibv_send_wr* first) noexcept;

    // operation.cpp: one work request
    struct Data { // local memory that one reads from or writes into
        std::span<const iovec> pieces;
        uint32_t length;
    };
    bool find_registered(const ibv_send_wr& wr, iovec* pieces) noexcept;
    Outcome carry_out(const ibv_send_wr& wr, uint32_t length) noexcept;
    Outcome carry_out_there(const ibv_send_wr& wr, const Data& data) noexcept;
    Outcome send(const ibv_send_wr& wr, const Data& data) noexcept;
    Outcome write(const ibv_send_wr& wr, const Data& data) noexcept;
    Outcome read(const ibv_send_wr& wr, const Data& data) noexcept;
    Outcome atomic(const ibv_send_wr& wr, const Data& data) noexcept;
    ibv_wc_status find_word(const ibv_send_wr& wr, Place& place) const noexcept;
    int send_at_once(const ibv_send_wr& wr) noexcept;   // see verbs::kDeliver
    int change_at_once(const ibv_send_wr& wr) noexcept; // likewise
    int change(const Change& change, const Place& place, uint64_t& found) noexcept;
    int change_private(const Change& change, const Place& place, uint64_t& found) noexcept;
    // Finds the peer's memory. Gives success if its queue pair and its region allow the access
    // (IBV_ACCESS_REMOTE_*).
    ibv_wc_status find_remote(uint64_t address, uint32_t rkey, uint32_t length, int access,
                              Place& place) const noexcept {
        if (!(link_.port->access.load(std::memory_order_relaxed) & static_cast<uint32_t>(access)))
            return IBV_WC_REM_INV_REQ_ERR;
        return find_place(link_.process->arena(), link_.process->own(), rkey, link_.port->pd,
                          address, length, access, place)
                   ? IBV_WC_SUCCESS
                   : IBV_WC_REM_ACCESS_ERR;
    }
    Outcome deliver(const ReceiveRingView::Claim& claim, const ibv_send_wr& wr, uint32_t length,
                    uint8_t opcode, ibv_wc_status status) noexcept;
    Outcome refuse(ibv_wc_status status) noexcept;
    static constexpr ibv_wc_status status_of(int copy_error) noexcept {
        return copy_error == ESRCH ? IBV_WC_RETRY_EXC_ERR : IBV_WC_REM_ACCESS_ERR;
    }

    // datagram.cpp: one datagram
    Outcome send_datagram(const ibv_send_wr& wr, const Data& data) noexcept;
    Link* meet(uint32_t number) noexcept;
    void deliver_datagram(const ibv_send_wr& wr, const Data& data, Link& to) noexcept;

    // delivery.cpp: what sends of both kinds do at the receiver
    ibv_wc_status scatter(const Link& to, const ReceiveRingView::Claim& claim,
                          std::span<const iovec> data, uint32_t length) noexcept;
    static bool push(const Link& to, const Completion& completion, uint32_t producer,
                     bool solicited) noexcept;
    static void put_in_error(const Link& to, ibv_event_type why) noexcept;

    Process& process_;
    const uint32_t pd_number_;
    const ibv_qp_cap cap_;
    const bool signal_all_;
    uint64_t port_offset_{0};
    QpPort* port_{nullptr};
    uint32_t index_{0};
    bool listed_{false};
    std::unique_ptr<ReceiveQueue> own_receives_;

    SpinLock lock_; // guards all below
    Link link_;
    ibv_qp_attr attr_{};    // as modify() was told
    bool reachable_{false}; // the destination is on this node
    uint32_t draining_{0};  // SQD: the position of the work request that is carried on, if any
    bool last_told_{false}; // that it takes no more receives
    std::unordered_map<uint32_t, Link> met_; // datagrams: whom they went to lately, by number
    std::atomic<uint32_t> posted_{0};        // work requests so far
    std::atomic<uint32_t> retired_{0};       // of those, the ones known to be done
    std::vector<uint64_t> send_ids_;         // wr_id by position, of those that have a completion
    std::list<Waiting> waiting_;
    bool stalled_{false}; // listed for retries
};

} // namespace odrc::soft
