// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "verbs_rc/memory_monitor.hpp"

#include "base/error.hpp"
#include "base/log.hpp"

#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

namespace odrc::verbs {
namespace {

std::atomic<unsigned> forks{0};         // between us and the first process
std::atomic<int> events_of_process{-1}; // the descriptor that a child must not keep

// A child that kept the descriptor would keep its parent waiting for someone to read it, after
// the parent has closed its own.
void after_fork() noexcept {
    forks.fetch_add(1, std::memory_order_relaxed);
    if (const int fd = events_of_process.exchange(-1); fd >= 0) ::close(fd);
}

// We never handle faults, so the kernel may keep to itself those of its own (USER_MODE_ONLY):
// then everybody may have the events.
Fd open_events() {
    Fd fd{static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY))};
    uffdio_api api{.api = UFFD_API,
                   .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_EVENT_UNMAP |
                               UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_REMOVE,
                   .ioctls = 0};
    if (!fd || ioctl(fd.get(), UFFDIO_API, &api)) throw Error{errno};
    return fd;
}

} // namespace

Range pages_of(const Range& bytes) noexcept {
    static const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    return {bytes.begin & ~(page - 1), (bytes.end + page - 1) & ~(page - 1)};
}

std::shared_ptr<MemoryMonitor> MemoryMonitor::of_process() noexcept {
    static std::mutex mutex;
    static std::weak_ptr<MemoryMonitor> current;
    static bool told = false;
    try {
        std::lock_guard lock{mutex};
        std::shared_ptr<MemoryMonitor> monitor = current.lock();
        if (monitor && !monitor->inherited()) return monitor;
        try {
            current = monitor = std::make_shared<MemoryMonitor>();
            return monitor;
        } catch (const Error& e) {
            if (!std::exchange(told, true))
                ODRC_INFO(FI_LOG_MR,
                          "no userfaultfd for the registration cache: {}; memory is registered "
                          "for every transfer",
                          e.what());
        }
    } catch (const std::exception& e) {
        ODRC_WARN(FI_LOG_MR, "no registration cache: {}", e.what());
    }
    return nullptr;
}

MemoryMonitor::MemoryMonitor()
    : born_{forks.load(std::memory_order_relaxed)}
    , events_{open_events()}
    , stop_{eventfd(0, EFD_CLOEXEC)} {
    if (!stop_) throw Error{errno};
    static const int at_fork = pthread_atfork(nullptr, nullptr, after_fork);
    if (at_fork) throw Error{at_fork};

    events_of_process.store(events_.get()); // from here on, the descriptor is the thread's

    // Signals belong to the application's threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        thread_ = std::thread{[this] { run(); }};
    } catch (const std::system_error&) {
        events_of_process.store(-1);
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw Error{FI_EAGAIN};
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_setname_np(thread_.native_handle(), "odrc-memory");
}

MemoryMonitor::~MemoryMonitor() {
    const uint64_t now = 1;
    [[maybe_unused]] const auto n = write(stop_.get(), &now, sizeof now);
    thread_.join();
}

void MemoryMonitor::add(Client& client) noexcept {
    std::lock_guard lock{mutex_};
    clients_.push_back(client);
}

void MemoryMonitor::remove(Client& client) noexcept {
    std::lock_guard lock{mutex_};
    List<Client>::erase(client);
}

bool MemoryMonitor::inherited() const noexcept {
    return born_ != forks.load(std::memory_order_relaxed);
}

bool MemoryMonitor::watch(const Range& range) const noexcept {
    // We write-protect nothing, so that watched memory never faults because of us.
    uffdio_register watched{.range = {.start = range.begin, .len = range.bytes()},
                            .mode = UFFDIO_REGISTER_MODE_WP,
                            .ioctls = 0};
    if (ioctl(events_.get(), UFFDIO_REGISTER, &watched)) return false;
    // Huge pages of a file system have no zero page. They may be a System V segment, and there is
    // no event when that is detached (shmdt(2)): not to be relied on.
    return watched.ioctls & uint64_t{1} << _UFFDIO_ZEROPAGE;
}

// Fills no page at all, which is refused; but before it looks at its arguments, the kernel refuses
// everything with EAGAIN while memory is going.
bool MemoryMonitor::settled() const noexcept {
    uffdio_zeropage nothing{};
    return ioctl(events_.get(), UFFDIO_ZEROPAGE, &nothing) == -1 && errno == EINVAL;
}

void MemoryMonitor::run() noexcept {
    pollfd fds[] = {{.fd = events_.get(), .events = POLLIN, .revents = 0},
                    {.fd = stop_.get(), .events = POLLIN, .revents = 0}};
    while (!(fds[1].revents & POLLIN)) {
        if (poll(fds, 2, -1) > 0 && fds[0].revents & POLLIN) read_events();
    }
    uint64_t asked; // read, so that all that was done before it was asked for is over
    [[maybe_unused]] const auto n = read(stop_.get(), &asked, sizeof asked);
    // Closed by this thread, whose own end frees memory: that waits for nobody's event any more.
    int ours = events_.get();
    events_of_process.compare_exchange_strong(ours, -1);
    events_ = Fd{};
}

void MemoryMonitor::read_events() noexcept {
    std::lock_guard lock{mutex_};
    for (Client* c = clients_.front(); c; c = clients_.after(*c)) c->enter_as_monitor();
    uffd_msg messages[16];
    const ssize_t bytes = ::read(events_.get(), messages, sizeof messages);
    for (ssize_t i = 0; i * ssize_t{sizeof *messages} < bytes; ++i) {
        const uffd_msg& m = messages[i];
        // Moved memory is gone from where it was.
        const Range gone = m.event == UFFD_EVENT_REMAP
                               ? Range{m.arg.remap.from, m.arg.remap.from + m.arg.remap.len}
                               : Range{m.arg.remove.start, m.arg.remove.end};
        for (Client* c = clients_.front(); c; c = clients_.after(*c)) c->on_gone(gone);
    }
    for (Client* c = clients_.front(); c; c = clients_.after(*c)) c->leave_as_monitor();
}

} // namespace odrc::verbs
