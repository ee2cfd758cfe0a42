// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/clock.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace odrc::transfer {

// When the watchdog makes an endpoint's progress, and when it leaves that to the program: the
// polling watchdog (Maquelin et al. 1996; Verstoep et al. 2004, 4.1) where it is a thread, which
// has no network interface to keep the time for it.
//
// An event of the completion channel wakes it. What came is the program's for T, counted from its
// last poll as far as that is known, or from now if the event wakes the program as well; if it has
// not polled by then, the watchdog serves, at once what comes after that, and sleeps again. It
// sleeps without a clock.
//
// A program that has polled by then is left alone, with the channel not armed: were it, each
// message would cost its sender or the device an event, and this processor a wake-up, for nothing.
// But then nothing tells that the program stops polling, and the watchdog has to come and look. It
// does so after T, and if the program still comes by, after a quarter longer each time: so it is
// never late by much more than a quarter of the time for which the program had done so, nor by more
// than kLongestLeave, and a program that polls all the time pays a look for that long. When it has
// found nothing for some time, arming costs less than looking, and the watchdog sleeps.
//
// Where others have the program's processor in turns with it, it polls less than once in T and has
// not stopped: it comes back soon after it was served. So many looks as a processor's time allows
// may have been wrong like that; beyond, the watchdog waits for kLongestLeave.
class Patience {
public:
    static constexpr std::chrono::microseconds kShortest{20};
    static constexpr std::chrono::milliseconds kLongest{1};
    static constexpr std::chrono::milliseconds kLongestLeave{5};
    static constexpr std::chrono::milliseconds kInVain{40};
    static constexpr std::chrono::milliseconds kWrongEvery{2};
    static constexpr std::chrono::milliseconds kWrongAhead{50}; // so much may be used up at once

    struct Polls {
        uint32_t all;   // that the program made, ever
        uint32_t found; // of these, with something to take in
        bool sleeps;    // since then it may sleep, where an event wakes it, too
    };

    // To wait for T is to wake up once more: it is some times what that costs, so that the waiting
    // and not the waking is what takes the time.
    explicit Patience(Clock::duration wakeup) noexcept
        : time_{std::clamp<Clock::duration>(8 * wakeup, kShortest, kLongest)}
        , leave_{time_} {}

    Clock::duration time() const noexcept { return time_; } // T

    // The program polls, and will be looked after by the clock.
    bool leaves_alone() const noexcept { return state_ == State::left_alone; }

    // The watchdog looks, for an event came, or the time to which it was sent, or for no reason.
    // Gives when to look again; or nothing, and it serves now and then sleeps until an event.
    std::optional<Time> look(Time now, Polls polls) noexcept {
        if (now < until_) return until_;
        ++looks_;
        const uint32_t all = polls.all - std::exchange(polls_.all, polls.all);
        const uint32_t found = polls.found - std::exchange(polls_.found, polls.found);
        const auto since = now - std::exchange(looked_, now);
        if (all > 0) last_poll_ = now;
        if (found > 0) last_found_ = now;
        switch (state_) {
        case State::asleep: {
            if (all > 0 && since < kLongestLeave)
                wrong_ =
                    std::min(std::max(wrong_, now) + looks_ * kWrongEvery, now + 2 * kWrongAhead);
            looks_ = 0;
            const Time until = (polls.sleeps ? now : last_poll_) + patience(now);
            if (now >= until) return serve();
            return look_again(State::waiting, until);
        }
        case State::waiting:
            if (all == 0) return serve();
            last_found_ = now;
            return look_again(State::left_alone, now + leave_);
        case State::left_alone:
            leave_ = std::min<Clock::duration>(leave_ + leave_ / 4, kLongestLeave);
            // Less than once in that time is as good as not at all.
            if (all < static_cast<uint64_t>(since / patience(now))) {
                if (all == 0 && !polls.sleeps && patience(now) == time_) leave_ = time_;
                return serve();
            }
            if (now - last_found_ >= kInVain) return serve();
            return look_again(State::left_alone, now + leave_);
        }
        return serve();
    }

private:
    // asleep: it has served, and waits for an event. waiting: for the program to poll, after one.
    enum class State : uint8_t { asleep, waiting, left_alone };

    Clock::duration patience(Time now) const noexcept {
        return wrong_ - now > kWrongAhead ? Clock::duration{kLongestLeave} : time_;
    }
    std::optional<Time> serve() noexcept {
        state_ = State::asleep;
        until_ = {};
        return {};
    }
    Time look_again(State state, Time when) noexcept {
        state_ = state;
        return until_ = when;
    }

    const Clock::duration time_;
    Clock::duration leave_; // the next one
    State state_{State::asleep};
    Time until_{};
    Time looked_{};
    Polls polls_{};    // then
    Time last_poll_{}; // at the latest
    Time last_found_{};
    int looks_{0}; // since the last event that woke it
    Time wrong_{}; // until when those that were wrong are paid for
};

} // namespace odrc::transfer
