// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/parameters.hpp"
#include "base/pool.hpp"
#include "ondemand/peer.hpp"
#include "transfer/collective_group.hpp"
#include "transfer/completion_sink.hpp"
#include "verbs_rc/device.hpp"

#include <sys/types.h>

namespace odrc::transfer {

// The one that FI_ODRC_BROADCAST names, if it does.
Tree tree_of_environment(Tree otherwise) noexcept;

using ondemand::Peer;

class Collectives;
class Engine;

struct MulticastArguments {
    fi_addr_t group;
    const void* data;
    size_t length;
    void* context;
    bool wanted;  // its completion
    bool ordered; // FI_ODRC_ORDERED
};

// Messages from one member of a group to all others. They go in packets along a tree that has the
// sender at its root (multicast_tree.hpp), as far as all members let them come
// (multicast_credit.hpp). Whoever makes an endpoint's progress passes packets on, from the receive
// buffers that they came in.
//
// Lanes keep what goes over them in order, and a tree has one way to each member: so the packets of
// a root come in the order in which they went out, and need no numbers.
//
// Calls are made inside the endpoint's gate.
class Multicast {
public:
    using Groups = std::unordered_map<uint32_t, std::unique_ptr<CollectiveGroup>>;
    struct Settings {
        CompletionSink* completions; // null: nobody wants to know
        size_t size;                 // messages at a time
    };

    // The engine comes to call this from now on: it ends first.
    Multicast(Engine& engine, const verbs::Port& port, Groups& groups, Collectives& collectives,
              const Settings& settings) noexcept;

    // ---- messages for which nobody posts a receive (multicast_messages.cpp) ----
    // 0 or a negative fi_errno; -FI_EAGAIN: later, after progress.
    ssize_t send(const MulticastArguments& arguments) noexcept;
    // 1 and the next one, 0, or a negative fi_errno.
    ssize_t receive(fi_addr_t group, IncomingMulticast*& message) noexcept;
    void release(fi_addr_t group, IncomingMulticast& message) noexcept;
    fi_addr_t source_of(const IncomingMulticast& message, fi_addr_t group) noexcept;

    // ---- broadcasts (multicast_broadcast.cpp) ----
    // Those of that size go by packets. If not, they go by messages (collective_schedule.hpp).
    static bool takes(const Collective& what) noexcept;
    void begin(CollectiveOperation& op) noexcept;

    // ---- from the engine ----
    void on_frame(Peer& peer, const wire::Frame& frame) noexcept;
    void sent(Parcel& parcel, int error) noexcept;
    // A word that cannot be said twice.
    void lose_word(const Parcel& parcel, int error) noexcept;
    // A peer is lost, and with it what it may have sent.
    void lose(const Peer& peer, int error) noexcept;
    // Calls f(member) for those on whom something waits here. Gives whether there are any.
    template <class F>
    bool for_each_awaited(F&& f) noexcept;

    // The member is about to leave.
    void leave(CollectiveGroup& group) noexcept;

private:
    // multicast.cpp
    CollectiveGroup* find_group(uint64_t number) noexcept;
    CollectiveGroup* find_by_address(fi_addr_t address) noexcept;
    Stream* stream_of(CollectiveGroup& group, Tree tree, uint32_t root) noexcept;
    void on_packet(CollectiveGroup& group, const Peer& peer, const wire::Frame& frame) noexcept;
    bool is_in_order(CollectiveGroup& group, const Stream& stream, const Peer& peer,
                     const wire::Multicast& what, size_t bytes) const noexcept;
    void refuse(CollectiveGroup& group, const Peer& peer) noexcept;
    bool pass_on(CollectiveGroup& group, const Stream& stream, Parcel& parcel) noexcept;
    void on_credit(CollectiveGroup& group, const Peer& peer, const wire::Multicast& what) noexcept;
    void tell_credit(CollectiveGroup& group, Stream& stream) noexcept;

    // multicast_root.cpp
    void put(CollectiveGroup& group, Stream& stream, OutgoingMulticast& message) noexcept;
    void pump(CollectiveGroup& group, Stream& stream) noexcept;
    int put_packet(CollectiveGroup& group, Stream& stream, OutgoingMulticast& message,
                   size_t bytes) noexcept;
    void end_if_over(OutgoingMulticast& message) noexcept;
    void complete(const OutgoingMulticast& message) noexcept;

    // multicast_incoming.cpp
    IncomingMulticast* begin_incoming(CollectiveGroup& group, Stream& stream,
                                      const wire::Multicast& what) noexcept;
    bool take_in(IncomingMulticast& message, std::span<const std::byte> bytes,
                 Parcel* parcel) noexcept;
    bool keep(IncomingMulticast& message, std::span<const std::byte> bytes,
              Parcel* parcel) noexcept;
    void on_whole(CollectiveGroup& group, IncomingMulticast& message) noexcept;
    void let_go(IncomingMulticast& message) noexcept;
    void give_up(IncomingMulticast& message) noexcept;

    // multicast_order.cpp
    void ask_for_number(CollectiveGroup& group, OutgoingMulticast& message) noexcept;
    void on_ask(CollectiveGroup& group, Peer& peer, const wire::Multicast& what) noexcept;
    void on_give(CollectiveGroup& group, const Peer& peer, const wire::Multicast& what) noexcept;
    bool keep_own(CollectiveGroup& group, Stream& stream,
                  const OutgoingMulticast& message) noexcept;
    void put_in_order(CollectiveGroup& group, IncomingMulticast& message) noexcept;

    // multicast_broadcast.cpp
    void cannot_begin(CollectiveOperation& op) noexcept;
    static CollectiveOperation* waiting_for(CollectiveGroup& group,
                                            const wire::Multicast& what) noexcept;
    bool agrees(CollectiveGroup& group, CollectiveOperation& op,
                const wire::Multicast& what) noexcept;
    void take_early(CollectiveGroup& group, CollectiveOperation& op,
                    IncomingMulticast& message) noexcept;
    void end(CollectiveOperation& op, int error) noexcept;

    // multicast_failure.cpp
    void fail(CollectiveGroup& group, int error) noexcept;
    void end_all(CollectiveGroup& group, int error) noexcept;
    void tell_neighbours(CollectiveGroup& group) noexcept;
    bool depends_on(CollectiveGroup& group, const Peer& peer) noexcept;
    static bool waits_for_parent(CollectiveGroup& group, const Stream& stream) noexcept;
    static bool waits_for_order(const CollectiveGroup& group) noexcept;

    Engine& engine_;
    const verbs::Port& port_;
    Groups& groups_;
    Collectives& collectives_;
    const Settings settings_;
    Pool<OutgoingMulticast> outgoing_;
    Pool<IncomingMulticast> incoming_;
};

template <class F>
bool Multicast::for_each_awaited(F&& f) noexcept {
    bool any = false;
    const auto awaits = [&](const CollectiveGroup& group, uint32_t rank) {
        f(group.members[rank]);
        any = true;
    };
    for (auto& [number, group] : groups_) {
        if (group->multicasts.failure) continue;
        if (waits_for_order(*group)) // anybody may have the number that is missing
            for (uint32_t rank = 0; rank < group->size(); ++rank)
                if (rank != group->rank) awaits(*group, rank);
        for (auto& [key, stream] : group->multicasts.streams) {
            if (waits_for_parent(*group, stream)) awaits(*group, *stream.place.parent);
            for (size_t i = 0; i < stream.place.children.size(); ++i)
                if (stream.credit.is_short(i, stream.passed))
                    awaits(*group, stream.place.children[i]);
        }
    }
    return any;
}

} // namespace odrc::transfer
