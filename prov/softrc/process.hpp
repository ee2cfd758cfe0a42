// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "softrc/agent.hpp"
#include "softrc/arena.hpp"
#include "softrc/async_event.hpp"
#include "softrc/left_processes.hpp"
#include "softrc/node.hpp"
#include "softrc/peer_process.hpp"
#include "softrc/regions.hpp"
#include "softrc/table.hpp"

#include <memory>

namespace odrc::soft {

class CompletionQueue;
class QueuePair;
struct SharedReceiveQueue;

inline constexpr uint32_t kMaxQueuePairs = 1 << 16; // of one process
inline constexpr uint32_t kMaxCompletionQueues = 1 << 14;
inline constexpr uint32_t kMaxSharedReceiveQueues = 1 << 14;

// The soft device's half of this process: one, however often the device is opened.
class Process {
public:
    // Opens it, or shares the one that is open. Throws Error.
    static std::shared_ptr<Process> open();
    // The one that is open, or null.
    static std::shared_ptr<Process> current() noexcept;
    Process();
    ~Process();

    OwnArena& arena() noexcept { return arena_; }
    ArenaView view() const noexcept { return own_->arena(); }
    NodeMember& node() noexcept { return node_; }
    Regions& regions() noexcept { return regions_; }
    Table<QueuePair>& queue_pairs() noexcept { return queue_pairs_; }
    Table<CompletionQueue>& completion_queues() noexcept { return completion_queues_; }
    Table<SharedReceiveQueue>& shared_receive_queues() noexcept { return shared_receive_queues_; }
    PeerProcess& own() noexcept { return *own_; }

    // The process in which a queue pair lives. Null and errno if it is gone (ESRCH), keeps us out,
    // or this process has no descriptor or address space left for it.
    std::shared_ptr<PeerProcess> peer(const QpPlace& place) noexcept;

    // Whether a path leads to this node: by its GID, or without one.
    bool reaches(const ibv_ah_attr& path) const noexcept;

    // For a moment of waiting for another process, which may be waiting for us.
    void pause() noexcept;

    // Ends a use of memory by senders: when it returns, no operation that began before is still
    // under way on memory of this process.
    void wait_for_senders() noexcept;
    void wait_for_visitors() noexcept; // of those, the ones that are not connected

    // Queue pairs whose first work request waits for its peer are tried again by whoever polls,
    // and by the agent when nobody does.
    void add_stalled(QueuePair& qp) noexcept;
    void remove_stalled(QueuePair& qp) noexcept;
    bool any_stalled() const noexcept { return stalled_count_.load(std::memory_order_relaxed) > 0; }
    // Some of them, in turns: who polls is not to pay for thousands of sleeping peers.
    void retry_stalled() noexcept;

    void count_rnr_nak() noexcept { rnr_naks_.fetch_add(1, std::memory_order_relaxed); }
    uint64_t rnr_naks() const noexcept { return rnr_naks_.load(std::memory_order_relaxed); }

    // Somebody waits for what a visitor has begun: has the agent look whether it died.
    void request_visitor_check() noexcept;

    // A sender needs what is quicker if we do it, or take part: who polls and has nothing else to
    // do does it (joint_copy.hpp, served_atomic.hpp).
    bool is_asked() const noexcept {
        return asked_->load(std::memory_order_relaxed) !=
               atomic_turn_.load(std::memory_order_relaxed);
    }
    // What dead senders asked for is over, and others have their places.
    void forget_dead_senders() noexcept;
    void answered_atomic(uint32_t turn) noexcept {
        atomic_turn_.store(turn, std::memory_order_relaxed);
    }
    void count_joined() noexcept { joined_.fetch_add(1, std::memory_order_relaxed); }
    uint64_t joined() const noexcept { return joined_.load(std::memory_order_relaxed); } // pieces
    void count_atomic() noexcept { atomics_.fetch_add(1, std::memory_order_relaxed); }
    uint64_t atomics() const noexcept { return atomics_.load(std::memory_order_relaxed); }

    // ---- for the agent ----
    // A peer's pidfd became readable.
    void peer_died(int pidfd) noexcept;
    // A peer says that it has put a queue pair into the error state.
    void queue_pair_broken(const AsyncEvent& event) noexcept;
    void check_visitors() noexcept;

private:
    // A process that is reached, by its slot and generation.
    using PeerKey = uint64_t;
    std::shared_ptr<PeerProcess> reach(PeerKey key, std::unique_ptr<PeerProcess> peer);
    void tell_unreachable(pid_t pid, int error);

    const pid_t pid_;
    OwnArena arena_;
    std::shared_ptr<PeerProcess> own_;
    NodeMember node_;
    Regions regions_;
    Table<QueuePair> queue_pairs_;
    Table<CompletionQueue> completion_queues_;
    Table<SharedReceiveQueue> shared_receive_queues_;

    std::mutex peers_mutex_;
    bool told_unreachable_{false}; // once is enough: each try to connect finds the same reason
    std::map<PeerKey, std::weak_ptr<PeerProcess>> peers_;
    LeftProcesses left_;

    std::mutex stalled_mutex_;
    std::vector<QueuePair*> stalled_;
    size_t next_stalled_{0}; // of those, to be tried
    std::atomic<uint32_t> stalled_count_{0};
    std::atomic<uint32_t> atomic_turn_{0};     // that of the arena's answer
    const std::atomic<uint32_t>* const asked_; // of our arena: beside what else each poll looks at
    std::atomic<uint64_t> rnr_naks_{0};
    std::atomic<uint64_t> joined_{0};
    std::atomic<uint64_t> atomics_{0};

    Agent agent_; // last: its thread uses all of the above
};

} // namespace odrc::soft
