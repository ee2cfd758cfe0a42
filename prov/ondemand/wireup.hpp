// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/counters.hpp"
#include "ondemand/peer_table.hpp"
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
//
// Every datagram that expects an answer is sent again, ever more slowly, until there is one or
// time is up.
class Wireup {
public:
    struct Queues {
        ibv_cq* cq;
        ibv_srq* srq;
        verbs::PostList& posting;
        CompletionBudget& budget;
        uint32_t segments; // of a work request
    };

    // wants_events: peers are to tell of what they read and write. Throws Error.
    Wireup(verbs::Adapter& adapter, PeerTable& peers, Counters& counters, const Queues& queues,
           const Address& wanted, bool wants_events);

    const Address& address() const noexcept { return socket_.address(); }
    int fd() const noexcept { return socket_.fd(); }

    // Begins a connection where there is none. 0 or a positive fi_errno.
    int connect(Peer& peer) noexcept;

    // Some wireup waits for an answer.
    bool active() const noexcept { return !wiring_.empty(); }

    // Takes in all datagrams that have come, and sends again what has waited long enough.
    void serve() noexcept;
    // When serve() is due even if nothing comes.
    Time deadline() const noexcept;

    // A frame came over the peer's lane: its side is connected.
    void heard_from(Peer& peer) noexcept {
        if (peer.link == Link::accepted) [[unlikely]]
            become_ready(peer);
    }

    // The next peer that became ready, or lost its link or its wireup (then with an error).
    Peer* take_changed() noexcept { return changed_.pop_front(); }

    // Ends the peer's link, because of error.
    void drop(Peer& peer, int error) noexcept;
    // Ends all links and tells the peers.
    void say_goodbye() noexcept;

    // A failed lane has more of its completions behind it, and goes when it has them all.
    void retire(Lane& lane, uint16_t position) noexcept;
    bool lanes_dying() const noexcept { return !dying_.empty(); }

private:
    // wireup.cpp
    void handle(const Address& from, const WireupMessage& message) noexcept;
    void on_request(Peer& peer, const WireupMessage& message) noexcept;
    void on_accept(Peer& peer, const WireupMessage& message) noexcept;
    void on_refuse(Peer& peer, const WireupMessage& message) noexcept;
    void on_goodbye(Peer& peer, const WireupMessage& message) noexcept;
    void on_nobody_there(Peer& peer) noexcept;
    void await_answer(Peer& peer) noexcept;
    void send_again(Peer& peer, Time now) noexcept;
    void give_up(Peer& peer, int error) noexcept;
    void send(WireupType type, const Peer& peer, uint32_t reason = 0) noexcept;
    void refuse(const Peer& peer, const WireupMessage& request, int reason) noexcept;

    // wireup_link.cpp
    int make_lane(Peer& peer) noexcept;
    int connect_lane(Peer& peer, const verbs::QpAddress& remote, bool wants_events) noexcept;
    void become_ready(Peer& peer) noexcept;
    void forget_lane(Peer& peer) noexcept;
    void mark_changed(Peer& peer) noexcept;

    verbs::Adapter& adapter_;
    PeerTable& peers_;
    Counters& counters_;
    const Queues queues_;
    WireupSocket socket_;
    const uint64_t endpoint_;
    const bool wants_events_;
    uint32_t attempts_{0};
    List<Peer, Wiring> wiring_;
    List<Peer, Changed> changed_;
    std::vector<std::unique_ptr<Lane>> dying_;
};

} // namespace odrc::ondemand
