// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Flow control. Who receives lets each peer send so many frames, and more as these come in. What it
// says is a limit: the number, in the session, of the first frame that may not go. Limits only
// grow, so one that is said twice, or in a frame that is repeated, does no harm, and one that went
// down with a lane the next one makes up for.

#include "base/sequence.hpp"

#include <algorithm>

namespace odrc::srq {

// The most frames that a peer is let send at a time. In frames limits have 16 bits: what one says
// is always less than half of that beyond what is known.
inline constexpr uint32_t kMostWindow = 1024;

// A sender's.
class SendWindow {
public:
    bool is_open(uint32_t sent) const noexcept { return is_before(sent, limit_); }
    // True if it is wider now.
    bool open_to(uint32_t limit) noexcept {
        if (!is_before(limit_, limit)) return false;
        limit_ = limit;
        return true;
    }
    // The same, by the lower bits of the limit.
    bool open_to(uint16_t limit) noexcept {
        return open_to(limit_ + static_cast<uint32_t>(
                                    static_cast<int16_t>(limit - static_cast<uint16_t>(limit_))));
    }

private:
    uint32_t limit_{0};
};

// A receiver's, for one peer.
class ReceiveWindow {
public:
    // Lets the peer send so many more than have come, or as many as it has been told before. Gives
    // the limit, which it is to be told.
    uint32_t widen(uint32_t received, uint32_t size) noexcept {
        size_ = static_cast<int32_t>(size);
        if (is_before(limit_, received + size)) limit_ = received + size;
        return limit_;
    }
    // How many more the peer may send, after what has come. What goes beside the window may have
    // used up more than it has.
    int32_t left(uint32_t received) const noexcept { return distance(received, limit_); }
    // Half of it is used up: if nothing goes to the peer anyway, it is to be told by itself.
    bool is_due(uint32_t received) const noexcept { return left(received) <= size_ / 2; }
    // Three quarters are: at once.
    bool is_overdue(uint32_t received) const noexcept { return left(received) <= size_ / 4; }

private:
    uint32_t limit_{0};
    int32_t size_{0};
};

// How wide the windows of an endpoint's peers are, so that all together they let come what its
// receive queue holds. Who has not sent anything of late is taken for somebody who will not: of
// those who are silent there may be thousands, and the few that may begin at a time have half of
// the queue among them.
class Shares {
public:
    // frames: for which the receive queue has buffers. common: it is one for all peers, and not one
    // for each.
    explicit Shares(uint32_t frames, bool common = true) noexcept
        : common_{common}
        , frames_{frames} {}

    // The receive queue has as many now.
    void share(uint32_t frames) noexcept {
        frames_ = frames;
        share_among(senders_);
    }

    // For a peer that is new, beside so many others. Most conversations are no longer than that.
    uint32_t first(uint64_t others) const noexcept {
        return narrow_ ? 1 : first_of(frames_, common_ ? others : 0);
    }
    // The same for each peer of a job of that size, where both sides have to know without a word.
    static uint32_t first_in_job(uint32_t size) noexcept {
        return first_of(kFramesInJob, std::max(size, 2u) - 2);
    }

    // There is little room for what they send: who is new begins with one.
    void narrow(bool on) noexcept { narrow_ = on; }

    // For each of those who send.
    uint32_t each() const noexcept { return each_; }
    // A peer is connected, and may be about to send: it counts for the rest of the round.
    void meet() noexcept { share_among(senders_ + 1); }
    // A frame has come. round: of the peer's, in which the last one came.
    void count(uint16_t& round) noexcept {
        if (round != round_) [[unlikely]] {
            round = round_;
            if (++heard_ > senders_) share_among(heard_);
        }
        if (++in_round_ == kRound) [[unlikely]]
            begin_round();
    }

private:
    static constexpr uint32_t kRound = 1024; // frames, after which who has sent none is silent
    static constexpr uint32_t kMostAtFirst = 64;
    static constexpr uint32_t kFramesInJob = 128; // whatever memory one of its endpoints has

    static uint32_t first_of(uint32_t frames, uint64_t others) noexcept {
        return std::clamp(static_cast<uint32_t>(frames / 2 / (others + 1)), 1u, kMostAtFirst);
    }
    // A quarter is for what comes beside the windows, and for the first words of new peers.
    uint32_t share_of(uint32_t senders) const noexcept {
        return std::clamp(frames_ / 4 * 3 / (common_ ? senders : 1), 1u, kMostWindow);
    }
    void share_among(uint32_t senders) noexcept {
        senders_ = senders;
        each_ = share_of(std::max(senders, 1u));
    }
    void begin_round() noexcept {
        in_round_ = 0;
        ++round_;
        share_among(heard_);
        heard_ = 0;
    }

    const bool common_;
    bool narrow_{false};
    uint32_t frames_;
    uint32_t senders_{0}; // in the last round, or in this one, if these are more already
    uint32_t each_{share_of(1)};
    uint32_t heard_{0}; // in this round
    uint32_t in_round_{0};
    uint16_t round_{1};
};

} // namespace odrc::srq
