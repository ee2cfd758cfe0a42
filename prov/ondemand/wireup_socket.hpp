// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/counters.hpp"
#include "base/fd.hpp"
#include "ondemand/address.hpp"

#include <span>

namespace odrc::ondemand {

// The endpoint's UDP socket, whose address is the endpoint's.
class WireupSocket {
public:
    // Bound to wanted; port 0 takes any. Throws Error.
    WireupSocket(const Address& wanted, Counters& counters);

    const Address& address() const noexcept { return address_; }
    int fd() const noexcept { return fd_.get(); }

    // Sends or loses the datagram: who needs an answer sends again.
    void send(const Address& to, std::span<const std::byte> datagram) noexcept;

    // Takes the next datagram, into buffer, or the news that an earlier one found nobody at its
    // destination (an ICMP error). False when there is neither.
    struct Arrival {
        Address from; // or, for an error, to whom it was sent
        Address to;   // ours, as the sender wrote it
        std::span<const std::byte> datagram;
        bool nobody_there;
    };
    bool receive(std::span<std::byte> buffer, Arrival& arrival) noexcept;

private:
    bool receive_error(Arrival& arrival) noexcept;

    Counters& counters_;
    Fd fd_;
    Address address_;
};

} // namespace odrc::ondemand
