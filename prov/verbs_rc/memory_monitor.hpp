// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/fd.hpp"
#include "base/list.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

namespace odrc::verbs {

// Addresses of this process, the end not among them.
struct Range {
    uintptr_t begin;
    uintptr_t end;

    size_t bytes() const noexcept { return end - begin; }
    bool covers(const Range& r) const noexcept { return begin <= r.begin && r.end <= end; }
    bool overlaps(const Range& r) const noexcept { return begin < r.end && r.begin < end; }
    // The least that covers both.
    Range with(const Range& r) const noexcept {
        return {std::min(begin, r.begin), std::max(end, r.end)};
    }
};

// The whole pages on which they lie.
Range pages_of(const Range& bytes) noexcept;

// Hears from the kernel (userfaultfd(2)) when memory of the process is unmapped, moved or given
// back, and says so to all who keep something about that memory. A piece of memory has one
// listener, so the process has one monitor.
//
// Whoever takes memory away stands still in the kernel until the event has been read. The monitor
// reads it while it is inside the gates of all its clients, and leaves them when the clients know:
// so whoever enters a gate after an munmap(2) has returned finds a client that knows.
//
// Another thread may be given the addresses before that munmap has returned, even before there is
// an event to read. Therefore settled(), asked inside the gate: the kernel counts who is about to
// take watched memory away from before the memory goes until after the event is read. Nobody under
// way: all events of memory that went before this moment have been read, and since the monitor
// reads inside our gate, heard of. (What is discarded, madvise(2), goes after its event. But the
// bytes of a transfer are not to be discarded while it lasts.)
//
// That is a system call, and nothing cheaper does: between the moment at which memory is gone, so
// that another thread may be given its addresses, and the event, the kernel writes nothing that a
// program could read. No flag or generation that the monitor keeps can be raised in time; with
// four threads that map and unmap on two processors, most finds were stale without the question.
// But one question answers for all memory that the application had handed over before it was asked
// (RegistrationCache::take): from then on the memory stays where it is.
//
// All this must not wait for itself. Any free(3) may unmap, and so may wait for the monitor;
// any malloc(3) may wait for a lock that is held over such a free. So neither the monitor's thread
// nor anybody inside a client's gate allocates or frees.
class MemoryMonitor {
public:
    // Gates are entered from the monitor's thread.
    class Client : public ListNode<> {
    public:
        virtual void enter_as_monitor() noexcept = 0;
        virtual void leave_as_monitor() noexcept = 0;
        // Inside: the memory that was there is gone.
        virtual void on_gone(const Range& range) noexcept = 0;

    protected:
        ~Client() = default;
    };

    // That of this process, which lives as long as somebody holds it. Null where the kernel does
    // not offer it, which is logged once.
    static std::shared_ptr<MemoryMonitor> of_process() noexcept;

    MemoryMonitor(); // Throws Error.
    ~MemoryMonitor();
    MemoryMonitor(const MemoryMonitor&) = delete;
    MemoryMonitor& operator=(const MemoryMonitor&) = delete;

    void add(Client& client) noexcept;
    void remove(Client& client) noexcept;

    // From now on the clients hear of these whole pages. False where the kernel cannot watch them.
    bool watch(const Range& range) const noexcept;

    // See above.
    bool settled() const noexcept;

    // We are the child of the process that this monitor watches over.
    bool inherited() const noexcept;

private:
    void run() noexcept;
    void read_events() noexcept;

    const unsigned born_;
    Fd events_;
    Fd stop_;
    std::mutex mutex_; // guards the clients; taken before their gates
    List<Client> clients_;
    std::thread thread_;
};

} // namespace odrc::verbs
