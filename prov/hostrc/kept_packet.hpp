// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/error.hpp"
#include "hostrc/datagrams.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace odrc::host {

// A packet that came before its time, apart from the buffer that it came in.
struct KeptPacket {
    explicit KeptPacket(const Datagrams::Arrival& arrival)
        : packet{arrival.packet}
        , from{arrival.from}
        , data{arrival.data.begin(), arrival.data.end()} {}

    Datagrams::Arrival arrival() const noexcept { return {packet, data, from}; }

    Packet packet;
    uint32_t from; // number of the queue pair
    std::vector<std::byte> data;
};

// Those of one connection that came before others which are to come first. All connections of a
// completion queue together keep few: what is not kept goes again.
class EarlyPackets {
public:
    // all: how many there are of all connections. False: there is no room.
    bool keep(const Datagrams::Arrival& arrival, uint32_t& all) noexcept {
        if (all >= kMost || guarded([&] { return packets_.emplace_back(arrival), 0; }))
            return false;
        ++all;
        return true;
    }
    bool has(uint32_t number) const noexcept {
        return std::ranges::find(packets_, number, number_of) != packets_.end();
    }
    // Nothing: it is not there.
    std::optional<KeptPacket> take(uint32_t number, uint32_t& all) noexcept {
        const auto found = std::ranges::find(packets_, number, number_of);
        if (found == packets_.end()) return std::nullopt;
        std::optional<KeptPacket> packet{std::move(*found)};
        packets_.erase(found);
        --all;
        return packet;
    }
    // So many are not there before the first of them, from a number on. 0: there is none.
    uint32_t missing_from(uint32_t number) const noexcept {
        uint32_t least = 0;
        for (const KeptPacket& k : packets_)
            if (least == 0 || k.packet.number - number < least) least = k.packet.number - number;
        return least;
    }
    void clear(uint32_t& all) noexcept {
        all -= static_cast<uint32_t>(packets_.size());
        packets_.clear();
    }
    bool empty() const noexcept { return packets_.empty(); }

private:
    static constexpr uint32_t kMost = 64;
    static uint32_t number_of(const KeptPacket& k) noexcept { return k.packet.number; }

    std::vector<KeptPacket> packets_;
};

} // namespace odrc::host
