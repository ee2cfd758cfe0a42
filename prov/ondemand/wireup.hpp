// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/log.hpp"
#include "base/parameters.hpp"
#include "base/statistics_page.hpp"
#include "ondemand/connect_rule.hpp"
#include "ondemand/pace.hpp"
#include "ondemand/peer_table.hpp"
#include "ondemand/queues_in_wait.hpp"
#include "ondemand/spare_queues.hpp"
#include "ondemand/stations.hpp"
#include "ondemand/tickets.hpp"
#include "ondemand/wireup_message.hpp"
#include "ondemand/wireup_socket.hpp"

namespace odrc::ondemand {

// Makes and ends the connections of one endpoint. Either side may begin, or both at once: a
// request carries all that the other side needs, so two requests that cross are each other's
// answer, and make one connection.
//
//   none ──connect──▶ requested ──accept──▶ ready        we began
//   none ──request──▶ accepted ──confirm or a frame──▶ ready   the peer began
//   requested ──request──▶ accepted ──accept──▶ ready    both began
//   requested ──elsewhere──▶ requested                   over the device instead of soft0
//   requested, and called ──a frame──▶                   with no round trip before it
//   none ──named──▶ laid ──first word──▶ tried ──probe or frame──▶ ready   by addresses alone
//   ready ──no room──▶ leaving ──left──▶ none            for another's sake
//   ready ──too shallow──▶ leaving                       the next one is deeper
//   leaving ──stay──▶ ready                              the peer has something for us
//   ready ──it broke──▶ none                             what was on its way goes over the next
//
// Where peers begin with a lane by datagrams, there is a second such exchange while that is ready
// (wireup_promotion.cpp).
//
// A request of which the other side is to know that it is ours is answered by a ticket first, and
// made again (wireup_strangers.cpp).
//
// Every datagram that expects an answer is sent again, ever more slowly, until there is one or
// time is up.
//
// There are never more queue pairs than the endpoint may have. Who wants one then stands in line,
// and a peer with whom nothing is under way is asked to leave (wireup_room.cpp).
class Wireup {
public:
    struct Queues {
        Stations& stations;
        verbs::PostList& posting;
        srq::BufferPool& copies;
        uint32_t segments;   // of a work request
        uint32_t most_lanes; // at a time, with those that are ending and those that are spare
        int access;          // of peers (IBV_ACCESS_*)
        uint32_t at_once;    // lanes that are connections at once; more begin by datagrams
    };

    // wants_events: peers are to tell of what they read and write. Throws Error.
    Wireup(PeerTable& peers, StatisticsPage& statistics, const Queues& queues,
           const Address& wanted, const Seal& seal, bool wants_events);

    const Address& address() const noexcept { return socket_.address(); }
    int fd() const noexcept { return socket_.fd(); }

    // Opens what takes datagrams, if some peers of such a job are to begin by them. Before anything
    // else.
    void expect_datagrams(const PlaceInJob& place) noexcept;
    // Creates a queue pair for each process of the job, if that is what is wanted or, where it is
    // left open, what seems best (connect_rule.hpp). Before anything else; once.
    // lists: the peers get to know all of them, even if our address has not the room.
    void prepare(Connect wish, const PlaceInJob& place, bool lists) noexcept;
    // The address with all that peers need to connect by it.
    NativeAddress native_address() const noexcept;
    // The same for all that our address has no room for. Throws std::bad_alloc.
    RangeList range_list() const;
    // The application has named a peer: a lane is laid to it, where both addresses have a queue
    // pair for it, or both lists, if it has one.
    void introduce(const NativeAddress& address, const RangeList* list = nullptr) noexcept;

    // Begins a connection where there is none, or has the peer wait for one in line.
    void connect(Peer& peer) noexcept;
    // There is no room on the peer's lane for what is to go next. One that is full often gives way
    // to a deeper one, as soon as it is idle; until then it takes nothing more. One by datagrams
    // gives way to a connection.
    void crowd(Peer& peer) noexcept;
    // The peer is to have a connection beside its lane by datagrams, if that is all it has.
    void promote(Peer& peer) noexcept;

    // Some wireup waits for an answer, for room, or for the end of a lane that broke.
    bool active() const noexcept { return !wiring_.empty() || in_line() + breaking_ > 0; }

    // Takes in datagrams that have come, and sends again what has waited long enough. False if
    // there may be more of them: so many are taken at a time that other work goes on.
    bool serve() noexcept;
    // Somebody can leave or has left, or a lane that broke is over, as soon as the completions are
    // taken that are there: they may be all that keeps a lane from being idle, while the program
    // does not look for them.
    bool wants_completions() noexcept {
        return std::exchange(asked_too_early_, false) ||
               in_line() + breaking_ + count(Link::tried) > 0;
    }
    // A peer has something to send, and waits until what it has sent is taken in.
    bool take_nudge() noexcept { return std::exchange(nudged_, false); }
    // When serve() is due even if nothing comes: for a wireup's sake, and to make a queue pair for
    // whoever comes next.
    Time deadline() const noexcept;
    Time spare_due() const noexcept { return has_room_for_spare() ? spares_.due() : kNever; }

    // A frame came over the lane, or a probe arrived: the peer's side is connected.
    void heard_from(Lane& lane) noexcept {
        Peer& peer = lane.peer();
        if (in_doubt(peer.link) && peer.lane.get() == &lane) [[unlikely]]
            become_ready(peer);
        if (peer.promotion == Promotion::accepted && peer.second.get() == &lane) [[unlikely]]
            agree(peer);
    }
    // A lane that was laid or called and led nowhere gives way to the wireup. False for any other.
    bool fall_back(Lane& lane) noexcept;

    // The next peer that became ready, lost its link, its wireup or its session; or null.
    bool any_changed() const noexcept { return !changed_.empty(); }
    Peer* take_changed() noexcept { return changed_.pop_front(); }

    // Ends the peer's link and the session, because of error.
    void drop(Peer& peer, int error) noexcept;
    // The peer's link broke. Another one takes its place, unless too many have broken already.
    void replace(Peer& peer) noexcept;
    // Ends all links and tells the peers.
    void say_goodbye() noexcept;

    // Something waits until the peer lets more come: it shall look whether it can.
    void nudge(Peer& peer) noexcept { send(WireupType::nudge, peer); }

    // A completion was polled. A failed lane has more behind it, and goes when it has them all.
    void retire(Lane& lane, uint16_t position, bool done) noexcept {
        lane.retire(position);
        if (lane.attended()) [[unlikely]]
            attend(lane, done);
    }
    // All lanes of the peer's, with those that are about to end.
    template <class F>
    void for_each_lane(const Peer& peer, F&& f) const {
        if (peer.lane) f(*peer.lane);
        if (peer.second) f(*peer.second);
        for (const auto& lane : dying_)
            if (&lane->peer() == &peer) f(*lane);
    }
    // What waited on lanes of the peer's for its turn has had it: they may be over.
    void lay_to_rest(const Peer& peer) noexcept;

    // Something was begun here that nobody looks after yet if the program does not come by.
    bool needs_watchdog() noexcept { return std::exchange(begun_, false); }

private:
    // wireup.cpp
    void handle(Peer* peer, const Address& from, const WireupMessage& message) noexcept;
    void on_request(Peer& peer, const WireupMessage& message) noexcept;
    void on_accept(Peer& peer, const WireupMessage& message) noexcept;
    void on_confirm(Peer& peer, const WireupMessage& message) noexcept;
    void on_nudge(const Peer& peer, const WireupMessage& message) noexcept;
    void on_refuse(Peer& peer, const WireupMessage& message) noexcept;
    void on_goodbye(Peer& peer, const WireupMessage& message) noexcept;
    void on_nobody_there(Peer& peer) noexcept;
    bool begin(Peer& peer) noexcept;
    void ask(Peer& peer) noexcept;
    void greet(Peer& peer, const WireupMessage& message) noexcept;

    // wireup_laid.cpp
    Choice make_beforehand(Connect wish, const PlaceInJob& place, bool lists);
    bool lay(Peer& peer, verbs::QueuePair&& qp, const NativeAddress& address,
             uint32_t remote_qpn) noexcept;
    void try_out(Peer& peer) noexcept;
    void give_up_laid(Peer& peer) noexcept;
    void lift(Peer& peer) noexcept;
    bool take_back_waiting() noexcept;

    // wireup_called.cpp
    bool call(Peer& peer) noexcept;
    bool leads_elsewhere(Peer& peer, const WireupMessage& message) noexcept;
    void call_off(Peer& peer) noexcept;

    // wireup_way.cpp
    bool may_be_met_on_soft(const Peer& peer) const noexcept;
    Station& station_for(Peer& peer) noexcept;
    uint64_t node_of(const Lane& lane) const noexcept {
        return lane.station().beside() ? queues_.stations.node() : 0;
    }
    bool goes_that_way(Peer& peer, const WireupMessage& request) noexcept;
    void on_elsewhere(Peer& peer, const WireupMessage& message) noexcept;
    bool turns_to_device(Peer& peer, int error) noexcept;
    void begin_anew(Peer& peer) noexcept;
    bool is_met_on_soft(const NativeAddress& peer) const noexcept;

    // wireup_promotion.cpp
    bool may_begin_by_datagrams(const Peer& peer) const noexcept;
    int make_second(Peer& peer) noexcept;
    bool begin_promotion(Peer& peer) noexcept;
    void agree(Peer& peer) noexcept;
    void go_over(Peer& peer) noexcept;
    void demote(Peer& peer) noexcept;
    void look_for_idle(Time now) noexcept;
    void give_up_promotion(Peer& peer, int error) noexcept;
    void forget_second(Peer& peer) noexcept;
    void set_promotion(Peer& peer, Promotion promotion) noexcept;
    void attend(Lane& lane, bool done) noexcept;
    bool is_of_promotion(const Peer& peer, const WireupMessage& message) const noexcept;
    void on_promote(Peer& peer, const WireupMessage& message) noexcept;
    void on_promoted(Peer& peer, const WireupMessage& message) noexcept;
    void on_seen(Peer& peer, const WireupMessage& message) noexcept;

    // wireup_talk.cpp
    bool empty_socket() noexcept; // false: there may be more in it
    void await_answer(Peer& peer, std::chrono::milliseconds first) noexcept;
    void send_again(Peer& peer, Time now) noexcept;
    void late(Peer& peer, Time now) noexcept;
    void tell_of_stall(Peer& peer, Time now) noexcept;
    void show_stall(Peer& peer) noexcept;
    void end_stall(Peer& peer) noexcept;
    void give_up(Peer& peer, int error) noexcept;
    void send(WireupType type, Peer& peer, uint32_t reason = 0) noexcept;
    void open_window(Peer& peer) noexcept;
    void answer(WireupType type, const Address& to, const WireupMessage& message,
                uint32_t reason = 0) noexcept;
    void answer(WireupType type, const Peer& peer, const WireupMessage& message,
                uint32_t reason = 0) noexcept {
        answer(type, peer.address, message, reason);
    }
    void send(const Address& to, const WireupMessage& message) noexcept;

    // wireup_strangers.cpp
    enum class Refusal : uint8_t { nonsense, seal, not_meant }; // of a datagram, and why
    void take(const WireupSocket::Arrival& arrival) noexcept;
    bool believes(const Address& from, const WireupMessage& request) const noexcept;
    void give_ticket(const Address& from, const WireupMessage& request) noexcept;
    void on_ticket(Peer& peer, const WireupMessage& message) noexcept;
    Peer* meet(const Address& from) noexcept;
    void refuse(const Address& from, Refusal why) noexcept;
    // Of what a wireup fails at. Strangers can fail as often as they like.
    static fi_log_level level_for(const Peer& peer) noexcept {
        return peer.stranger ? FI_LOG_INFO : FI_LOG_WARN;
    }

    // wireup_room.cpp
    // Who stands in line for a lane by datagrams does not.
    static bool takes_queue_pair(const Peer& peer) noexcept {
        return peer.ready() || !peer.begins_by_datagrams;
    }
    void stand_in_line(Peer& peer) noexcept;
    void serve_line() noexcept;
    bool ask_to_leave() noexcept;
    Peer* idle_peer() noexcept;
    bool make_way_for(const WireupMessage& request) noexcept;
    bool has_room() noexcept;
    bool make_do(int error) noexcept;
    bool may_ask() const noexcept;
    uint64_t& departures(const Peer& peer) noexcept;
    void leave(Peer& peer) noexcept;
    void part(Peer& peer) noexcept;
    bool is_of_link(const Peer& peer, const WireupMessage& message) const noexcept;
    void on_wait(Peer& peer, const WireupMessage& message) noexcept;
    void on_leave(Peer& peer, const WireupMessage& message) noexcept;
    void on_stay(Peer& peer, const WireupMessage& message) noexcept;
    void on_left(Peer& peer, const WireupMessage& message) noexcept;

    // wireup_link.cpp
    verbs::QueuePair make_queue_pair(Station& station, bool deep);
    int make_lane(Peer& peer) noexcept;
    bool has_room_for_spare() const noexcept { return lanes_ + spares_.count() < most_lanes_; }
    bool is_of_our_kind(const Peer& peer, const WireupMessage& m) const noexcept;
    int connect_lane(Lane& lane, const verbs::QpAddress& remote) noexcept;
    void count_lane(const Lane& lane) noexcept {
        ++(lane.by_datagrams() ? datagram_lanes_ : lanes_);
    }
    void discount_lane(const Lane& lane) noexcept {
        --(lane.by_datagrams() ? datagram_lanes_ : lanes_);
    }
    void discard(std::unique_ptr<Lane>& lane, bool connected) noexcept;
    void become_ready(Peer& peer) noexcept;
    void set_link(Peer& peer, Link link) noexcept;
    void stand_on(List<Peer, Stand>& list, Peer& peer) noexcept;
    void stand_down(Peer& peer) noexcept;
    void forget_lane(Peer& peer) noexcept;
    void step_aside(Peer& peer) noexcept;
    void end(Peer& peer) noexcept;
    void break_off(Peer& peer) noexcept;
    void broke_off(Peer& peer, bool tried) noexcept;
    void bury(Lane& lane, bool done) noexcept;
    bool may_rest(const Lane& lane) const noexcept;
    void rest(Lane& lane) noexcept;
    void mark_changed(Peer& peer) noexcept;

    uint64_t in_line() const noexcept { return counters_.connections_waiting; }
    uint32_t count(Link link) const noexcept { return links_[static_cast<size_t>(link)]; }

    verbs::Adapter& adapter_;
    PeerTable& peers_;
    StatisticsPage& statistics_;
    Counters& counters_{statistics_.counters};
    const Queues queues_;
    WireupSocket socket_;
    const uint64_t endpoint_;
    const Seal seal_;
    Tickets tickets_;
    const bool wants_events_;
    uint32_t attempts_{kLaidAttempt};
    QueuesInWait waiting_; // for the processes of the job
    SpareQueues spares_;   // for whoever comes next
    // A peer stands on one of these, or on none.
    List<Peer, Stand> line_;      // wants a queue pair and has none
    List<Peer, Stand> wiring_;    // its wireup waits for an answer
    List<Peer, Stand> connected_; // in the order in which they came
    List<Peer, Stand> laid_;      // by addresses alone, and never used
    Peer* hand_{nullptr};         // of those, the one that may be asked to leave next
    bool asked_too_early_{false}; // to leave, with something under way
    bool nudged_{false};
    bool begun_{false};
    uint32_t breaking_{0};       // peers whose last lane is not over, and who wait for that
    uint32_t lanes_{0};          // that take a queue pair each
    uint32_t datagram_lanes_{0}; // and others
    Time idle_at_{kNever};       // it is looked who does not use the connection it has earned
    uint32_t promoting_{0}; // peers that have been asked for a second one, and have not answered
    uint32_t most_lanes_{queues_.most_lanes}; // fewer, where the device has no more
    Time more_at_{};                          // it may have again
    Pace pace_;
    uint32_t silent_{0};              // of those that are asked
    std::array<uint32_t, 7> links_{}; // peers, by their link; none is not counted
    List<Peer, Changed> changed_;
    std::vector<std::unique_ptr<Lane>> dying_;
    std::array<Time, 3> tell_refusal_at_{}; // in the log, again
};

} // namespace odrc::ondemand
