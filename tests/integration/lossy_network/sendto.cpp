// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Preloaded, it makes the network lose datagrams, bring them twice, and late: of hundred
// 15 each. Which ones differs from process to process.

#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <random>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using Send = ssize_t (*)(int, const void*, size_t, int, const sockaddr*, socklen_t);

struct Datagram {
    std::vector<char> bytes;
    sockaddr_storage to{};
    socklen_t length{0};
    int fd{-1};
};

std::mutex mutex;
std::minstd_rand dice{static_cast<unsigned>(getpid())};
Datagram late; // goes after the next one that is late

bool is_datagram(int fd) {
    int type = 0;
    socklen_t length = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_DGRAM;
}

} // namespace

extern "C" ssize_t sendto(int fd, const void* bytes, size_t size, int flags, const sockaddr* to,
                          socklen_t length) {
    static const auto send = reinterpret_cast<Send>(dlsym(RTLD_NEXT, "sendto"));
    if (!to || to->sa_family == AF_UNIX || !is_datagram(fd))
        return send(fd, bytes, size, flags, to, length);
    const std::lock_guard lock{mutex};
    const auto thrown = dice() % 100;
    if (thrown < 15) return static_cast<ssize_t>(size);
    if (thrown < 30) send(fd, bytes, size, flags, to, length);
    if (thrown < 85) return send(fd, bytes, size, flags, to, length);
    Datagram earlier = std::exchange(late, {});
    const auto* first = static_cast<const char*>(bytes);
    late.bytes.assign(first, first + size);
    std::memcpy(&late.to, to, length);
    late.length = length;
    late.fd = fd;
    if (earlier.fd == fd)
        send(fd, earlier.bytes.data(), earlier.bytes.size(), 0,
             reinterpret_cast<const sockaddr*>(&earlier.to), earlier.length);
    return static_cast<ssize_t>(size);
}
