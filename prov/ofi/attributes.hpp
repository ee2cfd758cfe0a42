// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "transfer/engine.hpp"

#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>

// What endpoints of this provider can do, as fi_getinfo(3) tells it.
namespace odrc::ofi {

// Capabilities that are only given when asked for, those that qualify them, and those that come
// by themselves.
inline constexpr uint64_t kMessageCaps = FI_MSG | FI_TAGGED;
inline constexpr uint64_t kMemoryCaps = FI_RMA | FI_ATOMIC;
inline constexpr uint64_t kPrimaryCaps =
    kMessageCaps | kMemoryCaps | FI_COLLECTIVE | FI_DIRECTED_RECV | FI_AV_USER_ID;
inline constexpr uint64_t kMessageModifiers = FI_SEND | FI_RECV;
inline constexpr uint64_t kRemoteModifiers = FI_REMOTE_READ | FI_REMOTE_WRITE;
inline constexpr uint64_t kOwnModifiers = FI_READ | FI_WRITE;
inline constexpr uint64_t kRmaModifiers = kOwnModifiers | kRemoteModifiers;
inline constexpr uint64_t kModifierCaps = kMessageModifiers | kRmaModifiers;
inline constexpr uint64_t kDomainCaps = FI_LOCAL_COMM | FI_REMOTE_COMM;
inline constexpr uint64_t kSecondaryCaps =
    FI_MULTI_RECV | FI_SOURCE | FI_RMA_EVENT | FI_FENCE | kDomainCaps;
// What address vectors can be opened for; the call that it needs came with libfabric 2. Before, it
// is a flag of insertions alone.
inline constexpr uint64_t kVectorCaps = FI_MAJOR_VERSION >= 2 ? FI_AV_USER_ID : uint64_t{0};
inline constexpr uint64_t kTransmitCaps =
    kMessageCaps | FI_SEND | kMemoryCaps | FI_READ | FI_WRITE | FI_FENCE | FI_COLLECTIVE;
inline constexpr uint64_t kReceiveCaps = kMessageCaps | FI_RECV | FI_DIRECTED_RECV | FI_MULTI_RECV |
                                         FI_SOURCE | kMemoryCaps | FI_RMA_EVENT | kRemoteModifiers |
                                         FI_COLLECTIVE;

inline constexpr uint64_t kTransmitFlags = FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE |
                                           FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE |
                                           FI_MATCH_COMPLETE | FI_MORE;
inline constexpr uint64_t kReceiveFlags = FI_COMPLETION | FI_MORE | FI_MULTI_RECV;
// One connection carries all that goes to a peer, in order. But the device serves reads and writes
// at once, while messages wait for the program to look, and a read may be repeated after what
// follows it: so nothing is promised of what comes after a send or, except for reads, a read.
//
// Atomics are done in order, since the target's program does them one after the other. But a read
// or write is done by its device and may overtake them: an endpoint that has both promises nothing
// of the one after the other.
inline constexpr uint64_t kMixedOrder = FI_ORDER_WAW | FI_ORDER_RAW | FI_ORDER_RAR;
constexpr uint64_t message_order(uint64_t caps) noexcept {
    return FI_ORDER_SAS | FI_ORDER_SAW | FI_ORDER_RMA_WAW | FI_ORDER_RMA_RAW | FI_ORDER_RMA_RAR |
           FI_ORDER_ATOMIC_WAW | FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_WAR |
           ((caps & kMemoryCaps) == kMemoryCaps ? 0 : kMixedOrder);
}
// Writes after reads are in order where both are atomics.
constexpr size_t max_write_after_read(uint64_t caps) noexcept {
    return caps & FI_ATOMIC ? transfer::wire::kAtomicLimit : 0;
}

// FI_PROGRESS_CONTROL_UNIFIED, the last there is, which came with libfabric 2: manual progress of a
// program that serializes control calls, too. Nothing is done less for it.
inline constexpr auto kControlUnified = static_cast<fi_progress>(3);

inline constexpr size_t kTransmitSize = 1024;
inline constexpr size_t kMaxTransmitSize = 65536;
inline constexpr size_t kReceiveSize = 65536;
inline constexpr size_t kCqDataSize = 8;
inline constexpr size_t kMrIovLimit = 1;                   // pieces of a memory region
inline constexpr size_t kObjects = 65536;                  // of each kind, of a domain
inline constexpr uint64_t kTagFormat = 0xAAAAAAAAAAAAAAAA; // any 64 bits (fi_endpoint(3))
// The top bit marks a protocol as a provider's own (fi_endpoint(3)); the rest says "odrc".
inline constexpr uint32_t kProtocol = 1u << 31 | 0x6f647263;
inline constexpr uint32_t kProtocolVersion = 2;

} // namespace odrc::ofi
