// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/spin_lock.hpp"
#include "softrc/completion_ring.hpp"
#include "softrc/pipe.hpp"
#include "softrc/process.hpp"

#include <infiniband/verbs.h>

namespace odrc::soft {

// A completion channel: a pipe into which goes the number of the completion queue that has
// something.
struct CompletionChannel : ibv_comp_channel {
    static CompletionChannel* create(ibv_context* context) noexcept; // null and errno
    Pipe pipe;
    std::atomic<int> leaning{0}; // completion queues that use it
};

// A ring of this process's, from its owner's side.
class OwnCompletionRing {
public:
    // Check ok(): false when memory is out.
    OwnCompletionRing(Process& process, uint32_t entries) noexcept;
    ~OwnCompletionRing();
    OwnCompletionRing(const OwnCompletionRing&) = delete;
    OwnCompletionRing& operator=(const OwnCompletionRing&) = delete;

    bool ok() const noexcept { return static_cast<bool>(view_); }
    uint64_t offset() const noexcept { return offset_; }
    const CompletionRingView& view() const noexcept { return view_; }

    std::atomic<uint64_t> position{0}; // of the next entry to take

private:
    Process& process_;
    uint64_t offset_;
    size_t bytes_;
    CompletionRingView view_;
};

// A completion queue of this process. It has one ring, and one more for each time it was resized:
// producers that have not heard of the newest yet still fill the one before.
class CompletionQueue : public ibv_cq {
public:
    // Null and errno on failure.
    static CompletionQueue* create(Process& process, ibv_context* context, int cqe,
                                   void* cq_context, CompletionChannel* channel,
                                   const EventPipe& events) noexcept;
    ~CompletionQueue();

    // Of the newest ring.
    uint64_t offset() const noexcept { return newest().offset(); }

    // As ibv_resize_cq(3).
    int resize(int cqe) noexcept;

    int poll(int count, ibv_wc* wc) noexcept;
    void arm(bool solicited_only) noexcept;

    // A completion of this process's own making. Raises an event if one is wanted.
    void push(const Completion& completion, bool solicited) noexcept;

    // The queue pair goes away: its completions are dropped, its receives free again.
    void purge(QueuePair& qp) noexcept;

    // A producer that sent to the queue pair has died: entries it had begun are passed over.
    // Gives whether the completion of a receive it held still stands.
    bool recover(QueuePair& qp, uint32_t producer, uint32_t held_request) noexcept;

    std::atomic<int> leaning{0}; // queue pairs that use it

private:
    explicit CompletionQueue(Process& process) noexcept
        : ibv_cq{}
        , process_{process} {}
    const OwnCompletionRing& newest() const noexcept {
        return *newest_.load(std::memory_order_acquire);
    }
    // Without the lock: what is about to be taken by another thread may be seen as well.
    bool looks_empty() const noexcept {
        const OwnCompletionRing* only = only_.load(std::memory_order_acquire);
        return only && !only->view().full(only->position.load(std::memory_order_relaxed));
    }
    bool add_ring(int cqe, const EventPipe& events) noexcept;
    void look_for_dead_producers() noexcept;
    int poll_ring(OwnCompletionRing& ring, int count, ibv_wc* wc) noexcept;
    bool take(const CompletionEntry& entry, ibv_wc& wc) noexcept;
    template <class F>
    void each_full(F&& visit) noexcept;

    Process& process_;
    uint32_t index_{0};
    bool listed_{false};
    SpinLock lock_; // guards the rings' positions, and their list
    std::vector<std::unique_ptr<OwnCompletionRing>> rings_; // oldest first
    std::atomic<OwnCompletionRing*> newest_{nullptr};
    std::atomic<OwnCompletionRing*> only_{nullptr}; // null where there are several
    std::atomic<uint32_t> polls_{0};                // roughly, where threads come several at a time
};

} // namespace odrc::soft
