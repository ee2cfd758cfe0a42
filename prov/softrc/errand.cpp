// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/errand.hpp"

#include "base/clock.hpp"
#include "softrc/process.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace odrc::soft {
namespace {

constexpr uint32_t kSpinsPerLook = 1000; // asking for a process is a few system calls
// A peer that lives and does not serve for so long is as good as dead.
constexpr auto kPatience = std::chrono::seconds{10};

bool unused(ErrandState state) noexcept {
    return state == ErrandState::idle || state == ErrandState::done;
}

// A place in the peer's list, while it stands.
class Booking {
public:
    Booking(Process& process, PeerProcess& peer) noexcept
        : me_{process.node().identity() | 1} {
        Arena& arena = peer.arena().header();
        const Time deadline = Clock::now() + kPatience;
        for (uint32_t spins = 1; !peer.dead() && Clock::now() < deadline; ++spins) {
            const bool look = spins % kSpinsPerLook == 0;
            for (uint32_t i = 0; i < kErrands; ++i) {
                Errand& errand = arena.errands[i];
                uint64_t holder = errand.who.load(std::memory_order_relaxed);
                // A sender that died gave nothing back; what it asked for is finished first.
                const bool abandoned = holder != 0 && look && !process.node().alive(holder) &&
                                       unused(errand.state.load(std::memory_order_acquire));
                if ((holder == 0 || abandoned) &&
                    errand.who.compare_exchange_strong(holder, me_, std::memory_order_acquire)) {
                    errand_ = &errand;
                    bytes_ = arena.errand_bytes[i];
                    return;
                }
            }
            if (look) peer.check_dead();
            process.pause();
        }
    }
    ~Booking() {
        if (errand_) errand_->who.store(0, std::memory_order_release);
    }
    Booking(const Booking&) = delete;
    Booking& operator=(const Booking&) = delete;

    explicit operator bool() const noexcept { return errand_ != nullptr; }
    Errand& errand() const noexcept { return *errand_; }
    std::byte* bytes() const noexcept { return bytes_; }

private:
    const uint64_t me_;
    Errand* errand_{nullptr};
    std::byte* bytes_{nullptr};
};

// The peer may be waiting for us just so: its errands are served meanwhile.
int await(Process& process, const Errand& errand, PeerProcess& peer) noexcept {
    const Time deadline = Clock::now() + kPatience;
    for (uint32_t spins = 1; errand.state.load(std::memory_order_acquire) != ErrandState::done;
         ++spins) {
        if (spins % kSpinsPerLook == 0 && (peer.check_dead() || Clock::now() > deadline))
            return ESRCH;
        process.pause();
    }
    return errand.error;
}

} // namespace

int run_errand(Process& process, PeerProcess& peer, Direction direction, std::byte* local,
               const Place& place, size_t offset, size_t length) noexcept {
    const Booking booking{process, peer};
    if (!booking) return ESRCH;
    Errand& errand = booking.errand();
    while (length > 0) {
        const size_t n = std::min<size_t>(length, kErrandBytes);
        errand.outward = direction == Direction::to_peer;
        errand.key = place.key;
        errand.pd = place.pd;
        errand.access = static_cast<uint32_t>(place.access);
        errand.address = place.asked + offset;
        errand.length = n;
        if (direction == Direction::to_peer) std::memcpy(booking.bytes(), local, n);
        errand.state.store(ErrandState::posted, std::memory_order_seq_cst);
        peer.raise_event(peer.arena().header().agent, Agent::event(Agent::Task::errands));
        if (const int error = await(process, errand, peer)) return error;
        if (direction == Direction::from_peer) std::memcpy(local, booking.bytes(), n);
        local += n;
        offset += n;
        length -= n;
    }
    return 0;
}

void serve_errands(const ArenaView& arena) noexcept {
    for (uint32_t i = 0; i < kErrands; ++i) {
        Errand& errand = arena.header().errands[i];
        ErrandState posted = ErrandState::posted;
        if (errand.state.load(std::memory_order_relaxed) != posted ||
            !errand.state.compare_exchange_strong(posted, ErrandState::taken))
            continue;
        const size_t length = errand.length;
        Place place;
        errand.error = EFAULT;
        if (length <= kErrandBytes && find_place(arena, true, errand.key, errand.pd, errand.address,
                                                 length, static_cast<int>(errand.access), place)) {
            std::byte* shared = arena.header().errand_bytes[i];
            std::memcpy(errand.outward ? place.mapped : shared,
                        errand.outward ? shared : place.mapped, length);
            errand.error = 0;
        }
        errand.state.store(ErrandState::done, std::memory_order_release);
    }
}

} // namespace odrc::soft
