// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "verbs_rc/queue_pair.hpp"

namespace odrc::verbs {

// Words of our own memory, changed by the device over a connection to itself. A device promises
// that its own changes are whole to each other, and not that the processor's are (IBV_ATOMIC_HCA):
// so what peers change by themselves, we change for others in the same way.
class OwnWords {
public:
    // Throws Error.
    OwnWords(Adapter& adapter, ibv_srq* srq);

    // Puts `to` where `from` is, in 8 aligned bytes of a region of that rkey, and says what was
    // there. 0 or a positive errno; then it is of no use any more.
    int swap(uint64_t address, uint32_t rkey, uint64_t from, uint64_t to, uint64_t& found) noexcept;

private:
    Adapter& adapter_;
    Cq cq_;
    QueuePair qp_;
    uint64_t found_{0};
    Mr place_; // of what was found
};

} // namespace odrc::verbs
