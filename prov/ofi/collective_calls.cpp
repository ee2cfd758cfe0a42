// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// fi_collective(3)

#include "ofi/attributes.hpp"
#include "ofi/calls.hpp"

#include <rdma/fi_collective.h>

namespace odrc::ofi {
namespace {

using Arguments = transfer::CollectiveArguments;

// The buffers are the operation's until it completes.
constexpr uint64_t kCallFlags = kTransmitFlags & ~FI_INJECT;

ssize_t run(fid_ep* f, Arguments a, uint64_t flags) noexcept {
    if (flags & ~kCallFlags) return -FI_EBADFLAGS;
    Endpoint& ep = endpoint(f);
    if (!ep.offers(FI_COLLECTIVE)) return -FI_EOPNOTSUPP;
    a.flags = send_flags(ep, flags);
    const Entry entry{ep.gate()};
    return ep.collectives().begin(a);
}

// A collective without a root, an operation, or either.
Arguments arguments(fi_collective_op kind, fi_addr_t group, const void* data, void* result,
                    size_t count, fi_datatype type, void* context) noexcept {
    return {.kind = kind,
            .group = group,
            .root = FI_ADDR_NOTAVAIL,
            .data = data,
            .result = result,
            .count = count,
            .type = type,
            .op = FI_NOOP,
            .context = context,
            .flags = 0};
}

ssize_t barrier2(fid_ep* f, fi_addr_t group, uint64_t flags, void* context) {
    return run(f, arguments(FI_BARRIER, group, nullptr, nullptr, 0, FI_VOID, context), flags);
}

ssize_t barrier(fid_ep* f, fi_addr_t group, void* context) {
    return barrier2(f, group, endpoint(f).transmit_flags() & kCallFlags, context);
}

ssize_t broadcast(fid_ep* f, void* buffer, size_t count, void*, fi_addr_t group, fi_addr_t root,
                  fi_datatype type, uint64_t flags, void* context) {
    Arguments a = arguments(FI_BROADCAST, group, buffer, nullptr, count, type, context);
    a.root = root;
    return run(f, a, flags);
}

template <fi_collective_op Kind>
ssize_t exchange(fid_ep* f, const void* buffer, size_t count, void*, void* result, void*,
                 fi_addr_t group, fi_datatype type, uint64_t flags, void* context) {
    return run(f, arguments(Kind, group, buffer, result, count, type, context), flags);
}

template <fi_collective_op Kind>
ssize_t combine(fid_ep* f, const void* buffer, size_t count, void*, void* result, void*,
                fi_addr_t group, fi_datatype type, fi_op op, uint64_t flags, void* context) {
    Arguments a = arguments(Kind, group, buffer, result, count, type, context);
    a.op = op;
    return run(f, a, flags);
}

ssize_t reduce(fid_ep* f, const void* buffer, size_t count, void*, void* result, void*,
               fi_addr_t group, fi_addr_t root, fi_datatype type, fi_op op, uint64_t flags,
               void* context) {
    Arguments a = arguments(FI_REDUCE, group, buffer, result, count, type, context);
    a.root = root;
    a.op = op;
    return run(f, a, flags);
}

template <fi_collective_op Kind>
ssize_t from_or_to_root(fid_ep* f, const void* buffer, size_t count, void*, void* result, void*,
                        fi_addr_t group, fi_addr_t root, fi_datatype type, uint64_t flags,
                        void* context) {
    Arguments a = arguments(Kind, group, buffer, result, count, type, context);
    a.root = root;
    return run(f, a, flags);
}

} // namespace

int query_collective(fid_domain*, fi_collective_op coll, fi_collective_attr* attr, uint64_t flags) {
    if (!attr || attr->mode || flags) return -FI_EINVAL;
    const size_t size = transfer::element_size(coll, attr->datatype, attr->op);
    if (coll != FI_BARRIER && size == 0) return -FI_EOPNOTSUPP;
    attr->datatype_attr = {.count = size > 0 ? transfer::kMaxCollective / size : 0, .size = size};
    attr->max_members = transfer::kMaxMembers;
    return 0;
}

fi_ops_collective collective_ops = {.size = sizeof(fi_ops_collective),
                                    .barrier = barrier,
                                    .broadcast = broadcast,
                                    .alltoall = exchange<FI_ALLTOALL>,
                                    .allreduce = combine<FI_ALLREDUCE>,
                                    .allgather = exchange<FI_ALLGATHER>,
                                    .reduce_scatter = combine<FI_REDUCE_SCATTER>,
                                    .reduce = reduce,
                                    .scatter = from_or_to_root<FI_SCATTER>,
                                    .gather = from_or_to_root<FI_GATHER>,
                                    .msg = unsupported,
                                    .barrier2 = barrier2};

fi_ops_collective collective_ops_before_enable = {.size = sizeof(fi_ops_collective),
                                                  .barrier = not_enabled,
                                                  .broadcast = not_enabled,
                                                  .alltoall = not_enabled,
                                                  .allreduce = not_enabled,
                                                  .allgather = not_enabled,
                                                  .reduce_scatter = not_enabled,
                                                  .reduce = not_enabled,
                                                  .scatter = not_enabled,
                                                  .gather = not_enabled,
                                                  .msg = not_enabled,
                                                  .barrier2 = not_enabled};

} // namespace odrc::ofi
