// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The watchdog's side: what has to be done although the program does not come by, and who has to be
// asked whether they are there.

#include "transfer/engine.hpp"
#include "transfer/multicast.hpp"

#include <thread>

namespace odrc::transfer {
namespace {

using namespace std::chrono_literals;

// When more datagrams have come than the watchdog takes in at a time, the program goes first for so
// long: whoever floods us does not keep it from its data.
constexpr auto kBreath = 250us;

// A peer that owes us an answer, on a lane where nothing is under way, is probed this often.
constexpr auto kProbeEvery = 1s;

// So often a receive queue may tell that it runs low.
constexpr auto kArmReceivesEvery = 10ms;

} // namespace

Time Engine::serve() noexcept {
    if (std::exchange(watch_.flooded, false)) std::this_thread::sleep_for(kBreath);
    const WatchdogEntry entry{gate_};
    watch_.flooded = !wireup_.serve();
    if (wireup_.wants_completions()) {
        while (poll()) {
        }
    }
    if (wireup_.take_nudge()) {
        while (!room_.is(Room::State::none) && poll()) {
        }
    }
    const Time now = Clock::now();
    look_at_receives(now);
    if (watch_.probing && watch_.probe_at == kNever)
        watch_.probe_at = now + kProbeEvery; // it has just begun
    if (now >= watch_.probe_at) {
        while (poll()) {
        }
        // A program that goes on injecting need not wake the watchdog each time it stops probing.
        const uint64_t posts = counters_.posts;
        watch_.probing = busy() || unanswered_ > 0 || inbox_.parts().posted() > 0 ||
                         anybody_awaited() || !assemblies_.empty() ||
                         std::exchange(watch_.posts_then, posts) != posts;
        watch_.probe_at = watch_.probing ? now + kProbeEvery : kNever;
        if (watch_.probing) ask_who_is_there();
    }
    if (watch_.looking && watch_.look_at == kNever) watch_.look_at = now; // likewise
    if (now >= watch_.look_at) look_at_stopped(now);
    take_changes();
    post_held();
    return std::min({wireup_.deadline(), wireup_.spare_due(), watch_.next()});
}

// A receive queue that runs low is to have more, and what is in it be looked at, if the program
// does not. How low it runs it does not tell more often than this is worth the while.
void Engine::look_at_receives(Time now) noexcept {
    stations_.for_each([&](ondemand::Station& station) {
        if (!station.runs_low()) return;
        ++counters_.srq_low_watermark_events;
        while (!room_.is(Room::State::none) && poll(station)) {
        }
        station.deepen();
        watch_.arm_receives_at = std::min(watch_.arm_receives_at, now + kArmReceivesEvery);
    });
    if (now < watch_.arm_receives_at) return;
    stations_.for_each([](ondemand::Station& station) { station.arm_receives(); });
    watch_.arm_receives_at = kNever;
}

bool Engine::anybody_awaited() noexcept {
    return multicast_ && multicast_->for_each_awaited([](fi_addr_t) {});
}

// A peer that died owes its answer for ever, and its silence does not show until something is asked
// of it. And that an injected message is lost with its lane nobody else may be there to see: the
// program has been told that it is done with it.
void Engine::ask_who_is_there() noexcept {
    peers_.for_each([this](Peer& peer) {
        if (peer.ready() && peer.lane->keeps_copies() && peer.lane->has_room()) peer.lane->probe();
        if (!peer.unanswered.empty()) ask_whether_there(peer);
    });
    if (multicast_)
        multicast_->for_each_awaited([this](fi_addr_t member) {
            if (Peer* peer = peers_.find(member)) ask_whether_there(*peer);
        });
    inbox_.parts().for_each_posted(
        [this](const Receive& part) { ask_whether_there(*part.source); });
    for (Assembly* a = assemblies_.front(); a; a = assemblies_.after(*a))
        ask_whether_there(*a->message.peer);
}

void Engine::ask_whether_there(Peer& peer) noexcept {
    if (peer.link == ondemand::Link::none || peer.link == ondemand::Link::laid)
        connect(peer);
    else if (peer.ready() && (peer.lane->idle() || peer.lane->untold()))
        peer.lane->probe();
}

} // namespace odrc::transfer
