// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// How a group ends in which a member is lost: those below it would wait for ever, and those above
// for its word that they may send. So the group fails, everywhere: who notices tells the members
// that are up to two steps from it in one tree of all, and they do the same. The second step is
// there because at the end of the first may be the one who is lost.
//
// Who waits for a member asks once a second whether that is there (watch.cpp): for its parent, if
// it has a broadcast begun or a message in part, and for a child that has not said that more may be
// sent.

#include "base/log.hpp"
#include "transfer/collectives.hpp"
#include "transfer/engine.hpp"
#include "transfer/multicast.hpp"

#include <algorithm>

namespace odrc::transfer {

using wire::MulticastWord;

void Multicast::fail(CollectiveGroup& group, int error) noexcept {
    if (group.multicasts.failure) return;
    group.multicasts.failure = error;
    tell_neighbours(group);
    end_all(group, error);
}

void Multicast::tell_neighbours(CollectiveGroup& group) noexcept {
    const auto tell = [&](uint32_t rank) {
        if (rank == group.rank) return;
        engine_.send_word(group.members[rank], group.numbers[rank],
                          {.word = MulticastWord::failure,
                           .sender = group.number(),
                           .number = static_cast<uint64_t>(group.multicasts.failure)});
    };
    try {
        const auto place_of = [&](uint32_t rank) {
            return place_in(Tree::binary, rank, 0, group.size());
        };
        const auto tell_around = [&](uint32_t rank) {
            tell(rank);
            const Place around = place_of(rank);
            if (around.parent) tell(*around.parent);
            for (const uint32_t child : around.children) tell(child);
        };
        const Place ours = place_of(group.rank);
        if (ours.parent) tell_around(*ours.parent);
        for (const uint32_t child : ours.children) tell_around(child);
    } catch (const std::bad_alloc&) {
        ODRC_WARN(FI_LOG_EP_DATA, "{}: no memory to tell a group that it has failed", port_.name());
    }
}

// What has come whole is still the program's.
void Multicast::end_all(CollectiveGroup& group, int error) noexcept {
    Multicasts& multicasts = group.multicasts;
    for (auto* messages : {&multicasts.early, &multicasts.held})
        while (IncomingMulticast* message = messages->front()) give_up(*message);
    for (auto& [key, stream] : multicasts.streams) {
        if (stream.incoming) give_up(*stream.incoming);
        while (OutgoingMulticast* message = stream.outgoing.pop_front()) {
            message->whole = true;
            message->error = error;
            end_if_over(*message);
        }
    }
    for (CollectiveOperation* op = group.operations.front(); op;) {
        CollectiveOperation* next = group.operations.after(*op);
        if (op->waits) end(*op, error);
        op = next;
    }
}

// Nothing of what it sends to us, or lets us send, is dispensable.
bool Multicast::depends_on(CollectiveGroup& group, const Peer& peer) noexcept {
    const auto is = [&](uint32_t rank) { return engine_.peer_at(group.members[rank]) == &peer; };
    if (waits_for_order(group) && std::ranges::any_of(group.members, [&](fi_addr_t member) {
            return engine_.peer_at(member) == &peer;
        }))
        return true;
    for (const auto& [key, stream] : group.multicasts.streams) {
        if (waits_for_parent(group, stream) && is(*stream.place.parent)) return true;
        for (size_t i = 0; i < stream.place.children.size(); ++i)
            if (stream.credit.is_short(i, stream.passed) && is(stream.place.children[i]))
                return true;
    }
    return false;
}

bool Multicast::waits_for_parent(CollectiveGroup& group, const Stream& stream) noexcept {
    if (group.multicasts.failure || !stream.place.parent) return false;
    if (stream.incoming) return true;
    for (CollectiveOperation* op = group.operations.front(); op; op = group.operations.after(*op))
        if (op->waits && op->stream == &stream) return true;
    return false;
}

// For a message with a lower number than those that have come, or for a number.
bool Multicast::waits_for_order(const CollectiveGroup& group) noexcept {
    if (!group.multicasts.held.empty()) return true;
    for (const auto& [key, stream] : group.multicasts.streams)
        if (const OutgoingMulticast* message = stream.outgoing.front())
            if (message->unnumbered) return true;
    return false;
}

void Multicast::lose(const Peer& peer, int error) noexcept {
    for (auto& [number, group] : groups_)
        if (!group->multicasts.failure && depends_on(*group, peer)) fail(*group, error);
}

void Multicast::lose_word(const Parcel& parcel, int error) noexcept {
    if (CollectiveGroup* group = find_group(parcel.what.sender)) fail(*group, error);
}

// Who leaves before its part is done lets the others down.
void Multicast::leave(CollectiveGroup& group) noexcept {
    Multicasts& multicasts = group.multicasts;
    bool owes =
        !multicasts.early.empty() || !multicasts.held.empty() || !multicasts.arrived.empty();
    for (const auto& [key, stream] : multicasts.streams)
        owes = owes || stream.incoming || !stream.outgoing.empty();
    for (CollectiveOperation* op = group.operations.front(); op; op = group.operations.after(*op))
        owes = owes || op->waits;
    if (owes) fail(group, FI_ECANCELED);
    for (auto* messages : {&multicasts.arrived, &multicasts.lent})
        while (IncomingMulticast* message = messages->front()) give_up(*message);
}

} // namespace odrc::transfer
