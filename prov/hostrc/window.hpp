// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Numbers of packets: which may go out, which have come, which go again. After the LCI study's
// reliability on the host (Verstoep et al. 2004, section 3) and the go-back-N of IBTA 1.4, 9.7.
// Nothing here knows of time, memory or the device.

#include "base/sequence.hpp"

#include <algorithm>
#include <utility>

namespace odrc::host {

inline constexpr uint16_t kFirstWindow = 16;
inline constexpr uint16_t kLeastWindow = 2;
inline constexpr uint16_t kMostWindow = 64;

// What goes out. At most a window's worth of packets is under way; that grows by one with each
// window that has come through, and is halved when something was lost (RFC 5681).
class OutWindow {
public:
    explicit OutWindow(uint32_t first = 0, uint16_t size = kFirstWindow) noexcept
        : acknowledged_{first}
        , next_{first}
        , end_{first}
        , recovered_{first}
        , size_{size} {}

    uint32_t acknowledged() const noexcept { return acknowledged_; } // all before it have come
    uint32_t next() const noexcept { return next_; }                 // to go out, perhaps again
    bool repeats() const noexcept { return next_ != end_; }          // it went before
    uint32_t under_way() const noexcept { return next_ - acknowledged_; }
    uint32_t size() const noexcept { return size_; }
    bool open() const noexcept { return under_way() < size_; }

    // The sender of the packet that goes out now wants to hear of it at once: there would be
    // silence else, for the window is half full, or full, or the packet goes again.
    bool asks() const noexcept {
        const uint32_t now = under_way() + 1;
        return now == size_ || now == size_ / 2 || repeats();
    }
    void send() noexcept {
        if (next_++ == end_) end_ = next_;
    }

    // Gives how many packets that is news of. What cannot be meant, or is old, is none.
    uint32_t acknowledge(uint32_t before) noexcept {
        const uint32_t news = before - acknowledged_;
        if (news > end_ - acknowledged_) return 0;
        acknowledged_ = before;
        if (is_before(next_, before)) next_ = before; // it had come after all
        grown_ = static_cast<uint16_t>(grown_ + news);
        if (grown_ >= size_) {
            grown_ = 0;
            size_ = std::min<uint16_t>(size_ + 1, kMostWindow);
        }
        return news;
    }

    // The first that is not acknowledged has not come. Gives how many go again: none where they
    // do so already.
    uint32_t lost() noexcept {
        if (is_before(acknowledged_, recovered_)) return 0;
        shrink(size_ / 2);
        return go_back();
    }
    // Nobody answers.
    uint32_t silent() noexcept {
        shrink(kLeastWindow);
        return go_back();
    }
    // The first that is not acknowledged came, and was left lying.
    uint32_t go_back() noexcept { return std::exchange(next_, acknowledged_) - acknowledged_; }

private:
    void shrink(uint16_t size) noexcept {
        size_ = std::max(size, kLeastWindow);
        grown_ = 0;
        recovered_ = end_;
    }

    uint32_t acknowledged_;
    uint32_t next_;
    uint32_t end_;       // went out at least once: all before
    uint32_t recovered_; // a loss before it shrinks the window no more
    uint16_t size_;
    uint16_t grown_{0}; // what has come since it grew
};

// What comes in.
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
    // Whether the sender is yet to be told of the gap before an early one. Should that be lost, it
    // hears of it by silence.
    bool tells_gap() noexcept { return !std::exchange(gap_told_, true); }

private:
    uint32_t expected_;
    bool gap_told_{false};
};

} // namespace odrc::host
