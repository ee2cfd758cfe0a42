// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstdint>
#include <memory>

namespace odrc::mpi {

class Outgoing;
class Incoming;

// What becomes of something that does what can be done now.
enum class Next : uint8_t {
    wait,  // until it is told that something has happened
    again, // the provider has no room: as soon as it has
    over,
};

// One side of a scheme, for one message. It is asked to go on when anything has happened that it
// may have waited for, and never from within a call of its own.
class Way {
public:
    virtual ~Way() = default;
    Way() = default;
    Way(const Way&) = delete;
    Way& operator=(const Way&) = delete;

    virtual Next go_on() noexcept = 0;
    // A step of its own is over, whichever it was (Transfer::step).
    virtual void on_step(uint64_t) noexcept {}
    // The receiver's: the sender has written that segment.
    virtual void on_written(uint64_t) noexcept {}
};

std::unique_ptr<Way> generic_way(Outgoing& message);
std::unique_ptr<Way> generic_way(Incoming& message);
std::unique_ptr<Way> bc_spup_way(Outgoing& message);
std::unique_ptr<Way> rwg_up_way(Outgoing& message);
// Of both; at_the_end: not before all has come.
std::unique_ptr<Way> unpacking_way(Incoming& message, bool at_the_end);
std::unique_ptr<Way> p_rrs_way(Outgoing& message);
std::unique_ptr<Way> p_rrs_way(Incoming& message);
std::unique_ptr<Way> multi_w_way(Outgoing& message);
std::unique_ptr<Way> multi_w_way(Incoming& message);

} // namespace odrc::mpi
