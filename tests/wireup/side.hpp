// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "network.hpp"
#include "ondemand/wireup.hpp"

#include <deque>
#include <optional>
#include <unordered_map>

// What outlives the endpoints that take turns on it: to make it costs more than an order takes.
struct Seat {
    // soft: on which sides meet, beside the device, if they are to. datagrams: by which they begin,
    // likewise.
    Seat(odrc::verbs::Adapter& device, odrc::verbs::Adapter& soft, odrc::verbs::Adapter& datagrams);

    odrc::Counters counters;
    odrc::ondemand::Stations alone, beside_soft, above_datagrams;
    odrc::srq::BufferPool copies;
};

// An endpoint that makes connections to say words over them: what is in an engine between the
// wireup and the device, and no more.
class Side {
public:
    // most_lanes: at a time. place: in a job whose members connect by their addresses, or unknown;
    // lists: and by lists of what these have no room for. soft: others of this host are met there.
    // datagrams: it begins with those.
    Side(Seat& seat, const network::Address& wanted, const odrc::ondemand::Seal& seal,
         uint32_t most_lanes, const odrc::PlaceInJob& place, bool lists, bool soft, bool datagrams);

    const network::Address& address() const { return wireup_.address(); }
    const odrc::Counters& counters() const { return statistics_.counters; }
    odrc::ondemand::Wireup& wireup() { return wireup_; }

    // Has something to say to the endpoint of that address, as soon as it is connected.
    void say(const network::Address& to, uint32_t word);
    // The lane to there is too shallow for the next word.
    void deepen(const network::Address& to);
    // Has exchanged so much with there that it is to have a connection.
    void promote(const network::Address& to);
    // Comes to know the other's address.
    void name(const Side& other);
    // The connection to the other breaks, as a completion would tell.
    void lose(const Side& other);
    // Tells all that it goes.
    void close() {
        wireup_.say_goodbye();
        plug_.reset();
    }
    // And its list.
    void read_list_of(const Side& other) {
        const auto list = odrc::ondemand::RangeList::decode(other.wireup_.range_list().encode());
        wireup_.introduce(other.wireup_.native_address(), &list.value());
    }
    // The words that came from there, in the order in which they came.
    const std::vector<uint32_t>& heard_from(const network::Address& from) { return heard_[from]; }
    bool silent() const { return unsaid_ == 0; } // has said all
    // Goes over to a connection as soon as what it has sent by datagrams is acknowledged: which
    // they do in their own time, and not in the test's.
    bool goes_over();
    uint32_t errors() const { return errors_; } // words that could not be said
    // How many words the one to whom some could not be said had taken, as far as is known.
    uint32_t taken() const { return taken_; }

    // Whether it has been told of all that the other, if they are connected, lets it send: else
    // that would count on what never comes, and tell nothing more.
    bool knows_window_of(Side& other);

    // Takes in what has come: datagrams, frames and completions.
    void step();

private:
    struct Word : odrc::ondemand::Job {
        explicit Word(uint32_t n)
            : Job{odrc::ondemand::JobKind::send}
            , number{n} {}
        uint32_t number;
    };

    bool poll();
    bool poll(odrc::ondemand::Station& station);
    void hear(odrc::ondemand::Lane& lane, uint32_t word);
    void take_changes();
    void post_words(odrc::ondemand::Peer& peer);

    odrc::ondemand::Stations& stations_;
    odrc::StatisticsPage statistics_{};
    odrc::verbs::PostList posting_{statistics_.counters.posts};
    odrc::ondemand::AddressTable addresses_;
    odrc::ondemand::PeerTable peers_{addresses_};
    odrc::ondemand::Wireup wireup_;
    std::optional<network::Plug> plug_;
    std::deque<Word> words_;
    std::unordered_map<network::Address, std::vector<uint32_t>> heard_;
    std::unordered_map<network::Address, std::vector<uint32_t>> early_; // before their turn
    uint32_t unsaid_{0};
    uint32_t errors_{0};
    uint32_t taken_{0};
};
