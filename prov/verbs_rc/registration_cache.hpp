// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/gate.hpp"
#include "base/watchdog.hpp"
#include "verbs_rc/memory_monitor.hpp"
#include "verbs_rc/objects.hpp"

#include <vector>

namespace odrc::verbs {

// Memory that a cache has registered. Its fields are guarded by the cache's gate.
struct CachedRegion : ListNode<> {
    Range memory{}; // all of it, from the first piece to the last if it was registered for several
    int access{0};
    Mr mr; // null while it is being registered
    uint32_t users{0};
    bool findable{true};
};

// Registrations of the application's memory that outlive their transfers, so that the next
// transfer from there finds one. Those that can be found do not overlap. What is not in use stays
// until there is no room for it, longest unused first, or until its memory goes. Memory that goes
// under a transfer is not found again, and is deregistered when the transfer is over; what nobody
// uses, by the watchdog, since the monitor must not.
//
// A find can be trusted once the monitor has been asked, after the application handed the memory
// over, whether all is settled: that is a system call. Memory that was handed over before another
// transfer asked is found without one, in nanoseconds: most receives are, which are posted before
// their messages come, and all pieces of a list but the first.
//
// What is registered for several pieces is found by them alone, and not by what lies between them.
// The application has not handed that over: it may not have been there when it was to be watched,
// but when it was registered, and its end would never be heard of.
//
// Inside the gate nothing is allocated or freed, nor anything registered (memory_monitor.hpp).
class RegistrationCache final : MemoryMonitor::Client, Watchdog::Client {
public:
    struct Limits {
        size_t count; // of registrations; one for several pieces counts as many
        size_t bytes;
    };
    struct GiveBack {
        RegistrationCache* cache;
        void operator()(CachedRegion* region) const noexcept { cache->give_back(*region); }
    };
    using Use = std::unique_ptr<CachedRegion, GiveBack>;

    // kind: how the threads come that take and give back. Throws Error.
    RegistrationCache(Context& context, ibv_pd* pd, Gate::Kind kind, const Limits& limits,
                      std::shared_ptr<MemoryMonitor> monitor, Watchdog& watchdog);
    ~RegistrationCache();

    // Counts how often the monitor was asked.
    using Moment = uint64_t;
    Moment now() const noexcept { return asked_.load(std::memory_order_acquire); }

    // Null where this memory cannot be had through the cache at this moment. Else fresh says
    // whether it had to be registered. handed_over: when the application had done that, and from
    // when on it keeps the memory where it is.
    Use take(void* address, size_t length, int access, Moment handed_over, bool& fresh) noexcept;
    // Null where it would have to be registered, too.
    Use find(const Range& memory, int access, Moment handed_over) noexcept;
    // Registers several pieces as one, with what lies between them. They come in the order of their
    // addresses and apart from each other. May widen them.
    Use take_together(std::span<Range> pieces, int access, Moment handed_over) noexcept;

    // Deregisters all that is not in use. False if that was nothing.
    bool give_up_idle() noexcept;

private:
    void enter_as_monitor() noexcept override { gate_.enter_as_watchdog(); }
    void leave_as_monitor() noexcept override { gate_.leave_as_watchdog(); }
    void on_gone(const Range& range) noexcept override;
    Time serve() noexcept override;

    // Where a region is found.
    struct Place {
        Range memory{};
        CachedRegion* region{nullptr};
    };

    bool settled_since(Moment moment) noexcept;
    CachedRegion* look_up(const Range& wanted, int access) noexcept;
    CachedRegion* use(CachedRegion& region) noexcept;
    Use register_anew(std::span<Range> pieces, int access) noexcept;
    bool place(CachedRegion& region, std::span<Range> pieces) noexcept;
    bool make_room(size_t bytes, size_t pieces) noexcept;
    size_t first_ending_after(uintptr_t address) const noexcept;
    std::span<const Place> places_in(const Range& range) const noexcept;
    void hide_all_in(const Range& range) noexcept;
    void hide(CachedRegion& region) noexcept;
    void give_back(CachedRegion& region) noexcept;
    template <class Inside = Entry>
    void deregister_dead() noexcept;

    Context& context_;
    ibv_pd* const pd_;
    const Limits limits_;
    const std::shared_ptr<MemoryMonitor> monitor_;
    Watchdog& watchdog_;
    const Fd died_;                // an eventfd: there is something for the watchdog to deregister
    std::atomic<Moment> asked_{0}; // changes inside the gate

    Gate gate_;                 // guards what follows
    Moment settled_{0};         // the last asking that found all settled
    std::vector<Place> places_; // by address; never grows beyond its capacity
    Place last_;                // the last that was found, if it still can be
    List<CachedRegion> idle_;   // can be found and have no user; longest unused first
    List<CachedRegion> dead_;   // can no longer be found and have no user
    size_t bytes_{0};           // of all that can be found
};

} // namespace odrc::verbs
