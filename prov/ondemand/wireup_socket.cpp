// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ondemand/wireup_socket.hpp"

#include "base/error.hpp"
#include "base/log.hpp"

#include <cstring>
#include <linux/errqueue.h>

namespace odrc::ondemand {
namespace {

// A place for a datagram, for whose it is, and for what the kernel says of it.
struct Receipt {
    explicit Receipt(std::span<std::byte> buffer) noexcept
        : iov{buffer.data(), buffer.size()} {}
    Receipt(const Receipt&) = delete;
    Receipt& operator=(const Receipt&) = delete;

    ssize_t receive(int fd, int flags) noexcept {
        header = {};
        header.msg_name = &name;
        header.msg_namelen = sizeof name;
        header.msg_iov = &iov;
        header.msg_iovlen = 1;
        header.msg_control = control;
        header.msg_controllen = sizeof control;
        return recvmsg(fd, &header, flags);
    }
    std::optional<Address> address() const noexcept {
        return Address::from(&name, header.msg_namelen);
    }

    iovec iov;
    msghdr header;
    sockaddr_storage name;
    // sock_extended_err is followed by the address of who says it (ip(7)).
    alignas(
        cmsghdr) std::byte control[CMSG_SPACE(sizeof(in6_pktinfo)) +
                                   CMSG_SPACE(sizeof(sock_extended_err) + sizeof(sockaddr_in6))];
};

// To which address it came is seen only in the datagram where we are bound to any.
Address destination(Receipt& receipt, const Address& own) noexcept {
    for (cmsghdr* c = CMSG_FIRSTHDR(&receipt.header); c; c = CMSG_NXTHDR(&receipt.header, c)) {
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
    Receipt receipt{buffer};
    for (int errors = 0; errors < 16;) {
        const ssize_t n = receipt.receive(fd_.get(), MSG_TRUNC);
        if (n < 0) {
            // What the call reports may be the error of a datagram sent earlier, with arrivals
            // behind it.
            const bool empty = errno == EAGAIN || errno == EWOULDBLOCK;
            if (receive_error(arrival)) return true;
            if (empty) return false;
            ++errors;
            continue;
        }
        const auto address = receipt.address();
        if (!address) continue;
        // A datagram longer than the buffer is none of ours: it is shown cut, and refused.
        arrival = {*address, destination(receipt, address_),
                   buffer.first(std::min(static_cast<size_t>(n), buffer.size())), false};
        return true;
    }
    return false;
}

bool WireupSocket::receive_error(Arrival& arrival) noexcept {
    Receipt receipt{std::span<std::byte>{}}; // of what was sent nothing is needed
    while (receipt.receive(fd_.get(), MSG_ERRQUEUE) >= 0) {
        msghdr& header = receipt.header;
        for (cmsghdr* c = CMSG_FIRSTHDR(&header); c; c = CMSG_NXTHDR(&header, c)) {
            const bool v4 = c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR;
            const bool v6 = c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVERR;
            if (!v4 && !v6) continue;
            const auto* error = reinterpret_cast<const sock_extended_err*>(CMSG_DATA(c));
            const auto address = receipt.address();
            if (error->ee_errno != ECONNREFUSED || !address) continue;
            arrival = {*address, address_, {}, true};
            return true;
        }
    }
    return false;
}

} // namespace odrc::ondemand
