// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace odrc {

// Who may be inside an object: the application, or our own watchdog thread.
//
// Where the application promised to come with one thread at a time (FI_THREAD_DOMAIN), it passes
// with one store and one load: the watchdog, which comes rarely, pays for both sides by having
// the kernel run a barrier on the application's processors (membarrier(2)). Where the
// application asked for FI_THREAD_SAFE, everyone takes the mutex.
class Gate {
public:
    enum class Kind { one_thread, many_threads };
    explicit Gate(Kind kind) noexcept;
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;

    // The application's side.
    void enter() noexcept {
        if (locked_) {
            mutex_.lock();
            return;
        }
        inside_.store(1, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst); // the watchdog supplies the real one
        if (wanted_.load(std::memory_order_acquire)) [[unlikely]]
            stand_aside();
    }
    void leave() noexcept {
        if (locked_)
            mutex_.unlock();
        else
            inside_.store(0, std::memory_order_release);
    }

    // Everyone takes the mutex: also where one thread comes, but the kernel runs no barriers.
    bool is_mutex() const noexcept { return locked_; }

    // The watchdog's side.
    void enter_as_watchdog() noexcept;
    // False: the application is in a call that takes long.
    bool try_enter_as_watchdog() noexcept;
    void leave_as_watchdog() noexcept;

private:
    void stand_aside() noexcept;
    void keep_out() noexcept;
    bool is_left_soon() const noexcept;

    std::atomic<uint32_t> inside_{0};
    std::atomic<uint32_t> wanted_{0};
    const bool locked_;
    std::mutex mutex_;
};

// Holds a gate for a scope, if there is one.
class Entry {
public:
    explicit Entry(Gate* gate) noexcept
        : gate_{gate} {
        if (gate_) gate_->enter();
    }
    explicit Entry(Gate& gate) noexcept
        : Entry{&gate} {}
    ~Entry() {
        if (gate_) gate_->leave();
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

private:
    Gate* const gate_;
};

class WatchdogEntry {
public:
    explicit WatchdogEntry(Gate& gate) noexcept
        : gate_{gate} {
        gate_.enter_as_watchdog();
    }
    WatchdogEntry(Gate& gate, std::try_to_lock_t) noexcept
        : gate_{gate}
        , is_inside_{gate.try_enter_as_watchdog()} {}
    ~WatchdogEntry() {
        if (is_inside_) gate_.leave_as_watchdog();
    }
    WatchdogEntry(const WatchdogEntry&) = delete;
    WatchdogEntry& operator=(const WatchdogEntry&) = delete;
    bool is_inside() const noexcept { return is_inside_; }

private:
    Gate& gate_;
    const bool is_inside_{true};
};

} // namespace odrc
