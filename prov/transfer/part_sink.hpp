// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstdint>
#include <rdma/fi_errno.h>

namespace odrc::transfer {

struct Message;

// Who hears of messages that the program does not hear of: parts of something greater. They have a
// space of tags of their own; their context, which is never null here, tells them apart. All calls
// are made inside the endpoint's gate, and may begin new parts.
class PartSink {
public:
    virtual void part_sent(void* context, int error) noexcept = 0;
    // error: a fi_errno value; that of the sender, if it has sent one, is in the message.
    virtual void part_received(void* context, const Message& message, int error) noexcept = 0;
    // It does not come any more: its sender is lost.
    virtual void part_lost(void* context, int error) noexcept = 0;
    // Nobody asks for messages of that tag any more.
    virtual bool is_late(uint64_t tag) noexcept = 0;

protected:
    ~PartSink() = default;
};

// A part that ended so has gone down on its way. Where nobody is, to whom the other errors point,
// nothing arrives in its stead either.
inline bool is_lost(int error) noexcept {
    return error && error != FI_ECONNREFUSED && error != FI_ETIMEDOUT;
}

} // namespace odrc::transfer
