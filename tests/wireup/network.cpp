// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "network.hpp"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <deque>
#include <map>
#include <sys/syscall.h>
#include <unistd.h>

namespace network {
namespace {

struct Socket {
    Address address;
    std::deque<Datagram> arrived;
};

uint64_t thrown = 0;

// Of the test's thread alone: the device's own threads have the real clock, which is behind it, so
// that to them nothing is ever late.
thread_local std::chrono::nanoseconds now{0};

std::map<int, Socket>& sockets() {
    static std::map<int, Socket> all;
    return all;
}

} // namespace

Address loopback() {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return *Address::from(&in, sizeof in);
}

std::vector<Datagram>& under_way() {
    static std::vector<Datagram> all;
    return all;
}

void deliver(size_t which, bool stays) {
    const Datagram datagram = under_way()[which];
    if (!stays) under_way().erase(under_way().begin() + static_cast<ptrdiff_t>(which));
    for (auto& [fd, socket] : sockets())
        if (socket.address == datagram.to) socket.arrived.push_back(datagram);
}

void throw_next(uint64_t number) { thrown = number; }

void advance_to(odrc::Time time) { now = std::max(now, time.time_since_epoch()); }

Plug::Plug(int fd, const Address& address)
    : fd_{fd} {
    sockets()[fd] = {address, {}};
    if (now.count() == 0) now = odrc::Clock::now().time_since_epoch() + std::chrono::hours{1};
}

Plug::~Plug() { sockets().erase(fd_); }

} // namespace network

using namespace network;

extern "C" {

ssize_t sendto(int fd, const void* bytes, size_t size, int, const sockaddr* to, socklen_t length) {
    const auto from = sockets().find(fd);
    const auto address = Address::from(to, length);
    if (from != sockets().end() && address) {
        const auto* first = static_cast<const std::byte*>(bytes);
        under_way().push_back({from->second.address, *address, {first, first + size}});
    }
    return static_cast<ssize_t>(size);
}

ssize_t recvmsg(int fd, msghdr* message, int flags) {
    const auto socket = sockets().find(fd);
    if (flags & MSG_ERRQUEUE || socket == sockets().end() || socket->second.arrived.empty()) {
        errno = EAGAIN;
        return -1;
    }
    const Datagram datagram = socket->second.arrived.front();
    socket->second.arrived.pop_front();
    std::memcpy(message->msg_iov->iov_base, datagram.bytes.data(),
                std::min(message->msg_iov->iov_len, datagram.bytes.size()));
    std::memcpy(message->msg_name, datagram.from.get(), datagram.from.length());
    message->msg_namelen = datagram.from.length();
    message->msg_controllen = 0;
    return static_cast<ssize_t>(datagram.bytes.size());
}

ssize_t getrandom(void* buffer, size_t size, unsigned) {
    for (size_t i = 0; i < size; ++i)
        static_cast<std::byte*>(buffer)[i] = static_cast<std::byte>(thrown >> i % 8 * 8);
    return static_cast<ssize_t>(size);
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
    if (clock != CLOCK_MONOTONIC || now.count() == 0)
        return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
    const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
    time->tv_sec = seconds.count();
    time->tv_nsec = (now - seconds).count();
    return 0;
}

} // extern "C"
