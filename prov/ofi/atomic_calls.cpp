// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// fi_atomic(3)

#include "ofi/calls.hpp"

namespace odrc::ofi {
namespace {

using transfer::AtomicCall;

constexpr uint64_t kCallFlags = kTransmitFlags | FI_FENCE;

// Local pieces of a call: where they are, and how many.
using Iocs = std::span<const fi_ioc>;

bool offers(const Endpoint& ep, AtomicCall call) noexcept {
    return ep.offers(FI_ATOMIC | (call == AtomicCall::update ? FI_WRITE : FI_READ));
}

ssize_t atomic(Endpoint& ep, AtomicCall call, const fi_msg_atomic& m, Iocs compares, Iocs results,
               uint64_t flags) noexcept {
    if (!offers(ep, call)) return refuse(ep, FI_EOPNOTSUPP);
    const bool reads = m.op == FI_ATOMIC_READ; // there are no operands, whatever is said
    if ((!reads && missing(m.msg_iov, m.iov_count)) || missing(m.rma_iov, m.rma_iov_count) ||
        missing(compares.data(), compares.size()) || missing(results.data(), results.size()))
        return refuse(ep, FI_EINVAL);
    const Entry entry{ep.gate()};
    return ep.engine().atomic({.call = call,
                               .type = m.datatype,
                               .op = m.op,
                               .operands = {m.msg_iov, m.iov_count},
                               .compares = compares,
                               .results = results,
                               .remote = {m.rma_iov, m.rma_iov_count},
                               .to = m.addr,
                               .context = m.context,
                               .flags = flags});
}

// On as many elements as there are operands, in one piece of the peer's memory. A fetch without
// operands is on as many as there are results.
struct Target {
    fi_addr_t peer;
    uint64_t address;
    uint64_t key;
    fi_datatype type;
    fi_op op;
};
ssize_t atomic(Endpoint& ep, AtomicCall call, Iocs operands, Iocs compares, Iocs results,
               const Target& target, void* context, uint64_t flags) noexcept {
    const Iocs counted = target.op == FI_ATOMIC_READ ? results : operands;
    if (missing(counted.data(), counted.size())) return refuse(ep, FI_EINVAL);
    size_t count = 0;
    for (const fi_ioc& v : counted) count += v.count;
    const fi_rma_ioc remote{.addr = target.address, .count = count, .key = target.key};
    return atomic(ep, call,
                  {.msg_iov = operands.data(),
                   .desc = nullptr,
                   .iov_count = operands.size(),
                   .addr = target.peer,
                   .rma_iov = &remote,
                   .rma_iov_count = 1,
                   .datatype = target.type,
                   .op = target.op,
                   .context = context,
                   .data = 0},
                  compares, results, flags);
}

ssize_t atomic_message(fid_ep* f, AtomicCall call, const fi_msg_atomic& m, Iocs compares,
                       Iocs results, uint64_t flags) noexcept {
    Endpoint& ep = endpoint(f);
    if (flags & ~kCallFlags) return refuse(ep, FI_EBADFLAGS);
    return atomic(ep, call, m, compares, results, send_flags(ep, flags));
}

fi_ioc piece(const void* address, size_t count) noexcept {
    return {.addr = const_cast<void*>(address), .count = count};
}

// ---- update -------------------------------------------------------------------------------------

ssize_t writev(fid_ep* f, const fi_ioc* iov, void**, size_t count, fi_addr_t to, uint64_t address,
               uint64_t key, fi_datatype type, fi_op op, void* context) {
    Endpoint& ep = endpoint(f);
    return atomic(ep, AtomicCall::update, {iov, count}, {}, {}, {to, address, key, type, op},
                  context, send_flags(ep));
}

ssize_t write(fid_ep* f, const void* buffer, size_t count, void*, fi_addr_t to, uint64_t address,
              uint64_t key, fi_datatype type, fi_op op, void* context) {
    const fi_ioc operands = piece(buffer, count);
    return writev(f, &operands, nullptr, 1, to, address, key, type, op, context);
}

ssize_t writemsg(fid_ep* f, const fi_msg_atomic* m, uint64_t flags) {
    return atomic_message(f, AtomicCall::update, *m, {}, {}, flags);
}

ssize_t inject(fid_ep* f, const void* buffer, size_t count, fi_addr_t to, uint64_t address,
               uint64_t key, fi_datatype type, fi_op op) {
    const fi_ioc operands = piece(buffer, count);
    return atomic(endpoint(f), AtomicCall::update, {&operands, 1}, {}, {},
                  {to, address, key, type, op}, nullptr, FI_INJECT);
}

// ---- fetch --------------------------------------------------------------------------------------

ssize_t readwritev(fid_ep* f, const fi_ioc* iov, void**, size_t count, fi_ioc* results, void**,
                   size_t result_count, fi_addr_t to, uint64_t address, uint64_t key,
                   fi_datatype type, fi_op op, void* context) {
    Endpoint& ep = endpoint(f);
    return atomic(ep, AtomicCall::fetch, {iov, count}, {}, {results, result_count},
                  {to, address, key, type, op}, context, send_flags(ep));
}

ssize_t readwrite(fid_ep* f, const void* buffer, size_t count, void*, void* result, void*,
                  fi_addr_t to, uint64_t address, uint64_t key, fi_datatype type, fi_op op,
                  void* context) {
    const fi_ioc operands = piece(buffer, count);
    fi_ioc results = piece(result, count);
    return readwritev(f, &operands, nullptr, 1, &results, nullptr, 1, to, address, key, type, op,
                      context);
}

ssize_t readwritemsg(fid_ep* f, const fi_msg_atomic* m, fi_ioc* results, void**,
                     size_t result_count, uint64_t flags) {
    return atomic_message(f, AtomicCall::fetch, *m, {}, {results, result_count}, flags);
}

// ---- compare ------------------------------------------------------------------------------------

ssize_t compwritev(fid_ep* f, const fi_ioc* iov, void**, size_t count, const fi_ioc* compares,
                   void**, size_t compare_count, fi_ioc* results, void**, size_t result_count,
                   fi_addr_t to, uint64_t address, uint64_t key, fi_datatype type, fi_op op,
                   void* context) {
    Endpoint& ep = endpoint(f);
    return atomic(ep, AtomicCall::compare, {iov, count}, {compares, compare_count},
                  {results, result_count}, {to, address, key, type, op}, context, send_flags(ep));
}

ssize_t compwrite(fid_ep* f, const void* buffer, size_t count, void*, const void* compare, void*,
                  void* result, void*, fi_addr_t to, uint64_t address, uint64_t key,
                  fi_datatype type, fi_op op, void* context) {
    const fi_ioc operands = piece(buffer, count), compares = piece(compare, count);
    fi_ioc results = piece(result, count);
    return compwritev(f, &operands, nullptr, 1, &compares, nullptr, 1, &results, nullptr, 1, to,
                      address, key, type, op, context);
}

ssize_t compwritemsg(fid_ep* f, const fi_msg_atomic* m, const fi_ioc* compares, void**,
                     size_t compare_count, fi_ioc* results, void**, size_t result_count,
                     uint64_t flags) {
    return atomic_message(f, AtomicCall::compare, *m, {compares, compare_count},
                          {results, result_count}, flags);
}

// ---- what there is ------------------------------------------------------------------------------

int describe(AtomicCall call, fi_datatype type, fi_op op, fi_atomic_attr& attr) noexcept {
    const auto* operation = transfer::find_operation(call, type, op);
    if (!operation) return -FI_EOPNOTSUPP;
    attr = {.count = transfer::most_elements(call, operation->size), .size = operation->size};
    return 0;
}

template <AtomicCall Call>
int valid(fid_ep* f, fi_datatype type, fi_op op, size_t* count) {
    if (!offers(endpoint(f), Call)) return -FI_EOPNOTSUPP;
    fi_atomic_attr attr{};
    const int error = describe(Call, type, op, attr);
    *count = attr.count;
    return error;
}

} // namespace

int query_atomic(fid_domain*, fi_datatype type, fi_op op, fi_atomic_attr* attr, uint64_t flags) {
    if (flags & FI_TAGGED) return -FI_EOPNOTSUPP;
    switch (flags) {
    case 0:
        return describe(AtomicCall::update, type, op, *attr);
    case FI_FETCH_ATOMIC:
        return describe(AtomicCall::fetch, type, op, *attr);
    case FI_COMPARE_ATOMIC:
        return describe(AtomicCall::compare, type, op, *attr);
    default:
        return -FI_EINVAL;
    }
}

fi_ops_atomic atomic_ops = {.size = sizeof(fi_ops_atomic),
                            .write = write,
                            .writev = writev,
                            .writemsg = writemsg,
                            .inject = inject,
                            .readwrite = readwrite,
                            .readwritev = readwritev,
                            .readwritemsg = readwritemsg,
                            .compwrite = compwrite,
                            .compwritev = compwritev,
                            .compwritemsg = compwritemsg,
                            .writevalid = valid<AtomicCall::update>,
                            .readwritevalid = valid<AtomicCall::fetch>,
                            .compwritevalid = valid<AtomicCall::compare>};

fi_ops_atomic atomic_ops_before_enable = {.size = sizeof(fi_ops_atomic),
                                          .write = not_enabled,
                                          .writev = not_enabled,
                                          .writemsg = not_enabled,
                                          .inject = not_enabled,
                                          .readwrite = not_enabled,
                                          .readwritev = not_enabled,
                                          .readwritemsg = not_enabled,
                                          .compwrite = not_enabled,
                                          .compwritev = not_enabled,
                                          .compwritemsg = not_enabled,
                                          .writevalid = valid<AtomicCall::update>,
                                          .readwritevalid = valid<AtomicCall::fetch>,
                                          .compwritevalid = valid<AtomicCall::compare>};

} // namespace odrc::ofi
