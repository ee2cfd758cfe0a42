// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/bell.hpp"
#include "base/spin_lock.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <rdma/fi_eq.h>
#include <vector>

namespace odrc::transfer {

// How an operation of the application ended, whichever format its completion queue has.
struct Completion {
    void* context;
    uint64_t flags; // FI_SEND, FI_RECV, FI_MSG, FI_TAGGED, FI_REMOTE_CQ_DATA ...
    size_t length;
    void* buffer;
    uint64_t data;
    uint64_t tag;
    fi_addr_t source;
};

// Where completions go: the ring behind a fi_cq. Where threads come one at a time, all calls are
// made inside the domain's gate, and nothing is locked here. Keeps all it is given: past the size
// that the application asked for it is over-full, and endpoints take no new operations
// (FI_RM_ENABLED).
class CompletionSink {
public:
    // Throws Error or std::bad_alloc. waitable: somebody may sleep until there is a completion.
    CompletionSink(size_t size, bool many_threads, bool waitable);

    // Without memory to keep a completion, it is counted as lost and reported as an overrun.
    [[gnu::always_inline]] void push(const Completion& completion) noexcept {
        const std::lock_guard guard{lock_};
        put(completion, false);
    }
    void push_error(const fi_cq_err_entry& error) noexcept;

    // Both look at what others may be about to change: what is seen there is there when it is
    // taken.
    bool full() const noexcept { return count() >= size_; }
    // That many, or fewer and an error among them.
    bool holds(size_t wanted) const noexcept {
        return count() >= wanted || has_errors_.load(std::memory_order_relaxed);
    }

    enum class Next { none, completion, error };
    Next next() const noexcept;

    // Gives up to count completions to f(completion), stopping before an error.
    template <class F>
    [[gnu::always_inline]] size_t take(size_t count, F&& f) noexcept {
        const std::lock_guard guard{lock_};
        const size_t there = std::min(count, this->count());
        size_t n = 0;
        for (; n < there; ++n) {
            const Slot& slot = ring_[(head_ + n) & last_];
            if (slot.is_error) break;
            f(slot.completion);
        }
        drop(n);
        return n;
    }
    // False unless an error is next.
    bool take_error(fi_cq_err_entry& error) noexcept;

    // Readable when a completion came after arm(), or after signal(); -1 where nobody may sleep.
    int fd() const noexcept { return bell_.fd(); }
    void arm() noexcept;
    void signal() noexcept;

private:
    struct Slot {
        Completion completion;
        bool is_error; // the error itself is the first of errors_
    };

    size_t count() const noexcept { return count_.load(std::memory_order_relaxed); }
    // The place behind all that is there.
    Slot& end() noexcept { return ring_[(head_ + count()) & last_]; }
    [[gnu::always_inline]] void put(const Completion& completion, bool is_error) noexcept {
        if (count() > last_ && !make_room(is_error)) [[unlikely]]
            return;
        Slot& slot = end();
        slot.completion = completion;
        slot.is_error = is_error;
        count_.store(count() + 1, std::memory_order_relaxed);
        bell_.ring();
    }
    bool make_room(bool for_error) noexcept;
    // An empty ring begins anew: what is taken as it comes stays in few lines of the cache.
    void drop(size_t first) noexcept {
        const size_t left = count() - first;
        head_ = left == 0 ? 0 : (head_ + first) & last_;
        count_.store(left, std::memory_order_relaxed);
    }
    void look_for_errors() noexcept {
        has_errors_.store(overrun_ || !errors_.empty(), std::memory_order_relaxed);
    }

    mutable OptionalLock lock_;
    const size_t size_;
    std::vector<Slot> ring_;        // a power of two
    size_t last_{ring_.size() - 1}; // of its places, at hand for every completion
    size_t head_{0};
    std::atomic<size_t> count_{0};
    std::atomic<bool> has_errors_{false};
    std::deque<fi_cq_err_entry> errors_;
    bool overrun_{false};
    Bell bell_;
};

} // namespace odrc::transfer
