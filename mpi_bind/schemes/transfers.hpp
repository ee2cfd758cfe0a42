// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "blocks.hpp"
#include "layout_cache.hpp"
#include "schemes/copy_pace.hpp"
#include "schemes/costs.hpp"
#include "schemes/experience.hpp"
#include "schemes/footprint.hpp"
#include "schemes/numbers.hpp"
#include "schemes/profile.hpp"
#include "schemes/rhythm.hpp"
#include "schemes/staging_queue.hpp"
#include "schemes/steady.hpp"
#include "schemes/transfer.hpp"
#include "schemes/wishes.hpp"

#include <deque>

namespace odrc::mpi {

// All offered messages of a process that are under way, and what they share.
class Transfers {
public:
    // sharing: processes that share the processors of this host; 0: each has one of its own.
    Transfers(Fabric& fabric, size_t sharing);

    // Whether a message is offered, or goes as it is, and what end() is to be told when it is over
    // for its sender: of many at once it is learned which of both takes longer. (Of one alone that
    // tells little, for it may still have to be unpacked.)
    struct Start {
        bool is_offered{false};
        bool is_trial{false};
        std::optional<Experience::Ticket> ticket;
    };
    Start start(const Data& data, fi_addr_t to, uint64_t tag, const WantedScheme& wanted) noexcept;
    void end(const Experience::Ticket& start, uint64_t bytes) noexcept; // 0: it has failed
    OffersRead& offers() noexcept { return offers_; }
    // A message that was not has come, for data in pieces: its sender hears of it, if it would be
    // quicker otherwise.
    void came_as_it_is(const Data& data, uint64_t bytes, fi_addr_t from, uint64_t tag,
                       const WantedScheme& wanted) noexcept;
    // One that was offered would have been as quick as it was, and so will the next ones be, until
    // it is asked again: it may have become slower.
    void leave_alone(uint64_t bytes, const Shape& shape, uint32_t messages) noexcept;
    // One that was offered goes by a scheme that its receiver tries.
    void tells_nothing(uint64_t bytes, const Shape& shape) noexcept;

    // Nanoseconds until an offer of this process is answered, where its receiver waits for it.
    uint32_t asking() const noexcept {
        constexpr double kMost = 1e9;
        return static_cast<uint32_t>(std::min(asking_, kMost));
    }
    void answered_after(double nanoseconds) noexcept;
    static double now() noexcept; // for what is learned: nanoseconds

    Fabric& fabric() noexcept { return fabric_; }
    bool overlaps() const noexcept { return sharing_ == 0; }
    // So many bytes of the data are sent or received. Where processes do not share processors,
    // nothing is made of it.
    void touched(const Data& data, uint64_t bytes) noexcept {
        if (!overlaps()) footprint_.add(data.address, bytes);
    }
    // Whether the caches hold what the messages of all who share them lie in, if others have as
    // much.
    bool are_cached() const noexcept { return sharing_ * footprint_.bytes() <= cache_; }
    // And those that do are near, as far as copies tell.
    bool are_near() const noexcept { return !pace_.is_slow(); }
    CopyPace& pace() noexcept { return pace_; }
    // Copies bytes of the data, and notes what that takes where it counts: where processes share
    // processors.
    template <class F>
    void copy(const Data& data, size_t bytes, F&& f) {
        if (overlaps()) return f();
        const double begin = now();
        f();
        pace_.copied(bytes, blocks_of(data).mean(), now() - begin, costs_.known());
    }
    Costs& costs() noexcept { return costs_; }
    void learn_costs(fi_addr_t peer, const TrialMemory& trial);
    Experience& experience() noexcept { return experience_; } // of what was offered
    // Of messages that are sent like that, and come like that from others.
    Pace pace_of(uint64_t bytes, const Shape& shape) const noexcept;
    void goes_by_generic(uint64_t bytes, const Shape& shape) noexcept;
    void came(uint64_t bytes, const Shape& shape) noexcept;
    SchemeProfile& profile() noexcept { return profile_; }
    TypeNumbers& type_numbers() noexcept { return type_numbers_; }
    KnownLayouts& known_layouts() noexcept { return known_layouts_; }
    Numbers<Outgoing>& outgoing() noexcept { return outgoing_; }
    Numbers<Incoming>& incoming() noexcept { return incoming_; }
    // Memory for segments: of what is packed, and of what is to be unpacked.
    StagingQueue& packed() noexcept { return packed_; }
    StagingQueue& unpacked() noexcept { return unpacked_; }

    // What has been written for a message that has failed: another one will have its number.
    void forget_written(uint32_t number) noexcept;
    void adopt(std::unique_ptr<Transfer> transfer);
    void wake(Transfer& transfer) noexcept;
    // Does what has become possible. Part of the process's progress.
    void go_on() noexcept {
        wishes_.listen();
        packed_.look_after_waiting();
        unpacked_.look_after_waiting();
        if (!written_.empty()) take_written();
        if (!awake_.empty()) go_on_all();
    }

private:
    size_t least_offered() const noexcept; // bytes, unless a scheme is asked for
    bool can_offer() noexcept;
    // What was last asked for: programs send and receive the same time and again.
    struct Asked {
        uint64_t bytes, out, in;
        bool are_cached, are_near;
        double gain;
        bool operator==(const Asked&) const = default;
    };
    void stop_steady() noexcept;
    // What last came as it was.
    struct Came {
        SameData data;
        uint64_t bytes{0}; // 0: what is known of it need not hold for the next one
        fi_addr_t from{};
        uint64_t tag{0};
        MessageKind kind{}, departure{}; // as it comes, and as ours go that are like it
    };
    void look_at_what_came(const Data& data, uint64_t bytes, fi_addr_t from, uint64_t tag,
                           const WantedScheme& wanted) noexcept;
    double gain(Asked& last, const Shape& sender, const Shape& receiver, uint64_t bytes) noexcept;
    void go_on_all() noexcept;
    void remove(Transfer& transfer) noexcept;
    static void on_written(uint64_t bits) noexcept;
    void take_written() noexcept;

    Fabric& fabric_;
    const size_t sharing_;
    const size_t cache_; // bytes
    Footprint footprint_;
    CopyPace pace_;
    Costs costs_;
    Experience experience_;
    Experience departures_;
    Rhythm rhythm_;
    Steady steady_;
    double asking_{0};
    SchemeProfile profile_;
    Wishes wishes_;
    Asked sending_{}, receiving_{};
    Came came_{};
    OffersRead offers_;
    TypeNumbers type_numbers_;
    KnownLayouts known_layouts_;
    Numbers<Outgoing> outgoing_;
    Numbers<Incoming> incoming_;
    StagingQueue packed_;
    StagingQueue unpacked_;
    std::deque<uint64_t> written_; // bits, as they come
    std::vector<Transfer*> awake_;
    std::vector<Transfer*> going_on_;
};

} // namespace odrc::mpi
