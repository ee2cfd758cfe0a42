// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ondemand/wireup_socket.hpp"

#include "base/error.hpp"
#include "base/log.hpp"

#include <cstring>
#include <linux/errqueue.h>

namespace odrc::ondemand {
namespace {

// To which address it came is seen only in the datagram where we are bound to any.
Address destination(msghdr& message, const Address& own) noexcept {
    for (cmsghdr* c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
            sockaddr_in v4;
            std::memcpy(&v4, own.get(), sizeof v4);
            v4.sin_addr = reinterpret_cast<const in_pktinfo*>(CMSG_DATA(c))->ipi_addr;
            return *Address::from(&v4, sizeof v4);
        }
        if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
            sockaddr_in6 v6;
            std::memcpy(&v6, own.get(), sizeof v6);
            v6.sin6_addr = reinterpret_cast<const in6_pktinfo*>(CMSG_DATA(c))->ipi6_addr;
            return *Address::from(&v6, sizeof v6);
        }
    }
    return own;
}

} // namespace

WireupSocket::WireupSocket(const Address& wanted, Counters& counters)
    : counters_{counters}
    , fd_{socket(wanted.family(), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)} {
    sockaddr_storage bound{};
    socklen_t length = sizeof bound;
    if (!fd_ || bind(fd_.get(), wanted.get(), wanted.length()) ||
        getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&bound), &length)) {
        const int error = errno;
        ODRC_WARN(FI_LOG_EP_CTRL, "{}: cannot bind a socket: {}", wanted.text(),
                  fi_strerror(error));
        throw Error{error};
    }
    address_ = *Address::from(&bound, length);
    // Without this, an unconnected socket does not hear that nobody is at a destination.
    const int on = 1;
    const bool six = wanted.family() == AF_INET6;
    setsockopt(fd_.get(), six ? IPPROTO_IPV6 : IPPROTO_IP, six ? IPV6_RECVERR : IP_RECVERR, &on,
               sizeof on);
    setsockopt(fd_.get(), six ? IPPROTO_IPV6 : IPPROTO_IP, six ? IPV6_RECVPKTINFO : IP_PKTINFO, &on,
               sizeof on);
    // Thousands may speak at once: the kernel takes what it can up to its own limit.
    const int room = 4 << 20;
    setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
}

void WireupSocket::send(const Address& to, std::span<const std::byte> datagram) noexcept {
    ++counters_.wireup_datagrams;
    counters_.wireup_bytes += datagram.size();
    // An error here is often that of an earlier datagram, told first: then it is sent again.
    for (int tries = 0; tries < 2; ++tries)
        if (sendto(fd_.get(), datagram.data(), datagram.size(), 0, to.get(), to.length()) >= 0)
            return;
}

bool WireupSocket::receive(std::span<std::byte> buffer, Arrival& arrival) noexcept {
    for (int errors = 0; errors < 16;) {
        sockaddr_storage from{};
        alignas(cmsghdr) std::byte control[CMSG_SPACE(sizeof(in6_pktinfo))];
        iovec iov{buffer.data(), buffer.size()};
        msghdr message{};
        message.msg_name = &from;
        message.msg_namelen = sizeof from;
        message.msg_iov = &iov;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        const ssize_t n = recvmsg(fd_.get(), &message, MSG_TRUNC);
        if (n < 0) {
            // What the call reports may be the error of a datagram sent earlier, with arrivals
            // behind it.
            const bool empty = errno == EAGAIN || errno == EWOULDBLOCK;
            if (receive_error(arrival)) return true;
            if (empty) return false;
            ++errors;
            continue;
        }
        const auto address = Address::from(&from, message.msg_namelen);
        if (!address) continue;
        // A datagram longer than the buffer is none of ours: it is shown cut, and refused.
        arrival = {*address, destination(message, address_),
                   buffer.first(std::min(static_cast<size_t>(n), buffer.size())), false};
        return true;
    }
    return false;
}

bool WireupSocket::receive_error(Arrival& arrival) noexcept {
    sockaddr_storage to{};
    alignas(cmsghdr) std::byte control[512];
    std::byte sent[64];
    iovec iov{sent, sizeof sent};
    msghdr message{};
    message.msg_name = &to;
    message.msg_namelen = sizeof to;
    message.msg_iov = &iov;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    while (recvmsg(fd_.get(), &message, MSG_ERRQUEUE) >= 0) {
        for (cmsghdr* c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
            const bool v4 = c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR;
            const bool v6 = c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVERR;
            if (!v4 && !v6) continue;
            const auto* error = reinterpret_cast<const sock_extended_err*>(CMSG_DATA(c));
            const auto address = Address::from(&to, message.msg_namelen);
            if (error->ee_errno != ECONNREFUSED || !address) continue;
            arrival = {*address, address_, {}, true};
            return true;
        }
        message.msg_namelen = sizeof to;
        message.msg_controllen = sizeof control;
    }
    return false;
}

} // namespace odrc::ondemand
