// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/process.hpp"

#include "base/host.hpp"
#include "base/log.hpp"
#include "softrc/errand.hpp"
#include "softrc/joint_copy.hpp"
#include "softrc/queue_pair.hpp"
#include "softrc/served_atomic.hpp"
#include "softrc/visit.hpp"

#include <algorithm>
#include <cerrno>
#include <sched.h>

namespace odrc::soft {

namespace {

// How many stalled queue pairs are tried at a time.
constexpr size_t kRetriesAtATime = 16;

std::mutex open_mutex;
std::weak_ptr<Process> open_process;

bool is_short_of_room(int error) noexcept {
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

} // namespace

std::shared_ptr<Process> Process::open() {
    std::lock_guard lock{open_mutex};
    auto process = open_process.lock();
    // After a fork the child has a copy of its parent's object, which is of no use to it: it is
    // left alone, and the child has one of its own.
    if (!process || process->pid_ != getpid()) {
        process = std::make_shared<Process>();
        open_process = process;
    }
    return process;
}

std::shared_ptr<Process> Process::current() noexcept {
    std::lock_guard lock{open_mutex};
    auto process = open_process.lock();
    return process && process->pid_ == getpid() ? process : nullptr;
}

Process::Process()
    : pid_{getpid()}
    , own_{std::make_shared<PeerProcess>(arena_.view())}
    , node_{arena_.fd()}
    , regions_{arena_}
    , queue_pairs_{kMaxQueuePairs}
    , completion_queues_{kMaxCompletionQueues}
    , shared_receive_queues_{kMaxSharedReceiveQueues}
    , asked_{&own_->arena().header().asked.what}
    , agent_{*this} {}

Process::~Process() = default;

std::shared_ptr<PeerProcess> Process::peer(const QpPlace& place) noexcept {
    if (place.slot == node_.slot() && place.generation == node_.generation()) return own_;
    try {
        std::lock_guard lock{peers_mutex_};
        const PeerKey key = PeerKey{place.slot} << 32 | place.generation;
        if (auto peer = peers_[key].lock()) return peer;
        if (auto left = left_.take(key); left && !left->check_dead())
            return reach(key, std::move(left));
        const auto process = node_.find_process(place.slot, place.generation);
        if (!process) {
            errno = ESRCH;
            return nullptr;
        }
        const auto open = [&] {
            return std::make_unique<PeerProcess>(process->pid, process->arena_fd);
        };
        auto peer = open();
        if (!peer->ok() && is_short_of_room(errno) && left_.drop()) {
            peer.reset(); // which may have got the first of two descriptors
            peer = open();
        }
        if (!peer->ok()) {
            const int error = errno == ENOENT ? ESRCH : errno; // nothing of it is left in proc(5)
            if (error != ESRCH) tell_unreachable(process->pid, error);
            errno = error;
            return nullptr;
        }
        agent_.watch(peer->pidfd());
        return reach(key, std::move(peer));
    } catch (const std::bad_alloc&) {
        errno = ENOMEM;
        return nullptr;
    }
}

std::shared_ptr<PeerProcess> Process::reach(PeerKey key, std::unique_ptr<PeerProcess> peer) {
    std::erase_if(peers_, [](const auto& known) { return known.second.expired(); });
    const std::shared_ptr<PeerProcess> reached{peer.release(), [this, key](PeerProcess* p) {
                                                   left_.keep(key, std::unique_ptr<PeerProcess>{p});
                                               }};
    peers_[key] = reached;
    return reached;
}

void Process::tell_unreachable(pid_t pid, int error) {
    if (std::exchange(told_unreachable_, true)) return;
    ODRC_WARN(FI_LOG_EP_CTRL, "soft0: process {} cannot be reached: {}{}", pid, fi_strerror(error),
              limit_behind(error));
}

bool Process::reaches(const ibv_ah_attr& path) const noexcept {
    return !path.is_global || std::ranges::equal(node_.id(), path.grh.dgid.raw);
}

void Process::pause() noexcept {
    serve_errands(view());
    sched_yield();
}

void Process::wait_for_senders() noexcept {
    queue_pairs_.for_each([](QueuePair& qp) { qp.wait_for_sender(); });
    wait_for_visitors();
}

void Process::wait_for_visitors() noexcept {
    soft::wait_for_visitors(arena_.header(), [this](uint32_t spins) {
        constexpr uint32_t kSpinsPerLook = 1000;
        if (spins % kSpinsPerLook == 0) request_visitor_check();
        pause();
    });
}

void Process::check_visitors() noexcept {
    clear_visitors(node_, arena_.header(), [this](Visitor& place, uint32_t number) {
        const uint32_t visited = place.qpn.load(std::memory_order_acquire);
        const uint32_t holds = place.holds.load(std::memory_order_acquire);
        queue_pairs_.for_each([&](QueuePair& qp) {
            if (qp.qp_num == visited) qp.visitor_died(number, holds);
        });
    });
}

void Process::request_visitor_check() noexcept { agent_.wake(Agent::Task::visitors); }

void Process::queue_pair_broken(const AsyncEvent& event) noexcept {
    queue_pairs_.with(event.index, [&](QueuePair& qp) {
        if (qp.qp_num == event.qp_num) qp.broken();
    });
}

void Process::add_stalled(QueuePair& qp) noexcept {
    {
        std::lock_guard lock{stalled_mutex_};
        try {
            stalled_.push_back(&qp);
        } catch (const std::bad_alloc&) {
            return; // its owner's next post tries again
        }
        stalled_count_.store(static_cast<uint32_t>(stalled_.size()), std::memory_order_relaxed);
    }
    agent_.wake(Agent::Task::stalled);
}

void Process::remove_stalled(QueuePair& qp) noexcept {
    std::lock_guard lock{stalled_mutex_};
    std::erase(stalled_, &qp);
    stalled_count_.store(static_cast<uint32_t>(stalled_.size()), std::memory_order_relaxed);
}

void Process::retry_stalled() noexcept {
    std::unique_lock lock{stalled_mutex_, std::try_to_lock};
    if (!lock) return; // somebody else is at it
    for (size_t left = std::min(stalled_.size(), kRetriesAtATime); left > 0; --left) {
        if (next_stalled_ >= stalled_.size()) next_stalled_ = 0;
        if (stalled_[next_stalled_]->retry()) {
            ++next_stalled_;
        } else {
            stalled_[next_stalled_] = stalled_.back();
            stalled_.pop_back();
        }
    }
    stalled_count_.store(static_cast<uint32_t>(stalled_.size()), std::memory_order_relaxed);
}

void Process::peer_died(int pidfd) noexcept {
    left_.take_by_pidfd(pidfd);
    std::shared_ptr<PeerProcess> dead;
    {
        std::lock_guard lock{peers_mutex_};
        for (auto& [key, known] : peers_)
            if (auto peer = known.lock(); peer && peer->pidfd() == pidfd) dead = peer;
    }
    if (!dead || !dead->check_dead()) return;
    queue_pairs_.for_each([&](QueuePair& qp) { qp.peer_died(*dead); });
}

void Process::forget_dead_senders() noexcept {
    forget_joint_copies(*this);
    forget_atomic(*this);
}

} // namespace odrc::soft
