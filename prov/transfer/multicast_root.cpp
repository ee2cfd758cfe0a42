// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Messages at the root of their tree: how they become packets.

#include "transfer/collectives.hpp"
#include "transfer/engine.hpp"
#include "transfer/multicast.hpp"

#include <algorithm>

namespace odrc::transfer {

void Multicast::put(CollectiveGroup& group, Stream& stream, OutgoingMulticast& message) noexcept {
    stream.outgoing.push_back(message);
    pump(group, stream);
}

// Sends what the members let come.
void Multicast::pump(CollectiveGroup& group, Stream& stream) noexcept {
    while (OutgoingMulticast* message = stream.outgoing.front()) {
        if (message->unnumbered) return;
        const size_t bytes =
            std::min<size_t>(message->what.length - message->gone, wire::kEagerLimit);
        if (stream.passed + cost_of(bytes) > stream.credit.limit())
            return engine_.look_after_members();
        if (const int error = put_packet(group, stream, *message, bytes)) return fail(group, error);
        if (message->gone < message->what.length) continue;
        if (message->ordered && !keep_own(group, stream, *message)) return fail(group, FI_ENOMEM);
        message->whole = true;
        List<OutgoingMulticast>::erase(*message);
        end_if_over(*message);
    }
}

int Multicast::put_packet(CollectiveGroup& group, Stream& stream, OutgoingMulticast& message,
                          size_t bytes) noexcept {
    Parcel* parcel = engine_.lend(message.what, {message.data + message.gone, bytes});
    if (!parcel) return FI_ENOMEM;
    parcel->message = &message;
    message.gone += bytes;
    ++message.under_way;
    stream.passed += cost_of(bytes);
    if (!message.ordered) stream.credit.took_in(cost_of(bytes)); // we have it
    engine_.count_one(&Counters::multicast_sent);
    int error = 0;
    for (const uint32_t child : stream.place.children) {
        error = engine_.send(*parcel, group.members[child], group.numbers[child]);
        if (error) break;
    }
    sent(*parcel, 0); // as far as we are concerned
    return error;
}

// One of those who use the packet has done with it.
void Multicast::sent(Parcel& parcel, int error) noexcept {
    if (error)
        if (CollectiveGroup* group = find_group(parcel.what.sender)) fail(*group, error);
    OutgoingMulticast* message = parcel.message;
    if (error && message && !message->error) message->error = error;
    const bool last = parcel.users == 1;
    engine_.release(parcel);
    if (!last || !message) return;
    --message->under_way;
    end_if_over(*message);
}

void Multicast::end_if_over(OutgoingMulticast& message) noexcept {
    if (!message.whole || message.under_way > 0) return;
    if (message.operation)
        end(*message.operation, message.error);
    else
        complete(message);
    outgoing_.destroy(&message);
}

void Multicast::complete(const OutgoingMulticast& message) noexcept {
    engine_.count_sent(message.error);
    if (!settings_.completions) return;
    void* const buffer = const_cast<std::byte*>(message.data);
    if (message.error) {
        fi_cq_err_entry entry{};
        entry.op_context = message.context;
        entry.flags = FI_SEND | FI_MSG | FI_MULTICAST;
        entry.len = message.what.length;
        entry.buf = buffer;
        entry.err = message.error;
        entry.prov_errno = message.error;
        settings_.completions->push_error(entry);
    } else if (message.wanted) {
        settings_.completions->push({.context = message.context,
                                     .flags = FI_SEND | FI_MSG | FI_MULTICAST,
                                     .length = message.what.length,
                                     .buffer = buffer,
                                     .data = 0,
                                     .tag = 0,
                                     .source = FI_ADDR_NOTAVAIL});
    }
}

} // namespace odrc::transfer
