// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/clock.hpp"
#include "base/list.hpp"
#include "base/sequence.hpp"
#include "ondemand/address.hpp"
#include "ondemand/lane.hpp"
#include "srq/window.hpp"

#include <memory>
#include <rdma/fabric.h>

namespace odrc::ondemand {

// What may have to wait until its peer's lane is there and has room. The transfer room knows what
// it is and posts it.
enum class JobKind : uint8_t {
    send,  // a frame goes out
    fetch, // a message is read from its sender's memory
    rma,   // the peer's memory is read or written
};
struct Job : ListNode<> {
    explicit Job(JobKind k) noexcept
        : kind{k} {}
    const JobKind kind;
    bool urgent{false};   // the end of another operation, of either side: goes before all others
    bool fenced{false};   // goes out when all that went before is over (FI_FENCE)
    bool more{false};     // another follows at once (FI_MORE): it may go in one call with that
    bool out{false};      // some of it has gone out
    bool awaiting{false}; // it is not over until the peer says so
};

// How far the connection to a peer has come.
enum class Link : uint8_t {
    none,      // nothing was asked for, or it waits in line for a queue pair
    requested, // our request is out; the queue pair waits in INIT, unless the peer is called
    accepted,  // our queue pair is connected; whether the peer's is, we do not know yet
    laid,      // the same, by the addresses alone, and nothing has gone over it
    tried,     // likewise, and a probe is to find out
    ready,     // both are
    leaving,   // both are, and we have asked the peer to give the connection up
};
// How far the connection has come that is to take the place of the lane by datagrams, which goes on
// carrying meanwhile (wireup_promotion.cpp).
enum class Promotion : uint8_t {
    none,      // there is one lane, whichever it is
    wanted,    // it waits in line for a queue pair
    requested, // our request is out; the queue pair waits in INIT
    accepted,  // our queue pair is connected; whether the peer's is, we do not know yet
    agreed,    // both are: we go over to it as soon as nothing is under way by datagrams
    done,      // it carries, and the lane by datagrams is quiet
};

// Over which device its lanes go (wireup_way.cpp).
enum class Way : uint8_t {
    open,   // nobody has asked
    soft,   // soft0, beside the domain's
    device, // the domain's
};

// Something may have come over the second lane.
constexpr bool is_connected(Promotion promotion) noexcept {
    return promotion >= Promotion::accepted;
}

// Our queue pair is connected, and the peer's may not be.
constexpr bool in_doubt(Link link) noexcept {
    return link == Link::accepted || link == Link::laid || link == Link::tried;
}

// The attempt of either side, and its losses, of a lane that was laid by the addresses. Attempts of
// the wireup are counted up from there.
inline constexpr uint32_t kLaidAttempt = 1;

// What a frame is in the order of its session, by its number.
enum class Turn : uint8_t { next, repeated, early };

struct Changed {}; // a list of peers whose link has changed
struct Stand {};   // where the peer stands in the wireup: in line, under way, or connected
struct Blocked {}; // a list of peers whose jobs wait for room

// A remote endpoint, known because the application named it to send or receive, or because it
// connected to us.
struct Peer : ListNode<Changed>, ListNode<Stand>, ListNode<Blocked> {
    explicit Peer(const Address& a) noexcept
        : address{a} {}

    const Address address;
    Link link{Link::none};
    Way way{Way::open};
    Promotion promotion{Promotion::none};
    bool begins_by_datagrams : 1 {false}; // its first lane goes by them
    bool needs_no_datagrams : 1 {false};  // it has none, or has earned a connection for good
    bool called : 1 {false};  // first words go to it before it has answered (wireup_called.cpp)
    uint8_t tries{0};         // datagrams sent for the current step
    uint8_t refusals{0};      // how often there was nobody at the address since it was heard from
    bool wanted{false};       // by us: it is not only the peer's wish
    bool crossed : 1 {false}; // both have begun the wireup
    bool told_to_wait : 1 {false}; // the peer has no queue pair for us yet
    bool stall_told : 1 {false};   // in the log
    bool silent : 1 {false};       // it has been asked often, and has not answered
    uint8_t stall{0};              // its place on the page of statistics, if it has one
    bool renewed{false};   // the peer began a new session: what awaits answers will get none
    bool broken{false};    // its last lane is over, and not all of its completions have come
    bool replacing{false}; // its last lane broke, and no other has come in its place
    bool asked{false};     // meanwhile the peer has asked for one
    bool carried{false};   // that one had carried something
    bool closed{false};    // the peer has, and what its last lane carried has not all come back
    uint8_t breaks{0};     // lanes in a row that broke without having carried anything
    bool stumbled{false};  // its last lane broke over the first that it was to carry
    int error{0};          // why the last wireup failed; a fi_errno value, for the jobs that waited
    uint32_t attempt{0};   // ours, of the current link; 0 before the first
    uint32_t remote_attempt{0};
    uint32_t promotion_attempt{0}; // the same, of the second lane
    uint32_t remote_promotion_attempt{0};
    uint64_t remote_endpoint{0};
    uint64_t ticket{0}; // for requests, of the peer's making; 0: we have none
    // Of each side a number that changes when it gives operations up for lost; 0: none yet, or,
    // of the peer, not known. In between, connections come and go, and operations await their
    // answers.
    uint32_t own_losses{0};
    uint32_t remote_losses{0};
    uint32_t session{1}; // counts both: from one loss, of either side, to the next
    // Frames are numbered from the beginning of the session, whatever lanes they take.
    uint32_t sent{0};            // the number of the next one out
    uint32_t received{0};        // the number of the next one in
    uint32_t received_before{0}; // the same, of the session before
    uint32_t taken{0};           // how many of ours the peer has, as it said last: at the least.
                                 // Of the session before, until it says so of this one
    // Of these, such as went and came by rings, since a lane took the place of one that broke.
    uint32_t sent_by_ring{0};
    uint32_t received_by_ring{0};
    srq::SendWindow window_out{};     // what the peer takes of us
    srq::ReceiveWindow window_in{};   // and we of it
    uint16_t heard_in{0};             // the round of Shares in which its last frame came
    uint16_t asked_at{0};             // asked_round's first time: milliseconds, their lower bits
    uint32_t leave_round{0};          // how often we have asked the peer to leave
    uint32_t refused_round{0};        // the last time that it asked us in vain
    uint32_t asked_round{0};          // the last time that it asked us too early
    Time began{};                     // of the wireup, or of the leave
    Time since{};                     // where it stands
    Time heard{};                     // from the peer in this step, or its beginning
    Time retransmit_at{};             // of its next datagram
    std::chrono::milliseconds wait{}; // for an answer to the last one

    std::unique_ptr<Lane> lane;   // takes what goes out; from requested on
    std::unique_ptr<Lane> second; // what comes in may take it, too: see Promotion
    List<Job> repeats;            // have gone out over lanes that broke, and go first over the next
    List<Job> left;               // of those, while a lane ends that broke before their turn came
    List<Job> jobs;               // wait for the lane, in order
    List<Job> unanswered;         // have gone out, and are not over until the peer says so

    // The number under which the application knows the peer, looked up again when its address
    // vector has changed.
    fi_addr_t fi_addr{FI_ADDR_NOTAVAIL};
    fi_addr_t id{FI_ADDR_NOTAVAIL}; // what completions name it by
    uint64_t fi_addr_generation{0};

    uint32_t under_way{0};       // jobs that have gone out and are not over
    uint32_t atomics{0};         // of the unanswered ones
    uint16_t lanes{0};           // with those that are about to end
    uint16_t early{0};           // frames that wait on its lanes for their turn
    uint8_t breaking{0};         // of these, whose end is waited for
    bool stranger{true};         // the program has not named it, and it has never been connected
    bool met{false};             // counted among the peers
    bool wants_events{false};    // to be told of what we read and write there (FI_RMA_EVENT)
    bool stayed{false};          // when it was asked to leave
    bool deep{false};            // its lanes are to have the full depth
    bool has_little_room{false}; // for messages that come before their receives
    bool stopped{false};         // something waits until the peer takes more
    bool stopped_then{false};    // it did already when the watchdog looked
    uint8_t deepenings{0};       // how often one was to give way to a deeper one
    uint16_t crowded{0};         // how often its lane was full since

    bool ready() const noexcept { return link == Link::ready; }
    // Frames may go to it.
    bool listens() const noexcept { return ready() || called; }
    // What goes next goes over no lane by datagrams: it reads or writes memory.
    bool needs_connection() const noexcept {
        return !jobs.empty() && jobs.front()->kind != JobKind::send;
    }
    // Over which it is told what is no part of the session's order. The lane that everything else
    // takes is to become idle, while we are about to go over to the other.
    Lane& lane_for_words() const noexcept {
        return promotion == Promotion::agreed ? *second : *lane;
    }
    // The one that the device keeps, while there are two.
    Lane& connection() const noexcept { return promotion == Promotion::done ? *lane : *second; }
    // It has a queue pair of its own, and takes part in who has them.
    bool connected() const noexcept {
        return (ready() || link == Link::leaving) && !lane->by_datagrams();
    }
    // Nothing has been lost since then.
    bool in_session(uint32_t which) const noexcept { return session == which; }
    void begin() noexcept {
        began = Clock::now();
        stall_told = false;
    }
    void begin_session() noexcept {
        ++session;
        received_before = received;
        sent = received = 0;
        sent_by_ring = received_by_ring = 0;
        window_out = {};
        window_in = {};
        has_little_room = false;
    }
    bool nothing_waits() const noexcept { return jobs.empty() && repeats.empty() && left.empty(); }

    // Windows count without what goes by rings, which takes no receive.
    uint32_t received_in_window() const noexcept { return received - received_by_ring; }
    bool window_is_open_to(uint32_t sequence) const noexcept {
        return window_out.is_open(sequence - sent_by_ring);
    }
    bool window_is_open() const noexcept { return window_is_open_to(sent); }

    // A frame has gone out: unless it is one that is repeated, the next one has the next number.
    void frame_sent(uint32_t sequence) noexcept { sent += sequence == sent; }
    // A frame has come in over a lane of that session.
    Turn take_frame(uint32_t which, uint32_t sequence) noexcept {
        if (session - which > 1) return Turn::repeated; // whoever sent it has given it up long ago
        uint32_t& next = in_session(which) ? received : received_before;
        if (sequence == next) {
            ++next;
            return Turn::next;
        }
        return is_before(sequence, next) ? Turn::repeated : Turn::early;
    }

    // Nothing was ever said between us.
    bool unknown() const noexcept { return attempt == 0 && remote_attempt == 0 && !standing(); }
    bool standing() const noexcept { return static_cast<const ListNode<Stand>&>(*this).linked(); }
    // Nothing leans on it, nor will before it is met anew. Operations and messages do on those
    // alone that are no strangers.
    bool forgettable() const noexcept {
        return stranger && link == Link::none && lanes == 0 && jobs.empty() && !standing() &&
               !static_cast<const ListNode<Changed>&>(*this).linked();
    }

    void went_out(Job& job) noexcept {
        if (job.out) return;
        job.out = true;
        ++under_way;
    }
    void over(const Job& job) noexcept {
        if (job.out) --under_way;
    }
    bool may_go(const Job& job) const noexcept { return !job.fenced || job.out || under_way == 0; }
};
static_assert(sizeof(Peer) <= 376);

} // namespace odrc::ondemand
