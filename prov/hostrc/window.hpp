// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Numbers of packets: which may go out, which have come, which go again. After the LCI study's
// reliability on the host (Verstoep et al. 2004, section 3), and the selective repeat and go-back-N
// of RFC 6675 and IBTA 1.4, 9.7.
// Nothing here knows of memory or the device, and of time no more than the order of stamps, which
// packets carry and acknowledgements say again (RFC 7323): so it is known which copy of a packet
// has come.

#include "base/sequence.hpp"

#include <algorithm>
#include <utility>

namespace odrc::host {

inline constexpr uint8_t kFirstWindow = 16;
inline constexpr uint8_t kLeastWindow = 2;
inline constexpr uint8_t kMostWindow = 64;

// What goes out. At most a window's worth of packets is under way; that grows by one with each
// window that has come through, and is halved when something was lost (RFC 5681). Only those go
// again of which the receiver says that they are missing; all, where it could keep none that came
// behind.
//
// Silence alone is no loss: whatever is under way may only be late. The first packet goes again,
// alone, until something is heard of it. If that is of a copy from before the silence, all was
// late, and the window is as it was; else all that follows goes again, too (RFC 3522, RFC 4015).
class OutWindow {
public:
    explicit OutWindow(uint32_t first = 0, uint8_t size = kFirstWindow) noexcept
        : acknowledged_{first}
        , next_{first}
        , end_{first}
        , recovered_{first}
        , size_{size} {}

    uint32_t acknowledged() const noexcept { return acknowledged_; } // all before it have come
    // To go out, or again (it repeats).
    uint32_t next() const noexcept {
        if (probes_) return acknowledged_;
        return missing_ > 0 ? acknowledged_ + gap_ : next_;
    }
    bool repeats() const noexcept { return probes_ || missing_ > 0 || next_ != end_; }
    uint32_t under_way() const noexcept { return next_ - acknowledged_; }
    uint32_t size() const noexcept { return size_; }
    bool in_doubt() const noexcept { return size_before_ != 0; }
    bool open() const noexcept {
        if (in_doubt()) return probes_;
        return missing_ > 0 || under_way() < (tries_ ? 1 : size_);
    }

    // The sender of the packet that goes out now wants to hear of it at once: there would be
    // silence else, for the window is half full, or full, or the packet goes again.
    bool asks() const noexcept {
        const uint32_t now = under_way() + 1;
        return now == size_ || now == size_ / 2 || repeats();
    }
    void send() noexcept {
        if (std::exchange(probes_, false)) return;
        if (missing_ > 0) {
            ++gap_;
            --missing_;
        } else if (next_++ == end_) {
            end_ = next_;
        }
    }

    // stamp: of one of the packets that this tells of. Gives of how many that is news. What cannot
    // be meant, or is old, is none.
    uint32_t acknowledge(uint32_t before, uint32_t stamp) noexcept {
        const uint32_t news = before - acknowledged_;
        if (news == 0 || news > end_ - acknowledged_) return 0;
        acknowledged_ = before;
        close_gap(news);
        if (is_before(next_, before)) next_ = before;           // it had come after all
        if (is_before(recovered_, before)) recovered_ = before; // else it is ahead, once they wrap
        tries_ = false;
        if (in_doubt()) judge(is_before(stamp, doubted_));
        grown_ = static_cast<uint8_t>(grown_ + news);
        if (grown_ >= size_) {
            grown_ = 0;
            size_ = std::min<uint8_t>(size_ + 1, kMostWindow);
        }
        return news;
    }

    // The first that is not acknowledged has not come, though later ones have: it goes again, with
    // so many in all that are missing before one that the receiver keeps; or with all behind it,
    // where it keeps none. False where it is about to, anyway.
    bool lost(uint32_t missing) noexcept {
        if (in_doubt()) return false;
        const bool some = missing > 0 && missing < end_ - acknowledged_;
        // All go again already. Where none of them has, these are enough.
        if (next_ != end_ && (!some || next_ != acknowledged_)) return false;
        if (!is_before(acknowledged_, recovered_)) { // else it is part of an earlier loss
            shrink();
            recovered_ = end_;
        }
        next_ = some ? end_ : acknowledged_;
        gap_ = 0;
        missing_ = static_cast<uint8_t>(some ? missing : 0);
        return true;
    }
    // Nothing is heard of what is under way. stamp: of now.
    void silent(uint32_t stamp) noexcept {
        if (!in_doubt()) {
            size_before_ = size_;
            doubted_ = stamp;
        }
        shrink();
        missing_ = 0;
        probes_ = true;
    }
    // The first that is not acknowledged came, and was left lying, as was all behind it. Whether it
    // is taken now is tried with one packet.
    void not_ready() noexcept {
        if (in_doubt()) trust();
        tries_ = true;
        missing_ = 0;
        next_ = acknowledged_;
    }

private:
    // So many have been heard of: they, or the gap behind them, are nearer now.
    void close_gap(uint32_t news) noexcept {
        if (missing_ == 0) return;
        const uint32_t end = gap_ + missing_;
        gap_ = static_cast<uint8_t>(gap_ - std::min<uint32_t>(gap_, news));
        missing_ = static_cast<uint8_t>(end > news ? end - news - gap_ : 0);
    }
    void judge(bool late) noexcept {
        if (late) return trust();
        size_before_ = 0;
        probes_ = false;
        go_back();
    }
    void trust() noexcept {
        size_ = std::exchange(size_before_, uint8_t{0});
        probes_ = false;
    }
    void shrink() noexcept {
        size_ = std::max<uint8_t>(size_ / 2, kLeastWindow);
        grown_ = 0;
    }
    void go_back() noexcept {
        next_ = acknowledged_;
        recovered_ = end_;
    }

    uint32_t acknowledged_;
    uint32_t next_;
    uint32_t end_;        // went out at least once: all before
    uint32_t recovered_;  // a loss before it shrinks the window no more
    uint32_t doubted_{0}; // the stamp at which the silence was noticed
    uint8_t size_;
    uint8_t grown_{0};       // what has come since it grew
    uint8_t size_before_{0}; // the size before the silence; 0: there is none
    uint8_t gap_{0};         // so far behind the first go again, before all others,
    uint8_t missing_{0};     // so many
    bool probes_{false};     // the first is to go again
    bool tries_{false};
};

// What comes in, each in its turn.
class InWindow {
public:
    explicit InWindow(uint32_t first = 0) noexcept
        : expected_{first} {}

    uint32_t expected() const noexcept { return expected_; }

    enum class Arrival : uint8_t { next, early, again };
    Arrival look(uint32_t number) const noexcept {
        if (number == expected_) return Arrival::next;
        return is_before(expected_, number) ? Arrival::early : Arrival::again;
    }
    void accept() noexcept {
        ++expected_;
        gap_told_ = false;
    }
    // An acknowledgement is owed, for what has this stamp.
    void owe(uint32_t stamp) noexcept {
        if (!std::exchange(owes_, true)) stamp_ = stamp;
    }
    // It goes out: gives the stamp for which it is owed longest.
    uint32_t pay() noexcept {
        owes_ = false;
        return stamp_;
    }
    // Whether the sender is yet to be told of the gap before an early one. Should that be lost, it
    // hears of it by silence.
    bool tells_gap() noexcept { return !std::exchange(gap_told_, true); }

private:
    uint32_t expected_;
    uint32_t stamp_{0};
    bool owes_{false};
    bool gap_told_{false};
};

} // namespace odrc::host
