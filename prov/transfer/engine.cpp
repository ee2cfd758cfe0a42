// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/engine.hpp"

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/log.hpp"
#include "base/parameters.hpp"

namespace odrc::transfer {
namespace {

using namespace std::chrono_literals;

constexpr uint32_t kWorkRequests = 2048; // of all lanes at a time
constexpr uint32_t kWorkRequestsByDatagrams = 128;
constexpr size_t kFramesPerSlab = 32;
constexpr size_t kInjectsPerSlab = 64;
constexpr size_t kInjectBytes = (wire::kMaxHeader + kInjectSize + 63) / 64 * 64;
constexpr int kBatch = 16; // completions polled at a time

// One read or write moves at most so much, so that no work request holds up its queue pair for
// long.
constexpr size_t kMostAtOnce = size_t{8} << 20;

// While a connection is in the making, the socket is looked at after so many polls that found
// nothing: a system call among many that are none.
constexpr uint32_t kPollsPerLook = 32;

// How long closing waits for peers that take nothing, and for answers.
constexpr auto kWaitForPeers = 30s;
constexpr auto kWaitForAnswers = 1s;

// Some devices scatter what they read less than what they receive.
uint32_t read_segments(const verbs::Port& port, uint32_t segments) noexcept {
    const auto device = static_cast<uint32_t>(port.device_attr.max_sge_rd);
    return device > 0 ? std::min(device, segments) : segments;
}

// What a queue pair lets its peer do, where a key lets it as well: read, for long messages; write,
// since it is by writing nothing that peers ask whether we are there; and change words, where the
// domain has regions for that.
int access_of_peers(const Engine::Settings& settings) noexcept {
    return IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
           (settings.atomics ? IBV_ACCESS_REMOTE_ATOMIC : 0);
}

} // namespace

Engine::Engine(verbs::Adapter& adapter, const ondemand::Stations::Others& others,
               const ondemand::AddressTable& addresses, Watchdog& watchdog, Gate& gate,
               const Settings& settings)
    : adapter_{adapter}
    , watchdog_{watchdog}
    , gate_{gate}
    , settings_{settings}
    , segments_{static_cast<uint32_t>(iov_limit(adapter.port()))}
    , read_segments_{read_segments(adapter.port(), segments_)}
    , budget_{parameters().memory, adapter.port().delivers}
    , stations_{adapter,
                others,
                counters_,
                {wire::kFrameBytes, budget_.receives(wire::kFrameBytes, others.soft ? 2 : 1),
                 parameters().eager != Eager::ring_recv, kWorkRequests, budget_.rings()},
                {wire::kFrameBytes,
                 budget_.receives_by_datagrams(wire::kFrameBytes),
                 true,
                 kWorkRequestsByDatagrams,
                 {}},
                settings.waitable    ? ondemand::Sleeper::program
                : settings.automatic ? ondemand::Sleeper::watchdog
                                     : ondemand::Sleeper::nobody}
    , words_{adapter, stations_.device().srq()}
    , frames_{adapter, counters_, wire::kFrameBytes, kFramesPerSlab}
    , injects_{adapter, counters_, kInjectBytes, kInjectsPerSlab}
    , packets_{adapter, counters_, wire::kFrameBytes, kFramesPerSlab}
    , peers_{addresses}
    , wireup_{peers_,
              *statistics_,
              {stations_, posting_, injects_, segments_,
               ondemand::most_queue_pairs(adapter.port().device_attr.max_qp, parameters().max_qp,
                                          processes_of_this_host()),
               access_of_peers(settings), ondemand::connected_at_once(parameters().reliability)},
              settings.address,
              settings.seal,
              settings.regions != nullptr}
    , most_at_once_{std::min<size_t>(kMostAtOnce, adapter.port().port_attr.max_msg_sz)} {
    wireup_.expect_datagrams(settings.place);
    if (settings.native_format)
        wireup_.prepare(parameters().connect, settings.place, settings.lists);
    const Crossovers& crossovers = settings.crossovers[0];
    counters_.inline_bytes_most = crossovers.inlined;
    counters_.copy_bytes_most = crossovers.copied;
    counters_.unregistered_bytes_most = crossovers.unregistered;
    counters_.eager_bytes_most = crossovers.eager;
    counters_.sliced_bytes_most = crossovers.sliced;
    published(settings.native_format ? ondemand::NativeAddress::kBytes : address().length());
    statistics_->open(adapter.port().name(), address().text());
    watchdog_.add(*this, wireup_.fd());
    try {
        if (settings.automatic || others.datagrams)
            auto_progress_.emplace(*this, counters_, watchdog_, gate_);
    } catch (...) {
        watchdog_.remove(*this, wireup_.fd());
        throw;
    }
}

Engine::~Engine() {
    auto_progress_.reset();
    watchdog_.remove(*this, wireup_.fd());
}

// ---- progress -------------------------------------------------------------------------------

bool Engine::poll_stations() noexcept {
    bool found = poll(stations_.device());
    if (stations_.soft() && poll(*stations_.soft())) found = true;
    if (stations_.datagrams() && poll(*stations_.datagrams())) found = true;
    return found || linger();
}

// Nothing was found.
void Engine::serve_wireup() noexcept {
    if (stations_.called() || (wireup_.active() && ++idle_polls_ % kPollsPerLook == 0)) [[unlikely]]
        wireup_.serve();
}

// Takes in a batch of completions. False when there was none.
bool Engine::poll(ondemand::Station& station) noexcept {
    ibv_wc wc[kBatch];
    const int n = ibv_poll_cq(station.cq(), kBatch, wc);
    for (int i = 0; i < n; ++i) dispatch(station, wc[i]);
    if (n > 0) {
        station.refill();
        if (!blocked_.empty()) unblock();
    }
    return n > 0;
}

void Engine::dispatch(ondemand::Station& station, const ibv_wc& wc) noexcept {
    const verbs::WorkId id{wc.wr_id};
    Lane* lane = peers_.find_lane(station.name_of(wc.qp_num));
    if (id.kind() == verbs::WorkKind::receive) {
        auto* buffer = id.object<srq::Buffer>();
        const bool received = wc.status == IBV_WC_SUCCESS && lane;
        in_hand_ = station.srq() ? buffer : nullptr;
        in_hand_at_ = &station;
        const bool early = received && on_received(*lane, *buffer, wc.byte_len);
        if (early) in_hand_ = nullptr;
        if (in_hand_)
            station.give_back(std::exchange(in_hand_, nullptr));
        else if (station.srq())
            station.keep();
        else if (received && !early) // else it goes with the lane
            lane->give_back(buffer);
        return;
    }
    if (!lane) return; // it went with all its work
    const bool fails = wc.status != IBV_WC_SUCCESS && !lane->failed();
    conclude(*lane, id, fails ? on_failure(*lane, wc) : wc.status);
    if (id.kind() == verbs::WorkKind::lane && wc.status == IBV_WC_SUCCESS)
        wireup_.heard_from(*lane);
    if (lane->failed() && lane->ring()) empty_ring(*lane); // while it counts
    wireup_.retire(*lane, id.position(), wc.status == IBV_WC_SUCCESS);
}

// Tells whom it concerns that a work request is over.
void Engine::conclude(Lane& lane, verbs::WorkId id, ibv_wc_status status) noexcept {
    const Ending end = status == IBV_WC_SUCCESS ? Ending{} : ending_of(lane, status);
    switch (id.kind()) {
    case verbs::WorkKind::send:
        return on_sent(*id.object<Send>(), end);
    case verbs::WorkKind::read:
        return on_fetched(*id.object<Fetch>(), end);
    case verbs::WorkKind::atomic:
        return on_changed(*id.object<Send>(), end);
    case verbs::WorkKind::rma:
        return on_moved(*id.object<Rma>(), end);
    default:
        if (end.good()) return;
        if (srq::Buffer* copy = lane.take_kept(id.position())) save(lane, *copy, end);
    }
}

// The first failure on a lane ends it. Gives what it is to be taken for.
ibv_wc_status Engine::on_failure(Lane& lane, const ibv_wc& wc) noexcept {
    if (wireup_.fall_back(lane)) return wc.status;
    ODRC_WARN(FI_LOG_EP_DATA, "{}: the connection to {} broke: {} (queue pair {:#x})",
              lane.adapter().port().name(), lane.peer().address.text(),
              ibv_wc_status_str(wc.status), wc.qp_num);
    if (is_refusal(wc.status)) lane.set_refused();
    const ibv_wc_status cause = cause_of(lane, wc.status);
    const bool active = wireup_.active();
    wireup_.replace(lane.peer());
    if (!active && wireup_.active()) watchdog_.wake();
    return cause;
}

// The kernel's rxe says the same of a link that is down as of a key that there is not. A work
// request is to blame over which a second lane breaks before it has done anything else.
ibv_wc_status Engine::cause_of(Lane& lane, ibv_wc_status status) noexcept {
    if (status != IBV_WC_LOC_QP_OP_ERR) return status;
    Peer& peer = lane.peer();
    const bool stumbles = !lane.has_worked();
    const bool again = stumbles && peer.stumbled;
    peer.stumbled = stumbles && !again;
    return again ? IBV_WC_LOC_PROT_ERR : status;
}

void Engine::take_changes() noexcept {
    while (Peer* peer = wireup_.take_changed()) {
        if (peer->error) {
            // What the peer had answered before it went still counts.
            while (poll()) {
            }
            pass_over_taken(*peer);
            fail_operations(*peer);
        } else if (peer->renewed) {
            fail_outdated(*peer);
        }
        if (peer->listens()) work_off(*peer);
    }
    if (wireup_.needs_watchdog()) watchdog_.wake();
}

void Engine::arm() noexcept {
    post_held();
    stations_.arm();
}

// The watchdog sends again what is lost on the way, also if the program does not come back.
void Engine::connect(Peer& peer) noexcept {
    const bool active = wireup_.active();
    wireup_.connect(peer);
    if (!active && wireup_.active()) watchdog_.wake();
}

// ---- the end --------------------------------------------------------------------------------

// Something that was accepted has not gone out yet.
bool Engine::busy() const noexcept {
    return transmitting_ > unanswered_ || stations_.under_way() > 0 || fetches_.size() > 0;
}

// Connections that are being made are made or given up in bounded time, and what a lane works on
// ends when the peer's queue takes it or the peer dies. A peer that lives and takes nothing for
// long is not waited for, nor one that merely owes an answer.
void Engine::drain() noexcept {
    uint64_t state = 0;
    bool waiting = false; // for a lane, or for room
    for (Time since = Clock::now();; sched_yield()) {
        const Entry entry{gate_};
        progress();
        waiting = false;
        peers_.for_each([&](Peer& peer) {
            if (!peer.nothing_waits())
                waiting = true;
            else if (peer.ready() && peer.lane->untold())
                peer.lane->probe();
        });
        if (!busy() && !waiting && unanswered_ == 0) return;
        const Time now = Clock::now();
        const uint64_t state_now = uint64_t{transmitting_} << 32 | stations_.under_way();
        if (std::exchange(state, state_now) != state_now) since = now;
        if (now - since < (busy() || waiting ? kWaitForPeers : kWaitForAnswers)) continue;
        ODRC_WARN(FI_LOG_EP_CTRL, "{}: closed with {} messages that their peers have not taken",
                  adapter_.port().name(), transmitting_);
        return;
    }
}

void Engine::close() noexcept {
    {
        // From here on nothing comes into the application's memory but what is on its way there.
        const Entry entry{gate_};
        closing_ = true;
        inbox_.withdraw_all();
    }
    drain();
    const Entry entry{gate_};
    wireup_.say_goodbye();
    take_changes();
}

} // namespace odrc::transfer
