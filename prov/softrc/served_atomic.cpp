// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/served_atomic.hpp"

#include "softrc/atomic_lock.hpp"
#include "softrc/await_peer.hpp"

#include <cerrno>

namespace odrc::soft {
namespace {

constexpr uint32_t kSpins = 100;           // in which who polls has long looked
constexpr uint32_t kSpinsOfAnother = 1000; // thread of ours, which is at it

bool is_over(const Asked& asked) noexcept {
    return (asked.what.load(std::memory_order_acquire) & (kAtomicAsked | kAtomicTaken)) == 0;
}

// False: it is as if it had not been asked for.
bool is_done(Process& process, PeerProcess& peer, Asked& asked, int& error) noexcept {
    for (uint32_t spins = 0; spins < kSpins; ++spins) {
        if (is_over(asked)) {
            peer.serving().was_in_time();
            error = asked.error;
            return true;
        }
        __builtin_ia32_pause();
    }
    peer.serving().was_late();
    if (asked.what.fetch_and(~kAtomicAsked, std::memory_order_acquire) & kAtomicAsked) return false;
    error = await_peer(process, peer, [&] { return is_over(asked); }) ? asked.error : ESRCH;
    return true;
}

// Nobody else does, and whoever asks no longer can take it back.
bool take(Asked& asked) noexcept {
    uint32_t what = asked.what.load(std::memory_order_relaxed);
    while (what & kAtomicAsked)
        if (asked.what.compare_exchange_weak(what, (what & ~kAtomicAsked) | kAtomicTaken,
                                             std::memory_order_acquire))
            return true;
    return false;
}

} // namespace

uint64_t change_own(Process& process, const Place& place, const Change& change) noexcept {
    const AtomicLock lock{process.node(), process.view().header(), place.address};
    const std::atomic_ref word{*reinterpret_cast<uint64_t*>(place.mapped)};
    const uint64_t found = word.load(std::memory_order_acquire);
    word.store(change.result(found), std::memory_order_release);
    return found;
}

std::optional<int> ask_for_atomic(Process& process, PeerProcess& peer, const Change& change,
                                  const Place& place, uint64_t& found) noexcept {
    Arena& arena = peer.arena().header();
    if (!peer.serving().is_worth_it()) return std::nullopt;
    uint64_t nobody = 0;
    if (!arena.atomic_sender.compare_exchange_strong(nobody, process.node().identity() | 1,
                                                     std::memory_order_acquire))
        return std::nullopt;
    Asked& asked = arena.asked;
    asked.compare = change.compares;
    asked.key = place.key;
    asked.pd = place.pd;
    asked.address = place.asked;
    asked.operand = change.operand;
    asked.compared = change.compared;
    asked.what.fetch_or(kAtomicAsked, std::memory_order_release);
    int error = 0;
    const bool done = is_done(process, peer, asked, error);
    if (error == ESRCH)
        return error; // and keeps the place: who is dead or as good as dead may be at it
    found = asked.found;
    arena.atomic_sender.store(0, std::memory_order_release);
    return done ? std::optional{error} : std::nullopt;
}

void serve_atomic(Process& process) noexcept {
    Asked& asked = process.view().header().asked;
    if (!take(asked)) return;
    Place place;
    asked.error = EFAULT;
    const uint64_t address = asked.address;
    if (address % sizeof(uint64_t) == 0 &&
        find_place(process.view(), true, asked.key, asked.pd, address, sizeof(uint64_t),
                   IBV_ACCESS_REMOTE_ATOMIC, place)) {
        asked.found = change_own(
            process, place,
            {.compares = asked.compare != 0, .operand = asked.operand, .compared = asked.compared});
        asked.error = 0;
        process.count_atomic();
    }
    asked.what.fetch_and(~kAtomicTaken, std::memory_order_release);
}

void forget_atomic(Process& process) noexcept {
    Arena& arena = process.view().header();
    uint64_t sender = arena.atomic_sender.load(std::memory_order_relaxed);
    if (sender == 0 || process.node().alive(sender)) return;
    arena.asked.what.fetch_and(~kAtomicAsked, std::memory_order_relaxed);
    uint32_t spins = 0;
    while (!is_over(arena.asked) && ++spins < kSpinsOfAnother) process.pause();
    if (is_over(arena.asked))
        arena.atomic_sender.compare_exchange_strong(sender, 0, std::memory_order_release);
}

} // namespace odrc::soft
