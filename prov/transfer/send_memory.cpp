// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The memory of the application's sends, as the device knows it, where it does not know all: by the
// keys that came with the call (FI_MR_LOCAL, fi_mr(3)), or by registrations of ours.

#include "transfer/engine.hpp"

#include <algorithm>

namespace odrc::transfer {

// Remembers the application's keys, if it gave one for each piece, for what may be gathered by
// them. False when memory is out.
bool Engine::keep_keys(Send& send, std::span<void* const> keys) noexcept {
    const auto is_missing = [](void* key) { return !key; };
    if (send.length <= adapter_.max_inline() || send.length > wire::kEagerLimit ||
        std::ranges::any_of(keys, is_missing))
        return true;
    send.registered = registered_.create();
    if (!send.registered || !send.registered->make(keys.size(), longs_.registrations)) return false;
    send.given = true;
    for (size_t i = 0; i < keys.size(); ++i)
        (*send.registered)[i] = {static_cast<uint32_t>(reinterpret_cast<uintptr_t>(keys[i])), 0};
    return true;
}

// The peer may read the message's memory until it says that it has finished, and the device gather
// it. What the application's own keys allow to peers we do not know.
int Engine::expose(const Lane& lane, Send& send) noexcept {
    if (std::exchange(send.given, false)) withdraw(send);
    if (send.registered) return 0;
    send.registered = registered_.create();
    if (!send.registered || !send.registered->make(send.pieces.count(), longs_.registrations))
        return FI_ENOMEM;
    return register_list(lane.adapter(), send.pieces.list(), send.pieces.bytes,
                         IBV_ACCESS_REMOTE_READ, adapter_.now(), send.registered->list());
}

void Engine::withdraw(Send& send) noexcept {
    if (!send.registered) return;
    give_back(send.registered->list());
    registered_.destroy(std::exchange(send.registered, nullptr));
}

// The next lane may be over another device.
void Engine::withdraw_unsent(Send& send) noexcept {
    if (!send.out && !send.given) withdraw(send);
}

// Whether the device takes the message from where it lies: it knows the memory, or can be told of
// it, and takes less time for that than for a copy. A wrong key breaks the queue pair that it is
// used on, and that for datagrams is not the peer's alone.
bool Engine::is_gathered(const Lane& lane, Send& send) noexcept {
    const Crossovers& bounds = crossovers(lane);
    const bool by_its_keys = send.given && !lane.by_datagrams();
    if (lane.adapter().whole_memory_key() || by_its_keys) return send.length > bounds.copied;
    if (send.length <= bounds.unregistered) return false;
    if (expose(lane, send) == 0) return true;
    withdraw(send);
    return false;
}

} // namespace odrc::transfer
