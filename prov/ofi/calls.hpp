// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ofi/attributes.hpp"
#include "ofi/endpoint.hpp"

// What the calls of fi_msg(3) and fi_tagged(3) have in common: each becomes one call of the
// engine, inside the endpoint's gate. Kind is FI_MSG or FI_TAGGED.
namespace odrc::ofi {

inline Endpoint& endpoint(fid_ep* ep) noexcept { return static_cast<Endpoint&>(*ep); }

template <uint64_t Kind>
[[gnu::always_inline]] inline ssize_t send(Endpoint& ep, std::span<const iovec> iov,
                                           void* const* keys, fi_addr_t to, uint64_t tag,
                                           uint64_t data, void* context, uint64_t flags) noexcept {
    const Entry entry{ep.gate()};
    return ep.engine().send({.iov = iov,
                             .keys = ep.keys_given() ? keys : nullptr,
                             .to = to,
                             .tag = tag,
                             .data = data,
                             .context = context,
                             .flags = flags | Kind});
}

template <uint64_t Kind>
[[gnu::always_inline]] inline ssize_t send(Endpoint& ep, const void* buffer, size_t length,
                                           void* key, fi_addr_t to, uint64_t tag, uint64_t data,
                                           void* context, uint64_t flags) noexcept {
    const iovec iov{const_cast<void*>(buffer), length};
    return send<Kind>(ep, {&iov, 1}, &key, to, tag, data, context, flags);
}

// What is copied before the call returns needs no key.
template <uint64_t Kind>
ssize_t inject(Endpoint& ep, const void* buffer, size_t length, fi_addr_t to, uint64_t tag,
               uint64_t data, uint64_t flags) noexcept {
    const iovec iov{const_cast<void*>(buffer), length};
    return send<Kind>(ep, {&iov, 1}, nullptr, to, tag, data, nullptr, flags | FI_INJECT);
}

template <uint64_t Kind>
[[gnu::always_inline]] inline ssize_t receive(Endpoint& ep, std::span<const iovec> iov,
                                              fi_addr_t from, uint64_t tag, uint64_t ignore,
                                              void* context, uint64_t flags) noexcept {
    const Entry entry{ep.gate()};
    return ep.engine().receive({.iov = iov,
                                .from = from,
                                .tag = tag,
                                .ignore = ignore,
                                .context = context,
                                .flags = flags | Kind,
                                .least = ep.min_multi_receive()});
}

// A call that cannot be meant. It fails, and so is the end of those before it that said more would
// follow.
inline ssize_t refuse(Endpoint& ep, int error) noexcept {
    const Entry entry{ep.gate()};
    return ep.engine().end_call(-error, 0);
}

// Pieces that are said to be there, and are not.
template <class Piece>
bool missing(const Piece* pieces, size_t count) noexcept {
    return !pieces && count > 0;
}

// What fi_sendmsg and fi_recvmsg may ask for (fi_msg(3), fi_tagged(3)).
inline constexpr uint64_t kSendCallFlags = kTransmitFlags | FI_FENCE | FI_REMOTE_CQ_DATA;
inline constexpr uint64_t kReceiveCallFlags =
    kReceiveFlags | FI_TRANSMIT_COMPLETE | FI_PEEK | FI_CLAIM | FI_DISCARD;

template <uint64_t Kind>
ssize_t sendv(Endpoint& ep, const iovec* iov, void* const* keys, size_t count, fi_addr_t to,
              uint64_t tag, uint64_t data, void* context, uint64_t flags) noexcept {
    if (missing(iov, count)) return refuse(ep, FI_EINVAL);
    return send<Kind>(ep, {iov, count}, keys, to, tag, data, context, flags);
}

template <uint64_t Kind>
ssize_t receivev(Endpoint& ep, const iovec* iov, size_t count, fi_addr_t from, uint64_t tag,
                 uint64_t ignore, void* context, uint64_t flags) noexcept {
    if (missing(iov, count)) return -FI_EINVAL;
    return receive<Kind>(ep, {iov, count}, from, tag, ignore, context, flags);
}

// The flags of a call that has none of its own, and of one that has.
inline uint64_t send_flags(const Endpoint& ep) noexcept {
    return ep.with_transmit_completion(ep.transmit_flags());
}
inline uint64_t send_flags(const Endpoint& ep, uint64_t flags) noexcept {
    return ep.with_transmit_completion(flags);
}
inline uint64_t receive_flags(const Endpoint& ep) noexcept {
    return ep.with_receive_completion(ep.receive_flags());
}
inline uint64_t receive_flags(const Endpoint& ep, uint64_t flags) noexcept {
    return ep.with_receive_completion(flags);
}

// Every call of an endpoint that is not enabled yet.
template <class... Args>
ssize_t not_enabled(Args...) noexcept {
    return -FI_EOPBADSTATE;
}

} // namespace odrc::ofi
