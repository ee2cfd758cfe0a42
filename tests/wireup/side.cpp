// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "side.hpp"

#include <cstring>
#include <doctest/doctest.h>

using namespace odrc;
using namespace odrc::ondemand;

namespace {
constexpr uint32_t kWorkRequests = 96;
constexpr uint32_t kReceives = 32;
constexpr size_t kWordBytes = 64;
constexpr Station::Sizes kSizes{kWordBytes, {kReceives, kReceives}, true, kWorkRequests, {}};
} // namespace

Seat::Seat(verbs::Adapter& device, verbs::Adapter& soft, verbs::Adapter& datagrams)
    : alone{device, {nullptr, nullptr}, counters, kSizes, kSizes, Sleeper::nobody}
    , beside_soft{device, {&soft, nullptr}, counters, kSizes, kSizes, Sleeper::nobody}
    , above_datagrams{device, {nullptr, &datagrams}, counters, kSizes, kSizes, Sleeper::nobody}
    , copies{device, counters, kWordBytes, kReceives} {}

Side::Side(Seat& seat, const network::Address& wanted, const Seal& seal, uint32_t most_lanes,
           const PlaceInJob& place, bool lists, bool soft, bool datagrams)
    : stations_{soft        ? seat.beside_soft
                : datagrams ? seat.above_datagrams
                            : seat.alone}
    , wireup_{peers_,
              statistics_,
              {stations_, posting_, seat.copies, 1, most_lanes, IBV_ACCESS_REMOTE_WRITE, 0},
              wanted,
              seal,
              false}
    , plug_{std::in_place, wireup_.fd(), wireup_.address()} {
    wireup_.expect_datagrams(place);
    if (place.known()) wireup_.prepare(Connect::all, place, lists);
    while (poll()) { // what the one before has left
    }
}

void Side::say(const network::Address& to, uint32_t word) {
    Peer& peer = *peers_.meet(to);
    peer.jobs.push_back(words_.emplace_back(word));
    ++unsaid_;
    if (!peer.listens()) wireup_.connect(peer);
    if (peer.listens()) post_words(peer);
}

void Side::name(const Side& other) {
    const NativeAddress address = other.wireup_.native_address();
    addresses_.insert(address.socket, std::nullopt, &address);
    wireup_.introduce(address);
}

void Side::lose(const Side& other) {
    Peer* peer = peers_.find(other.address());
    if (peer && peer->ready()) wireup_.replace(*peer);
}

void Side::deepen(const network::Address& to) {
    Peer& peer = *peers_.meet(to);
    if (!peer.ready()) return;
    peer.deep = true;
    peer.lane->hold(true);
}

void Side::promote(const network::Address& to) {
    if (Peer* peer = peers_.find(to)) wireup_.promote(*peer);
}

void Side::step() {
    wireup_.serve();
    do {
        while (poll()) {
        }
        take_changes();
        peers_.for_each([this](Peer& peer) {
            if (peer.ready() && !peer.nothing_waits()) post_words(peer);
        });
    } while (wireup_.wants_completions() && poll());
}

bool Side::poll() {
    return poll(stations_.device()) || (stations_.soft() && poll(*stations_.soft())) ||
           (stations_.datagrams() && poll(*stations_.datagrams()));
}

// What came over a lane that it takes now may be found before what came over the last one.
void Side::hear(Lane& lane, uint32_t word) {
    Peer& peer = lane.peer();
    const Turn turn = peer.take_frame(lane.session(), word - 1);
    auto& early = early_[peer.address];
    if (turn == Turn::repeated) return; // it had come, but that was not known when its lane broke
    if (turn == Turn::early && peer.lanes > 1) return early.push_back(word);
    heard_[peer.address].push_back(word);
    if (early.empty() || early.front() != word + 1) return;
    const uint32_t next = early.front();
    early.erase(early.begin());
    hear(lane, next);
}

bool Side::poll(Station& station) {
    ibv_wc wc;
    if (ibv_poll_cq(station.cq(), 1, &wc) != 1) return false;
    const verbs::WorkId id{wc.wr_id};
    Lane* lane = peers_.find_lane(station.name_of(wc.qp_num));
    if (id.kind() == verbs::WorkKind::receive) {
        auto* buffer = id.object<srq::Buffer>();
        if (wc.status == IBV_WC_SUCCESS && lane) {
            uint32_t word;
            std::memcpy(&word, buffer->data, sizeof word);
            lane->visit();
            hear(*lane, word);
            wireup_.heard_from(*lane);
        }
        station.give_back(buffer);
        station.refill();
        return true;
    }
    if (!lane) return true;
    if (wc.status != IBV_WC_SUCCESS && id.kind() == verbs::WorkKind::send) {
        lane->peer().repeats.push_back(*id.object<Word>());
        ++unsaid_;
    }
    if (wc.status != IBV_WC_SUCCESS && !lane->failed() && !wireup_.fall_back(*lane))
        wireup_.replace(lane->peer());
    if (wc.status == IBV_WC_SUCCESS) wireup_.heard_from(*lane);
    wireup_.retire(*lane, id.position(), wc.status == IBV_WC_SUCCESS);
    return true;
}

bool Side::goes_over() {
    bool any = false;
    peers_.for_each([&](const Peer& peer) { any |= peer.promotion == Promotion::agreed; });
    return any;
}

bool Side::knows_window_of(Side& other) {
    const Peer* to = peers_.find(other.address());
    const Peer* from = other.peers_.find(address());
    if (!to || !from || !to->ready() || !from->ready()) return true;
    const int32_t left = from->window_in.left(from->received);
    return left <= 0 || to->window_out.is_open(from->received + static_cast<uint32_t>(left) - 1);
}

void Side::take_changes() {
    while (Peer* peer = wireup_.take_changed()) {
        if (peer->error) {
            peer->error = 0;
            taken_ = peer->taken;
            while (peer->repeats.pop_front() || peer->jobs.pop_front()) {
                ++errors_;
                --unsaid_;
            }
        }
        peer->renewed = false;
        if (peer->listens()) post_words(*peer);
    }
}

void Side::post_words(Peer& peer) {
    if (peer.lane->held()) return wireup_.crowd(peer);
    const auto next = [&] {
        Job* job = peer.repeats.pop_front();
        return static_cast<Word*>(job ? job : peer.jobs.pop_front());
    };
    while (peer.ready() || peer.window_is_open()) {
        Word* word = next();
        if (!word) return;
        ibv_sge sge{reinterpret_cast<uint64_t>(&word->number), sizeof word->number, 0};
        ibv_send_wr wr{};
        wr.opcode = IBV_WR_SEND;
        wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
        wr.sg_list = &sge;
        wr.num_sge = 1;
        REQUIRE(peer.lane->has_room());
        REQUIRE(peer.lane->post(wr, verbs::WorkKind::send, word) == 0);
        peer.frame_sent(word->number - 1);
        --unsaid_;
    }
}
