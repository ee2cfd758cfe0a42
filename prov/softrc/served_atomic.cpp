// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/served_atomic.hpp"

#include "softrc/atomic_lock.hpp"
#include "softrc/await_peer.hpp"

#include <cerrno>

namespace odrc::soft {
namespace {

constexpr uint32_t kLooks = 2000;          // in which who polls has long looked
constexpr uint32_t kSpinsOfAnother = 1000; // thread of ours, which is at it

bool is_answered(const Arena& arena, uint32_t turn) noexcept {
    return arena.answer.turn.load(std::memory_order_acquire) == turn;
}

bool is_taken(const Arena& arena) noexcept {
    return arena.atomic_taken.load(std::memory_order_seq_cst) != 0;
}

// It is the sender's again whether it was done or not, once is_taken() says no. Of two who
// withdraw and take at one time, at least one sees the other.
void withdraw(Arena& arena) noexcept {
    arena.asked.what.fetch_or(kAtomicWithdrawn, std::memory_order_seq_cst);
}

// Behind that nothing is asked for. Gives whether it was done.
bool settle(Arena& arena, uint32_t turn) noexcept {
    const bool done = is_answered(arena, turn);
    arena.asked.what.fetch_xor(done ? kAtomicWithdrawn : kAtomicWithdrawn | kAtomicTurn,
                               std::memory_order_release);
    return done;
}

// Gives 0 when it was done, EAGAIN when it is as if it had not been asked for, or ESRCH.
int await_answer(Process& process, PeerProcess& peer, Arena& arena, uint32_t turn) noexcept {
    // Without pauses: the line changes hands once, and each would be a tenth of what it all takes.
    for (uint32_t looks = 0; looks < kLooks; ++looks) {
        if (is_answered(arena, turn)) {
            peer.serving().went_well();
            return 0;
        }
        // The peer may wait for us in the same way.
        if (process.is_asked()) [[unlikely]]
            serve_atomic(process);
    }
    peer.serving().went_badly();
    withdraw(arena);
    if (!await_peer(process, peer, [&] { return !is_taken(arena); })) return ESRCH;
    return settle(arena, turn) ? 0 : EAGAIN;
}

// The turn that is to be answered.
std::optional<uint32_t> asked_turn(const Arena& arena) noexcept {
    const uint32_t what = arena.asked.what.load(std::memory_order_seq_cst);
    const uint32_t turn = what & kAtomicTurn;
    if (what & kAtomicWithdrawn || turn == arena.answer.turn.load(std::memory_order_relaxed))
        return std::nullopt;
    return turn;
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
    const uint32_t turn =
        ~asked.what.fetch_xor(kAtomicTurn, std::memory_order_release) & kAtomicTurn;
    const int how = await_answer(process, peer, arena, turn);
    if (how == ESRCH)
        return how; // and keeps the place: who is dead or as good as that may be at it
    const int error = arena.answer.error;
    found = arena.answer.found;
    arena.atomic_sender.store(0, std::memory_order_release);
    return how == 0 ? std::optional{error} : std::nullopt;
}

void serve_atomic(Process& process) noexcept {
    Arena& arena = process.view().header();
    if (!asked_turn(arena)) return;
    uint32_t free = 0;
    if (!arena.atomic_taken.compare_exchange_strong(free, 1, std::memory_order_seq_cst)) return;
    if (const auto turn = asked_turn(arena)) {
        const Asked& asked = arena.asked;
        Answer& answer = arena.answer;
        Place place;
        const uint64_t address = asked.address;
        const bool allowed = address % sizeof(uint64_t) == 0 &&
                             find_place(process.view(), true, asked.key, asked.pd, address,
                                        sizeof(uint64_t), IBV_ACCESS_REMOTE_ATOMIC, place);
        if (allowed) {
            answer.found = change_own(process, place,
                                      {.compares = asked.compare != 0,
                                       .operand = asked.operand,
                                       .compared = asked.compared});
            process.count_atomic();
        }
        answer.error = allowed ? 0 : EFAULT;
        answer.turn.store(*turn, std::memory_order_release);
        process.answered_atomic(*turn);
    }
    arena.atomic_taken.store(0, std::memory_order_release);
}

void forget_atomic(Process& process) noexcept {
    Arena& arena = process.view().header();
    uint64_t sender = arena.atomic_sender.load(std::memory_order_relaxed);
    if (sender == 0 || process.node().alive(sender)) return;
    // Whoever of our threads comes first has the place meanwhile.
    if (!arena.atomic_sender.compare_exchange_strong(sender, process.node().identity() | 1,
                                                     std::memory_order_acquire))
        return;
    withdraw(arena);
    uint32_t spins = 0;
    while (is_taken(arena) && ++spins < kSpinsOfAnother) process.pause();
    if (is_taken(arena)) return;
    settle(arena, arena.asked.what.load(std::memory_order_relaxed) & kAtomicTurn);
    arena.atomic_sender.store(0, std::memory_order_release);
}

} // namespace odrc::soft
