// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/joint_copy.hpp"

#include "softrc/await_peer.hpp"
#include "softrc/private_copy.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>

namespace odrc::soft {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kMostPiece = size_t{256} << 10; // bytes, some twenty microseconds
// How long the peer's last piece may take: times what one of ours took, since between caches that
// are far apart all take longer; and at the least.
constexpr int kPiecesOfOurs = 4;
constexpr auto kLeastPatience = std::chrono::microseconds{80};
constexpr uint32_t kPausesOfAPiece = 2000;

int copy_piece(PeerProcess& peer, Direction direction, std::byte* here, uint64_t there,
               size_t length) noexcept {
    PrivateCopy copy{peer, direction};
    copy.add(here, there, length);
    return copy.flush();
}

// The pieces of a copy.
struct Cut {
    size_t length, piece;

    uint32_t pieces() const noexcept { return static_cast<uint32_t>((length + piece - 1) / piece); }
    size_t begin(uint32_t i) const noexcept { return i * piece; }
    size_t bytes(uint32_t i) const noexcept { return std::min(piece, length - begin(i)); }
};

// One for each of both, or a few: a call of the kernel takes as long as copying 32 KiB. A peer that
// comes late takes no longer over its piece than we would.
Cut cut(size_t length) noexcept {
    const size_t each = (length + 2 * kMostPiece - 1) / (2 * kMostPiece);
    return {length, (length / (2 * each) + kPage - 1) / kPage * kPage};
}

// The next piece that we may move, or nothing.
std::optional<uint32_t> take_piece(JointCopy& copy, const Cut& cut, const Process& process,
                                   const PeerProcess& peer) noexcept {
    const bool from_first = process.view().header().pid < static_cast<uint32_t>(peer.pid());
    const uint64_t before =
        copy.taken.fetch_add(from_first ? 1 : uint64_t{1} << 32, std::memory_order_relaxed);
    const auto first = static_cast<uint32_t>(before), last = static_cast<uint32_t>(before >> 32);
    if (uint64_t{first} + last >= cut.pieces()) return std::nullopt;
    return from_first ? first : cut.pieces() - 1 - last;
}

// A peer that often does not come is left out for a while, but for what is so long that the call of
// the kernel is not felt which it takes to ask in vain.
constexpr size_t kAlwaysAsked = kMostPiece;

// A place in the peer's list.
class Booking {
public:
    Booking(Process& process, PeerProcess& peer, size_t length) noexcept
        : process_{process}
        , peer_{peer} {
        if (!peer.joining().is_worth_it()) return;
        if (length < kAlwaysAsked && !peer.coming().is_worth_it()) return;
        const uint64_t me = process.node().identity() | 1;
        for (uint32_t i = 0; i < kJointCopies; ++i) {
            JointCopy& copy = arena().joint_copies[i];
            uint64_t nobody = 0;
            if (copy.who.load(std::memory_order_relaxed) != 0 ||
                !copy.who.compare_exchange_strong(nobody, me, std::memory_order_acquire))
                continue;
            copy_ = &copy;
            bit_ = 1u << i;
            return;
        }
    }
    explicit operator bool() const noexcept { return copy_ != nullptr; }
    JointCopy& copy() const noexcept { return *copy_; }

    void open() noexcept {
        copy_->state.store(kJointOpen, std::memory_order_release);
        arena().asked.what.fetch_or(bit_, std::memory_order_release);
    }
    // Ends when the peer touches no memory any more: false if it has died, or is as good as dead.
    // came: it has taken a piece. took: we have, for each of ours.
    bool close(bool came, Clock::duration took) noexcept {
        came ? peer_.coming().went_well() : peer_.coming().went_badly();
        arena().asked.what.fetch_and(~bit_, std::memory_order_relaxed);
        copy_->state.fetch_and(~kJointOpen, std::memory_order_acquire);
        const Time late =
            Clock::now() + std::max<Clock::duration>(kPiecesOfOurs * took, kLeastPatience);
        do {
            if (is_left_alone()) {
                peer_.joining().went_well();
                return true;
            }
            __builtin_ia32_pause();
        } while (Clock::now() < late);
        // It has no processor, in the middle of a piece.
        peer_.joining().went_badly();
        return await_peer(process_, peer_, [this] { return is_left_alone(); });
    }
    void leave() noexcept { copy_->who.store(0, std::memory_order_release); }

private:
    Arena& arena() const noexcept { return peer_.arena().header(); }
    bool is_left_alone() const noexcept {
        return copy_->state.load(std::memory_order_acquire) == 0;
    }

    Process& process_;
    PeerProcess& peer_;
    JointCopy* copy_{nullptr};
    uint32_t bit_{0};
};

bool enter(JointCopy& copy) noexcept {
    uint32_t state = copy.state.load(std::memory_order_relaxed);
    while (state & kJointOpen)
        if (copy.state.compare_exchange_weak(state, state + 1, std::memory_order_acquire))
            return true;
    return false;
}

// False: there is nothing that we could do for it.
bool join(Process& process, JointCopy& copy) noexcept {
    const uint64_t who = copy.who.load(std::memory_order_relaxed);
    const auto sender = process.peer({.slot = static_cast<uint32_t>(who >> 52),
                                      .generation = static_cast<uint32_t>(who >> 32 & 0xfffff),
                                      .port_offset = 0});
    if (!sender || sender->own() || !sender->lets_us_in()) return false;
    const Cut cut{copy.length, copy.piece};
    const uint64_t there = copy.there;
    const auto direction = copy.outward ? Direction::from_peer : Direction::to_peer;
    Place place;
    if (cut.piece == 0 || cut.length > SIZE_MAX - cut.piece ||
        !find_place(process.view(), true, copy.key, copy.pd, copy.address, cut.length,
                    static_cast<int>(copy.access), place))
        return false;
    const auto i = take_piece(copy, cut, process, *sender);
    if (!i) return true;
    if (copy_piece(*sender, direction, place.mapped + cut.begin(*i), there + cut.begin(*i),
                   cut.bytes(*i)) != 0) {
        copy.failed.store(1, std::memory_order_relaxed);
        return false;
    }
    process.count_joined();
    return true;
}

} // namespace

int copy_jointly(Process& process, PeerProcess& peer, Direction direction, std::byte* here,
                 const Place& place, size_t length) noexcept {
    Booking booking{process, peer, length};
    if (!booking) return copy_piece(peer, direction, here, place.address, length);
    JointCopy& copy = booking.copy();
    const Cut cut = soft::cut(length);
    copy.outward = direction == Direction::to_peer;
    copy.key = place.key;
    copy.pd = place.pd;
    copy.access = static_cast<uint32_t>(place.access);
    copy.piece = static_cast<uint32_t>(cut.piece);
    copy.address = place.asked;
    copy.there = reinterpret_cast<uint64_t>(here);
    copy.length = length;
    copy.taken.store(0, std::memory_order_relaxed);
    copy.failed.store(0, std::memory_order_relaxed);
    booking.open();
    const Time begin = Clock::now();
    int error = 0;
    uint32_t moved = 0;
    for (; !error; ++moved) {
        const auto i = take_piece(copy, cut, process, peer);
        if (!i) break;
        error = copy_piece(peer, direction, here + cut.begin(*i), place.address + cut.begin(*i),
                           cut.bytes(*i));
    }
    const auto took = (Clock::now() - begin) / std::max(moved, 1u);
    if (!booking.close(moved < cut.pieces(), took)) return ESRCH;
    const bool failed = copy.failed.load(std::memory_order_relaxed) != 0;
    booking.leave();
    // What the peer could not move perhaps we can.
    return failed && !error ? copy_piece(peer, direction, here, place.address, length) : error;
}

void join_copies(Process& process) noexcept {
    Arena& arena = process.view().header();
    const uint32_t asked = arena.asked.what.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < kJointCopies; ++i) {
        const uint32_t bit = 1u << i;
        JointCopy& copy = arena.joint_copies[i];
        if (!(asked & bit) || !enter(copy)) continue;
        if (!join(process, copy)) {
            arena.asked.what.fetch_and(~bit, std::memory_order_relaxed);
            copy.state.fetch_and(~kJointOpen, std::memory_order_relaxed);
        }
        copy.state.fetch_sub(1, std::memory_order_release);
    }
}

void forget_joint_copies(Process& process) noexcept {
    Arena& arena = process.view().header();
    for (uint32_t i = 0; i < kJointCopies; ++i) {
        JointCopy& copy = arena.joint_copies[i];
        uint64_t who = copy.who.load(std::memory_order_relaxed);
        if (who == 0 || process.node().alive(who)) continue;
        arena.asked.what.fetch_and(~(1u << i), std::memory_order_relaxed);
        copy.state.fetch_and(~kJointOpen, std::memory_order_relaxed);
        // Threads of ours that have joined find out, too.
        uint32_t spins = 0;
        while (copy.state.load(std::memory_order_acquire) != 0 && ++spins < kPausesOfAPiece)
            process.pause();
        if (copy.state.load(std::memory_order_acquire) == 0)
            copy.who.compare_exchange_strong(who, 0, std::memory_order_release);
    }
}

} // namespace odrc::soft
