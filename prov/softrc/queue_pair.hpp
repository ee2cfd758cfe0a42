// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/clock.hpp"
#include "base/spin_lock.hpp"
#include "softrc/completion_queue.hpp"
#include "softrc/process.hpp"
#include "softrc/receive_ring.hpp"

#include <deque>
#include <infiniband/verbs.h>
#include <span>
#include <sys/uio.h>

namespace odrc::soft {

// Limits of the device, as ibv_query_device(3) tells them.
inline constexpr uint32_t kMaxSendSegments = 30;
inline constexpr uint32_t kMaxReceiveSegments = 30;
inline constexpr uint32_t kMaxInline = 2048;
inline constexpr uint32_t kMaxWorkRequests = 1 << 15;
inline constexpr uint32_t kMaxMessage = 1u << 31;
inline constexpr uint32_t kMaxCompletions = 1 << 20;

// A shared receive queue.
struct SharedReceiveQueue : ibv_srq {
    SharedReceiveQueue(Process& process, uint32_t pd, const ibv_srq_attr& attr) noexcept
        : ibv_srq{}
        , queue{process.arena(), pd, attr.max_wr, attr.max_sge} {}
    ReceiveQueue queue;
};

// A reliable connection. A work request is carried out by the thread that posts it, there and
// then; what must wait for the peer (no receive posted, not yet connected) is kept, with all that
// follows it, and tried again later.
class QueuePair : public ibv_qp {
public:
    // Null and errno on failure.
    static QueuePair* create(Process& process, ibv_pd* pd, uint32_t pd_number,
                             ibv_qp_init_attr* attr) noexcept;
    ~QueuePair();

    // As ibv_modify_qp(3) and ibv_post_send(3).
    int modify(const ibv_qp_attr& attr, int mask) noexcept;
    int post_send(ibv_send_wr* wr, ibv_send_wr** bad_wr) noexcept;
    int post_receive(ibv_recv_wr* wr, ibv_recv_wr** bad_wr) noexcept;

    ReceiveQueue& receives() noexcept {
        return srq ? static_cast<SharedReceiveQueue*>(srq)->queue : *own_receives_;
    }

    // The completion of a send was polled: the send queue has room again up to this position.
    void sent(uint32_t position) noexcept { retired_.store(position, std::memory_order_release); }

    // Tries what waits. False when nothing waits any more.
    bool retry() noexcept;

    // Returns when the peer's sender is not inside an operation that it began before the call.
    void wait_for_sender() noexcept;

    void peer_died(const PeerProcess& peer) noexcept;

private:
    // The peer's side, looked up once when the connection is made.
    struct Link {
        std::shared_ptr<PeerProcess> process;
        QpPort* port{nullptr};
        ReceiveRingView receives;
        CompletionRingView completions;
        explicit operator bool() const noexcept { return port != nullptr; }
    };

    // What has become of a work request.
    enum class Verdict { done, no_receive, no_peer };
    struct Outcome {
        Verdict verdict;
        ibv_wc_status status;
    };

    // A work request that waits, with copies of all it points to.
    struct Waiting {
        ibv_send_wr wr;
        uint32_t position;
        std::vector<ibv_sge> segments;
        std::vector<std::byte> inline_data;
        Time deadline{};
    };

    QueuePair(Process& process, ibv_pd* pd, uint32_t pd_number,
              const ibv_qp_init_attr& attr) noexcept;
    bool allocate() noexcept;
    CompletionQueue& send_queue() noexcept { return *static_cast<CompletionQueue*>(send_cq); }
    CompletionQueue& receive_queue() noexcept { return *static_cast<CompletionQueue*>(recv_cq); }

    // queue_pair.cpp: states
    uint32_t state() const noexcept { return port_->state.load(std::memory_order_seq_cst); }
    int to_init(const ibv_qp_attr& attr) noexcept;
    int to_rtr(const ibv_qp_attr& attr) noexcept;
    int to_rts(const ibv_qp_attr& attr) noexcept;
    void to_error() noexcept;
    void to_reset() noexcept;
    Link find_link(uint32_t qp_number) const noexcept;
    void await_sender() const noexcept;

    // send_queue.cpp: order
    int accept(const ibv_send_wr& wr) noexcept;
    int keep(const ibv_send_wr& wr, uint32_t position, Verdict why) noexcept;
    void complete(const ibv_send_wr& wr, uint32_t position, ibv_wc_status status) noexcept;
    void flush() noexcept;
    void fail(const ibv_send_wr& wr, uint32_t position, ibv_wc_status status) noexcept;
    Time deadline_of(Verdict why) const noexcept;

    // operation.cpp: one work request
    Outcome carry_out(const ibv_send_wr& wr) noexcept;
    Outcome carry_out_on_peer(const ibv_send_wr& wr) noexcept;
    Outcome send(const ibv_send_wr& wr, std::span<const iovec> data, uint32_t length) noexcept;
    Outcome write(const ibv_send_wr& wr, std::span<const iovec> data, uint32_t length) noexcept;
    Outcome read(const ibv_send_wr& wr, std::span<const iovec> data, uint32_t length) noexcept;
    ibv_wc_status scatter(const ReceiveRingView::Claim& claim, std::span<const iovec> data,
                          uint32_t length) noexcept;
    Outcome deliver(const ReceiveRingView::Claim& claim, const ibv_send_wr& wr, uint32_t length,
                    uint8_t opcode, ibv_wc_status status) noexcept;
    Outcome refuse(ibv_wc_status status) noexcept;

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
    uint32_t destination_{0};
    bool reachable_{false}; // the destination is on this node
    uint8_t timeout_{0}, retry_count_{0}, rnr_retry_{0};
    uint32_t posted_{0};               // work requests so far
    std::atomic<uint32_t> retired_{0}; // of those, the ones known to be done
    std::deque<Waiting> waiting_;
    bool stalled_{false}; // listed for retries
};

} // namespace odrc::soft
