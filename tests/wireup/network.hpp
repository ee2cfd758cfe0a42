// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// A network, a clock and a chance that do what a test says. The program has its own sendto(2),
// recvfrom(2), recvmsg(2), clock_gettime(2) and getrandom(2), which the provider in it calls: what
// is sent is under way until the test delivers it, and no time passes but what the test lets pass.

#include "base/clock.hpp"
#include "ondemand/address.hpp"

#include <vector>

namespace network {

using odrc::ondemand::Address;

struct Datagram {
    Address from, to;
    std::vector<std::byte> bytes;
};

// Any port of this host's.
Address loopback();

// In the order in which they were sent.
std::vector<Datagram>& under_way();

// To the socket that is bound to its destination, if there is one. It stays under way, or not.
void deliver(size_t which, bool stays);

// The next random number, which gives an endpoint its id.
void throw_next(uint64_t number);

void advance_to(odrc::Time time);

// The socket takes part, for as long as this lives.
class Plug {
public:
    Plug(int fd, const Address& address);
    ~Plug();
    Plug(const Plug&) = delete;
    Plug& operator=(const Plug&) = delete;

private:
    int fd_;
};

} // namespace network
