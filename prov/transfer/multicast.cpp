// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Packets that come along a tree, and the words that go up.

#include "transfer/multicast.hpp"

#include "base/log.hpp"
#include "transfer/engine.hpp"

namespace odrc::transfer {

using wire::MulticastWord;

Multicast::Multicast(Engine& engine, const verbs::Port& port, Groups& groups,
                     Collectives& collectives, const Settings& settings) noexcept
    : engine_{engine}
    , port_{port}
    , groups_{groups}
    , collectives_{collectives}
    , settings_{settings} {
    engine_.tell_of_multicasts(*this);
}

CollectiveGroup* Multicast::find_group(uint64_t number) noexcept {
    const auto found = groups_.find(static_cast<uint32_t>(number));
    return found == groups_.end() || found->second->left ? nullptr : found->second.get();
}

CollectiveGroup* Multicast::find_by_address(fi_addr_t address) noexcept {
    return address >> 32 == kGroupAddress >> 32 ? find_group(address) : nullptr;
}

// Null when memory is out.
Stream* Multicast::stream_of(CollectiveGroup& group, Tree tree, uint32_t root) noexcept {
    auto& streams = group.multicasts.streams;
    const uint64_t key = uint64_t{root} << 8 | static_cast<uint8_t>(tree);
    const auto found = streams.find(key);
    if (found != streams.end()) return &found->second;
    try {
        const auto made =
            streams.try_emplace(key, tree, root, place_in(tree, group.rank, root, group.size()),
                                credit_for(engine_.room_for_multicasts(), group.size()));
        return &made.first->second;
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

void Multicast::on_frame(Peer& peer, const wire::Frame& frame) noexcept {
    const wire::Multicast what = frame.multicast();
    CollectiveGroup* group = find_group(frame.header.tag);
    if (!group) {
        // Those behind us will not get it. To words nobody expects an answer.
        if (what.word == MulticastWord::message || what.word == MulticastWord::broadcast)
            engine_.send_word(peer, what.sender,
                              {.word = MulticastWord::failure, .number = FI_ECANCELED});
        return;
    }
    if (what.root >= group->size() || what.tree >= kTrees) return refuse(*group, peer);
    switch (what.word) {
    case MulticastWord::message:
    case MulticastWord::broadcast:
        return on_packet(*group, peer, frame);
    case MulticastWord::credit:
        return on_credit(*group, peer, what);
    case MulticastWord::ask:
        return on_ask(*group, peer, what);
    case MulticastWord::give:
        return on_give(*group, peer, what);
    case MulticastWord::failure:
        ODRC_WARN(FI_LOG_EP_DATA, "{}: a group of {} has failed at {}: {}", port_.name(),
                  group->size(), peer.address.text(), fi_strerror(static_cast<int>(what.number)));
        return fail(*group,
                    what.number > 0 && what.number < 4096 ? static_cast<int>(what.number) : FI_EIO);
    }
}

// A packet is passed on first, then taken in. If the receive buffer is not needed for either any
// more when this returns, it goes back to where it came from.
void Multicast::on_packet(CollectiveGroup& group, const Peer& peer,
                          const wire::Frame& frame) noexcept {
    if (group.multicasts.failure) return;
    wire::Multicast what = frame.multicast();
    const auto bytes = frame.packet();
    Stream* stream = stream_of(group, Tree{what.tree}, what.root);
    if (!stream) return fail(group, FI_ENOMEM);
    if (!is_in_order(group, *stream, peer, what, bytes.size())) return refuse(group, peer);
    stream->passed += cost_of(bytes.size());
    engine_.count_one(&Counters::multicast_received);
    what.sender = group.number();

    Parcel* parcel = nullptr;
    if (!stream->place.children.empty()) {
        parcel = engine_.hold(what, bytes);
        if (!parcel) return fail(group, FI_ENOMEM);
        if (!pass_on(group, *stream, *parcel)) return engine_.release(*parcel);
    }
    IncomingMulticast* message =
        stream->incoming ? stream->incoming : begin_incoming(group, *stream, what);
    const bool taken = message && take_in(*message, bytes, parcel);
    if (parcel) engine_.release(*parcel);
    if (!taken) return fail(group, FI_ENOMEM);
    stream->incoming = message->is_whole() ? nullptr : message;
    if (message->is_whole()) on_whole(group, *message);
    tell_credit(group, *stream);
    for (size_t i = 0; i < stream->place.children.size(); ++i)
        if (stream->credit.is_short(i, stream->passed)) return engine_.look_after_members();
    if (stream->incoming) engine_.look_after_members();
}

// It comes from where this tree says, is the next of its message, and was allowed.
bool Multicast::is_in_order(CollectiveGroup& group, const Stream& stream, const Peer& peer,
                            const wire::Multicast& what, size_t bytes) const noexcept {
    if (!stream.place.parent || engine_.peer_at(group.members[*stream.place.parent]) != &peer)
        return false;
    if (stream.passed + cost_of(bytes) > stream.credit.most()) return false;
    if (what.word == MulticastWord::message && what.length > kMaxMulticast) return false;
    if (!stream.incoming) return bytes > 0 || what.length == 0;
    const IncomingMulticast& message = *stream.incoming;
    return bytes > 0 && what.word == message.what.word &&
           what.operation == message.what.operation && what.length == message.what.length &&
           bytes <= message.what.length - message.come;
}

void Multicast::refuse(CollectiveGroup& group, const Peer& peer) noexcept {
    ODRC_WARN(FI_LOG_EP_DATA, "{}: {} sent a packet that makes no sense in a group of {}",
              port_.name(), peer.address.text(), group.size());
    fail(group, FI_EIO);
}

// False if the group has failed over it.
bool Multicast::pass_on(CollectiveGroup& group, const Stream& stream, Parcel& parcel) noexcept {
    for (const uint32_t child : stream.place.children) {
        if (const int error = engine_.send(parcel, group.members[child], group.numbers[child])) {
            fail(group, error);
            return false;
        }
        engine_.count_one(&Counters::multicast_forwarded);
    }
    return true;
}

// A child says how far the root may send.
void Multicast::on_credit(CollectiveGroup& group, const Peer& peer,
                          const wire::Multicast& what) noexcept {
    if (group.multicasts.failure) return;
    Stream* stream = stream_of(group, Tree{what.tree}, what.root);
    if (!stream) return fail(group, FI_ENOMEM);
    const auto& children = stream->place.children;
    size_t child = 0;
    while (child < children.size() && engine_.peer_at(group.members[children[child]]) != &peer)
        ++child;
    if (child == children.size()) return refuse(group, peer);
    stream->credit.child_allows(child, what.number);
    if (stream->place.parent)
        tell_credit(group, *stream);
    else
        pump(group, *stream);
}

void Multicast::tell_credit(CollectiveGroup& group, Stream& stream) noexcept {
    if (group.multicasts.failure || !stream.place.parent) return;
    const auto limit = stream.credit.news();
    if (!limit) return;
    const uint32_t parent = *stream.place.parent;
    engine_.send_word(group.members[parent], group.numbers[parent],
                      {.word = MulticastWord::credit,
                       .tree = static_cast<uint8_t>(stream.tree),
                       .sender = group.number(),
                       .root = stream.root,
                       .number = *limit});
}

} // namespace odrc::transfer
