// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/fd.hpp"
#include "ondemand/station.hpp"

#include <optional>

namespace odrc::ondemand {

// The stations of an endpoint: that of the domain's device; and, if peers of this host are to be
// met on soft0 beside it, one there, from the first lane on that is wanted.
class Stations {
public:
    // soft: null if there is to be none. Throws Error.
    Stations(verbs::Adapter& device, verbs::Adapter* soft, Counters& counters,
             const Station::Sizes& sizes, bool waitable);

    Station& device() noexcept { return device_; }
    Station* soft() noexcept { return soft_ ? &*soft_ : nullptr; } // null: there is none yet
    // Makes it, if need be. Null if it cannot be had, now and for ever.
    Station* open_soft() noexcept;
    // Who has the same can be met on soft0. 0: nobody can.
    uint64_t node() const noexcept { return soft_adapter_ ? soft_adapter_->context().node() : 0; }

    // Of the queue pair among those of all stations.
    uint32_t name_of(const ibv_qp& qp) const noexcept {
        const Station& station = soft_ && qp.context == soft_->cq()->context ? *soft_ : device_;
        return station.name_of(qp.qp_num);
    }

    // Work requests whose completions have not come.
    uint32_t under_way() const noexcept {
        return device_.under_way() + (soft_ ? soft_->under_way() : 0);
    }

    // As those of a station, for all of them.
    int fd() const noexcept { return waker_.get(); }
    void arm() noexcept;
    template <class F>
    void for_each(F&& f) {
        f(device_);
        if (soft_) f(*soft_);
    }
    // Whose peers write into rings.
    RingLanes& rings() noexcept { return rings_; }
    // soft0 beside the device keeps its connections itself.
    verbs::PacketCounts packets() const noexcept { return device_.packets(); }
    uint64_t rnr_naks() const noexcept {
        return device_.rnr_naks() + (soft_ ? soft_->rnr_naks() : 0);
    }

private:
    void watch(const Station& station);

    verbs::Adapter* soft_adapter_;
    Counters& counters_;
    const Station::Sizes sizes_;
    Fd waker_; // an epoll(7) descriptor over those of the stations; none if nobody may sleep
    RingLanes rings_;
    Station device_;
    std::optional<Station> soft_;
};

} // namespace odrc::ondemand
