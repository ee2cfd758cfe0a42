// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ondemand/peer_table.hpp"

namespace odrc::ondemand {

Peer* PeerTable::find(const Address& address) noexcept {
    const auto known = by_address_.find(address);
    return known == by_address_.end() ? nullptr : known->second.get();
}

Peer* PeerTable::add(const Address& address) noexcept {
    try {
        return by_address_.emplace(address, std::make_unique<Peer>(address)).first->second.get();
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

Peer* PeerTable::know(const Address& address) noexcept {
    Peer* peer = find(address);
    if (!peer) peer = add(address);
    if (peer) peer->stranger = false;
    return peer;
}

Peer* PeerTable::meet(const Address& address) noexcept {
    if (Peer* known = find(address)) return known;
    if (crowded()) return nullptr;
    try {
        strangers_.reserve(strangers_.size() + 1);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
    Peer* peer = add(address);
    if (peer) strangers_.push_back(peer);
    return peer;
}

bool PeerTable::forget_strangers(size_t looks) noexcept {
    bool forgotten = false;
    for (; looks > 0 && !strangers_.empty(); --looks) {
        if (next_stranger_ >= strangers_.size()) next_stranger_ = 0;
        Peer*& place = strangers_[next_stranger_];
        Peer& peer = *place;
        if (peer.stranger && !peer.forgettable()) {
            ++next_stranger_;
            continue;
        }
        place = strangers_.back();
        strangers_.pop_back();
        if (!peer.stranger) continue;
        by_address_.erase(Address{peer.address}); // the key may not lie in what goes
        forgotten = true;
    }
    return forgotten;
}

Peer* PeerTable::look_up(fi_addr_t number) noexcept {
    const auto address = addresses_.at(number);
    Peer* peer = address ? know(*address) : nullptr;
    if (!peer) return nullptr;
    try {
        const size_t page = number / kPage;
        if (page >= pages_.size()) pages_.resize(page + 1);
        if (!pages_[page]) pages_[page] = std::make_unique<Peer*[]>(kPage);
        pages_[page][number % kPage] = peer;
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
    return peer;
}

void PeerTable::forget(fi_addr_t number) noexcept {
    const size_t page = number / kPage;
    if (page < pages_.size() && pages_[page]) pages_[page][number % kPage] = nullptr;
}

void PeerTable::refresh(Peer& peer) noexcept {
    peer.fi_addr_generation = addresses_.generation();
    // The number already known stays, for as long as it stands.
    if (peer.fi_addr == FI_ADDR_NOTAVAIL || addresses_.at(peer.fi_addr) != peer.address)
        peer.fi_addr = addresses_.find(peer.address);
    peer.id = addresses_.id_of(peer.fi_addr);
}

void PeerTable::add(Lane& lane) {
    if (2 * (lane_count_ + 1) > lanes_.size()) {
        std::vector<Place> bigger(2 * lanes_.size());
        lanes_.swap(bigger);
        for (const Place& p : bigger)
            if (p.lane) place(*p.lane);
    }
    place(lane);
    ++lane_count_;
    ++lane.peer().lanes;
}

void PeerTable::place(Lane& lane) noexcept {
    const uint32_t name = lane.name();
    size_t i = name & (lanes_.size() - 1);
    while (lanes_[i].lane) i = (i + 1) & (lanes_.size() - 1);
    lanes_[i] = {name, &lane};
}

void PeerTable::remove(Lane& lane) noexcept {
    const size_t mask = lanes_.size() - 1;
    size_t gap = lane.name() & mask;
    while (lanes_[gap].lane != &lane) {
        if (!lanes_[gap].lane) return;
        gap = (gap + 1) & mask;
    }
    // Places behind the gap that belong at or before it move up, so that no search stops short.
    for (size_t i = (gap + 1) & mask; lanes_[i].lane; i = (i + 1) & mask) {
        const size_t home = lanes_[i].name & mask;
        if (((i - home) & mask) >= ((i - gap) & mask)) {
            lanes_[gap] = lanes_[i];
            gap = i;
        }
    }
    lanes_[gap] = {0, nullptr};
    --lane_count_;
    --lane.peer().lanes;
}

} // namespace odrc::ondemand
