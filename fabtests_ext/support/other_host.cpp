// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "other_host.hpp"

#include <cerrno>
#include <chrono>
#include <memory>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdexcept>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace fabtests_ext {
namespace {

using namespace std::chrono_literals;

constexpr const char* kPort = "47592"; // that of fabtests
// How long the second one waits for the first one.
constexpr auto kPatience = 60s;

[[noreturn]] void fail(const char* what) {
    throw std::system_error{errno, std::generic_category(), what};
}

int open_socket() {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) fail("socket");
    return fd;
}

int accept_one(const sockaddr* here, socklen_t length) {
    const int listening = open_socket(), on = 1;
    setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listening, here, length) || listen(listening, 1)) fail("cannot listen");
    const int fd = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) fail("accept");
    close(listening);
    return fd;
}

int connect_to(const sockaddr* there, socklen_t length) {
    for (const auto end = std::chrono::steady_clock::now() + kPatience;;) {
        const int fd = open_socket();
        if (connect(fd, there, length) == 0) return fd;
        close(fd);
        if (std::chrono::steady_clock::now() > end) fail("cannot connect to the other host");
        std::this_thread::sleep_for(100ms);
    }
}

int meet(const Halves& halves) {
    addrinfo hints{};
    hints.ai_family = AF_INET;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE;
    addrinfo* found = nullptr;
    const char* host = halves.listens ? nullptr : halves.connects_to.c_str();
    if (const int error = getaddrinfo(host, kPort, &hints, &found))
        throw std::runtime_error{halves.connects_to + ": " + gai_strerror(error)};
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses{found, freeaddrinfo};
    return (halves.listens ? accept_one : connect_to)(found->ai_addr, found->ai_addrlen);
}

} // namespace

OtherHost::OtherHost(const Halves& halves)
    : fd_{meet(halves)} {
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

OtherHost::~OtherHost() { close(fd_); }

// What is said here fits into the sockets' buffers: both may send before they receive.
void OtherHost::swap(std::span<const std::byte> ours, std::span<std::byte> theirs) {
    while (!ours.empty()) {
        const ssize_t n = ::send(fd_, ours.data(), ours.size(), MSG_NOSIGNAL);
        if (n < 0) fail("the other host");
        ours = ours.subspan(static_cast<size_t>(n));
    }
    while (!theirs.empty()) {
        const ssize_t n = recv(fd_, theirs.data(), theirs.size(), 0);
        if (n < 0) fail("the other host");
        if (n == 0) throw std::runtime_error{"the other host has left"};
        theirs = theirs.subspan(static_cast<size_t>(n));
    }
}

} // namespace fabtests_ext
