// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The messages that collectives are made of.

#include "base/log.hpp"
#include "transfer/collectives.hpp"
#include "transfer/engine.hpp"

#include <algorithm>

namespace odrc::transfer {

// ---- out ----------------------------------------------------------------------------------------

// 0 or a positive fi_errno.
int Collectives::send_part(CollectiveOperation& op) noexcept {
    const Exchange& to = *op.round.send;
    return engine_.send_part({.iov = to.list(),
                              .peer = op.group->members[to.rank],
                              .tag = op.tag_at(to.rank),
                              .context = &op});
}

// The member is to fail, too. Nobody waits for the end of this.
void Collectives::send_error(const CollectiveOperation& op, uint32_t rank) noexcept {
    engine_.send_part({.iov = {},
                       .peer = op.group->members[rank],
                       .tag = op.tag_at(rank),
                       .context = nullptr,
                       .failure = op.error});
}

void Collectives::part_sent(void* context, int error) noexcept {
    auto& op = *static_cast<CollectiveOperation*>(context);
    if (is_lost(error))
        not_sent(op, error);
    else
        part_over(op, error);
}

// ---- in -----------------------------------------------------------------------------------------

// 0 or a positive fi_errno.
int Collectives::receive_part(CollectiveOperation& op) noexcept {
    const Exchange& from = *op.round.receive;
    return engine_.receive_part({.iov = from.list(),
                                 .peer = op.group->members[from.rank],
                                 .tag = op.tag(),
                                 .context = &op});
}

void Collectives::part_received(void* context, const Message& message, int error) noexcept {
    auto& op = *static_cast<CollectiveOperation*>(context);
    part_over(op, error_of(op, message, error));
}

void Collectives::part_lost(void* context, int error) noexcept {
    part_over(*static_cast<CollectiveOperation*>(context), error);
}

// What the current round's message says of how its operation goes.
int Collectives::error_of(const CollectiveOperation& op, const Message& message,
                          int error) const noexcept {
    const Peer& peer = *message.peer;
    if (message.has_data()) {
        ODRC_WARN(FI_LOG_EP_DATA, "{}: a collective has failed at {}: {}", port_.name(),
                  peer.address.text(), fi_strerror(static_cast<int>(message.data)));
        return message.data > 0 && message.data < 4096 ? static_cast<int>(message.data) : FI_EIO;
    }
    const size_t expected = op.round.receive->bytes();
    if (message.length == expected) return error;
    ODRC_WARN(FI_LOG_EP_DATA, "{}: {} has {} bytes for a collective, and we have {}", port_.name(),
              peer.address.text(), message.length, expected);
    return FI_EIO;
}

// Its operation has been broken off, or the group been left. What is not late is early.
bool Collectives::is_late(uint64_t tag) noexcept {
    if (tag & kJoinTag)
        return std::ranges::any_of(groups_, [tag](const auto& entry) {
            return entry.second->join_tag == tag && entry.second->over();
        });
    const auto number = static_cast<uint32_t>(tag);
    CollectiveGroup* group = find_group(kGroupAddress | tag >> 32);
    if (!group) return true;
    if (static_cast<int32_t>(number - group->next) >= 0) return false;
    CollectiveOperation* op = group->operations.front();
    while (op && op->number != number) op = group->operations.after(*op);
    return !op;
}

} // namespace odrc::transfer
