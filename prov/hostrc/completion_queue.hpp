// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/buckets.hpp"
#include "base/pool.hpp"
#include "base/spin_lock.hpp"
#include "hostrc/completion_channel.hpp"
#include "hostrc/datagrams.hpp"
#include "hostrc/queue_pair.hpp"
#include "hostrc/unclaimed.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

namespace odrc::host {

class HostContext;

// A completion queue, and what makes something complete: the queue pair for datagrams of all
// connections that tell of their ends here, and their timers. Who polls it does the work. One lock
// guards all of it, the connections included.
class CompletionQueue : public ibv_cq {
public:
    // channel: null, where nobody sleeps. Throws Error.
    CompletionQueue(HostContext& context, int entries, void* cq_context,
                    CompletionChannel* channel);
    ~CompletionQueue();

    // As the verbs of these names.
    int poll(int count, ibv_wc* wc) noexcept;
    void arm() noexcept;

    // All its connections are of one protection domain, as the queue pair for their datagrams is.
    // Throws Error.
    void enter(QueuePair& qp, ibv_pd* pd);
    void leave(QueuePair& qp) noexcept;
    bool in_use() const noexcept { return connections_.count() > 0; }
    uint32_t number() const noexcept { return datagrams_.number(); }

    // First words have come that nobody has claimed since.
    std::atomic<bool>* called() noexcept { return &called_; }

    // Until the device has nothing more to do with the memory of what goes out.
    void wait_for_datagrams() noexcept;

    void count_in(PacketCounts& counts) noexcept {
        const std::lock_guard guard{lock_};
        datagrams_.count_in(counts);
    }

    // ---- for connections, which have the lock ----
    SpinLock& lock() noexcept { return lock_; }
    HostContext& context() noexcept { return context_; }
    Datagrams& datagrams() noexcept { return datagrams_; }
    WorkRequests& work_requests() noexcept { return work_requests_; }
    Pool<Activity>& activities() noexcept { return activities_; }
    PacketCounts& count() noexcept { return datagrams_.count(); }
    uint32_t& early_packets() noexcept { return early_packets_; } // that all of them keep
    void push(const ibv_wc& completion) noexcept;
    // It has something to send, or something of it may be over: it is looked at when the batch is
    // taken in.
    void stir(Activity& active) noexcept;
    // It owes an acknowledgement, and pays then.
    void owe(Activity& active, Ticks when) noexcept;
    // It has a timer that ends then.
    void time(Activity& active, Ticks when) noexcept;
    // It knows its other side now, which may have sent something already.
    void claim(QueuePair& qp) noexcept;

private:
    // Of so many that were made last the other side may not know the number yet.
    static constexpr size_t kLatest = 64;

    QueuePair* find(uint32_t number) noexcept;
    void progress() noexcept;
    void take(const Datagrams::Arrival& arrival) noexcept;
    QueuePair* find_caller(const Datagrams::Arrival& arrival) noexcept;
    void tend_stirred() noexcept;
    void pay(Ticks now) noexcept;
    void look_at_timers(Ticks now) noexcept;
    Ticks next_deadline(Ticks now) const noexcept;
    void wake_sleeper() noexcept;

    HostContext& context_;
    CompletionChannel* const channel_;
    SpinLock lock_;
    ibv_pd* const pd_;
    Datagrams datagrams_;
    WorkRequests work_requests_;
    Pool<Activity> activities_;
    Buckets<QueuePair, Named> connections_;
    Unclaimed unclaimed_;
    uint32_t early_packets_{0};
    std::atomic<bool> called_{false};
    std::array<uint32_t, kLatest> latest_{}; // numbers of connections that were made last
    size_t next_latest_{0};
    List<Activity, Stirred> stirred_;
    List<Activity, Owing> owing_; // by when they pay
    List<Activity, Timed> timed_;
    Ticks next_timer_{UINT64_MAX}; // none ends earlier
    Ticks woken_at_{0};            // somebody sleeps until then at the latest; 0: nobody sleeps
    std::vector<ibv_wc> ring_;
    size_t head_{0};
    size_t count_{0};
    bool overrun_{false};
};

inline CompletionQueue& QueuePair::cq() const noexcept {
    return static_cast<CompletionQueue&>(*send_cq);
}

} // namespace odrc::host
