// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// What the application's calls ask of an endpoint. Memory that they name is the application's until
// the operation completes; the lists that tell of it need only last for the call.

#include "transfer/atomic_operation.hpp"
#include "transfer/wire.hpp"

#include <rdma/fi_collective.h>
#include <rdma/fi_rma.h>
#include <span>

namespace odrc::transfer {

// Completions that are only due when the peer has matched the message, or has the write in place.
inline constexpr uint64_t kConfirmed = FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE;

struct SendArguments {
    std::span<const iovec> iov;
    void* const* keys; // the local key of each piece, where the application has registered it
    fi_addr_t to;
    uint64_t tag;
    uint64_t data;
    void* context;
    uint64_t flags; // FI_MSG or FI_TAGGED, and those of fi_msg(3); FI_COMPLETION: wanted
};

// What a message says of itself, before it has its number.
inline wire::FrameHeader header_for(const SendArguments& a) noexcept {
    const auto flags = static_cast<uint8_t>((a.flags & FI_TAGGED ? wire::kTagged : 0) |
                                            (a.flags & FI_REMOTE_CQ_DATA ? wire::kData : 0));
    return {
        .kind = wire::FrameKind::message, .flags = flags, .limit = 0, .sequence = 0, .tag = a.tag};
}

struct ReceiveArguments {
    std::span<const iovec> iov;
    fi_addr_t from;
    uint64_t tag;
    uint64_t ignore;
    void* context;
    uint64_t flags; // likewise
    size_t least;   // FI_MULTI_RECV: the room below which the buffer is given back
};

// A message of ours, of which the program does not hear, on either side.
struct PartArguments {
    std::span<const iovec> iov;
    fi_addr_t peer;
    uint64_t tag;
    void* context;  // for the PartSink; null: it does not hear of the end
    int failure{0}; // what is sent is not the message but this fi_errno value; for that, twice
};

struct RmaArguments {
    std::span<const iovec> iov;
    void* const* keys; // likewise
    std::span<const fi_rma_iov> remote;
    fi_addr_t to;
    uint64_t data;
    void* context;
    uint64_t flags; // FI_READ or FI_WRITE, and those of fi_rma(3); FI_COMPLETION: wanted
};

struct AtomicArguments {
    AtomicCall call;
    fi_datatype type;
    fi_op op;
    std::span<const fi_ioc> operands;
    std::span<const fi_ioc> compares;
    std::span<const fi_ioc> results;
    std::span<const fi_rma_ioc> remote;
    fi_addr_t to;
    void* context;
    uint64_t flags; // those of fi_atomic(3); FI_COMPLETION: wanted
};

struct CollectiveArguments {
    fi_collective_op kind;
    fi_addr_t group;
    fi_addr_t root;
    const void* data;
    void* result;
    size_t count;
    fi_datatype type;
    fi_op op;
    void* context;
    uint64_t flags; // FI_COMPLETION: wanted
};

} // namespace odrc::transfer
