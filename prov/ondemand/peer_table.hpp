// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ondemand/address_table.hpp"
#include "ondemand/peer.hpp"

#include <unordered_map>
#include <vector>

namespace odrc::ondemand {

// The peers of one endpoint: by the number in the application's address vector, by address, and
// by the queue pair over which their frames come.
class PeerTable {
public:
    explicit PeerTable(const AddressTable& addresses) noexcept
        : addresses_{addresses} {}

    // The peer of that number; made known if it is not yet. Null where the number stands for no
    // address, or memory is out.
    Peer* find(fi_addr_t number) noexcept {
        const size_t page = number / kPage;
        if (page < pages_.size() && pages_[page])
            if (Peer* peer = pages_[page][number % kPage]) return peer;
        return look_up(number);
    }
    Peer* find(const Address& address) noexcept; // null where it is not known
    // Makes it known, if it is not, as one that the program has named. Null when memory is out.
    Peer* know(const Address& address) noexcept;
    // Makes it known, as a stranger, if it is not. Null when memory is out, or there are so many
    // strangers already that nothing can be kept of another one.
    Peer* meet(const Address& address) noexcept;
    bool crowded() const noexcept { return strangers_.size() >= kMostStrangers; }
    // Forgets those among the next few strangers of whom nothing is left but their names. True if
    // there was one.
    bool forget_strangers(size_t looks) noexcept;

    std::optional<Address> address_of(fi_addr_t number) const noexcept {
        return addresses_.at(number);
    }

    // The application took the number back: it may stand for another address soon.
    void forget(fi_addr_t number) noexcept;

    // What completions name a peer by: its number, or the application's own; FI_ADDR_NOTAVAIL while
    // the address vector does not have it.
    fi_addr_t id_of(Peer& peer) noexcept {
        if (peer.fi_addr_generation != addresses_.generation()) refresh(peer);
        return peer.id;
    }

    // All that the application has said of where the peer is, if that is in our own format.
    std::optional<NativeAddress> native_address_of(Peer& peer) noexcept {
        id_of(peer);
        return addresses_.native_at(peer.fi_addr);
    }

    // ---- lanes by the names of their queue pairs (Station::name_of) ----
    // Throws std::bad_alloc.
    void add(Lane& lane);
    void remove(Lane& lane) noexcept;
    Lane* find_lane(uint32_t name) noexcept {
        for (size_t i = name & (lanes_.size() - 1); lanes_[i].lane;
             i = (i + 1) & (lanes_.size() - 1))
            if (lanes_[i].name == name) return lanes_[i].lane;
        return nullptr;
    }

    template <class F>
    void for_each(F&& f) {
        for (auto& [address, peer] : by_address_) f(*peer);
    }

private:
    struct Place {
        uint32_t name;
        Lane* lane; // null: free
    };
    static constexpr size_t kPage = 512;
    static constexpr size_t kMostStrangers = 1024;

    Peer* add(const Address& address) noexcept;
    Peer* look_up(fi_addr_t number) noexcept;
    void refresh(Peer& peer) noexcept;
    void place(Lane& lane) noexcept;

    const AddressTable& addresses_;
    std::unordered_map<Address, std::unique_ptr<Peer>> by_address_;
    std::vector<std::unique_ptr<Peer*[]>> pages_; // by number, made where one is used
    std::vector<Place> lanes_{64};                // by number, open addressing, at most half full
    size_t lane_count_{0};
    std::vector<Peer*> strangers_; // and some that are none any more
    size_t next_stranger_{0};      // that is looked at
};

} // namespace odrc::ondemand
