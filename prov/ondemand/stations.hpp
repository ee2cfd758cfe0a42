// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/fd.hpp"
#include "ondemand/station.hpp"

#include <optional>

namespace odrc::ondemand {

// The stations of an endpoint: that of the domain's device; from the first lane on that is wanted
// there, one on soft0, if peers of this host are to be met on that beside it; and likewise one for
// lanes by datagrams, if peers that are seldom talked to are to do with those.
class Stations {
public:
    // Adapters of what there is beside the domain's device; null: nothing.
    struct Others {
        verbs::Adapter* soft;
        verbs::Adapter* datagrams;
    };

    // sleeper: who may sleep until something comes. Throws Error.
    Stations(verbs::Adapter& device, const Others& others, Counters& counters,
             const Station::Sizes& sizes, const Station::Sizes& datagram_sizes, Sleeper sleeper);

    Station& device() noexcept { return device_; }
    Station* soft() noexcept { return soft_ ? &*soft_ : nullptr; } // null: there is none yet
    Station* datagrams() noexcept { return datagrams_ ? &*datagrams_ : nullptr; } // likewise
    // Makes it, if need be. Null if it cannot be had, now and for ever.
    Station* open_soft() noexcept;
    Station* open_datagrams() noexcept;
    // Who has the same can be met on soft0. 0: nobody can.
    uint64_t node() const noexcept { return others_.soft ? others_.soft->context().node() : 0; }
    bool may_have_datagrams() const noexcept { return others_.datagrams != nullptr; }
    // The queue pair to which peers send first words that have no lane here yet. 0: there is none.
    uint32_t takes_first_words() const noexcept {
        return datagrams_ ? datagrams_->datagrams() : device_.datagrams();
    }
    // Some have come since this was last asked.
    bool called() noexcept { return datagrams_ ? datagrams_->called() : device_.called(); }

    // Of the queue pair among those of all stations.
    uint32_t name_of(const ibv_qp& qp) const noexcept {
        const auto is_of = [&](const std::optional<Station>& station) {
            return station && qp.context == station->cq()->context;
        };
        const Station& station = is_of(soft_) ? *soft_ : is_of(datagrams_) ? *datagrams_ : device_;
        return station.name_of(qp.qp_num);
    }

    // Work requests whose completions have not come.
    uint32_t under_way() const noexcept {
        return device_.under_way() + (soft_ ? soft_->under_way() : 0) +
               (datagrams_ ? datagrams_->under_way() : 0);
    }

    // As those of a station, for all of them that somebody may have to be woken for: connections by
    // datagrams need somebody who looks after them, whether the program sleeps or not.
    int fd() const noexcept { return waker_.get(); }
    void arm() noexcept;
    template <class F>
    void for_each(F&& f) {
        f(device_);
        if (soft_) f(*soft_);
        if (datagrams_) f(*datagrams_);
    }
    // Whose peers write into rings.
    RingLanes& rings() noexcept { return rings_; }
    uint64_t rnr_naks() const noexcept {
        return device_.rnr_naks() + (soft_ ? soft_->rnr_naks() : 0) +
               (datagrams_ ? datagrams_->rnr_naks() : 0);
    }

private:
    Station* open(std::optional<Station>& station, verbs::Adapter*& adapter, verbs::Adapter* memory,
                  const Station::Sizes& sizes, bool waitable, Station::Place place,
                  const char* otherwise) noexcept;
    void watch(const Station& station);

    Others others_;
    Counters& counters_;
    const Station::Sizes sizes_;
    const Station::Sizes datagram_sizes_;
    const bool waitable_;
    Fd waker_; // an epoll(7) descriptor over those of the stations; none if nobody may sleep
    RingLanes rings_;
    Station device_;
    std::optional<Station> soft_;
    std::optional<Station> datagrams_;
};

} // namespace odrc::ondemand
