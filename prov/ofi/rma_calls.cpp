// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// fi_rma(3)

#include "ofi/calls.hpp"

namespace odrc::ofi {
namespace {

// What only makes sense for a write.
constexpr uint64_t kWriteOnly = FI_INJECT | FI_REMOTE_CQ_DATA;

// Kind is FI_READ or FI_WRITE.
template <uint64_t Kind>
ssize_t move(Endpoint& ep, const fi_msg_rma& m, uint64_t flags) noexcept {
    if (!ep.offers(FI_RMA | Kind)) return refuse(ep, FI_EOPNOTSUPP);
    if (missing(m.msg_iov, m.iov_count) || missing(m.rma_iov, m.rma_iov_count))
        return refuse(ep, FI_EINVAL);
    const Entry entry{ep.gate()};
    return ep.engine().rma({.iov = {m.msg_iov, m.iov_count},
                            .keys = ep.keys_given() ? m.desc : nullptr,
                            .remote = {m.rma_iov, m.rma_iov_count},
                            .to = m.addr,
                            .data = m.data,
                            .context = m.context,
                            .flags = flags | Kind});
}

// Between some pieces of ours and as many bytes in one piece of the peer's.
template <uint64_t Kind>
ssize_t move(Endpoint& ep, std::span<const iovec> iov, void** desc, fi_addr_t peer,
             uint64_t address, uint64_t key, uint64_t data, void* context,
             uint64_t flags) noexcept {
    if (missing(iov.data(), iov.size())) return refuse(ep, FI_EINVAL);
    const fi_rma_iov remote{.addr = address, .len = transfer::length_of(iov), .key = key};
    return move<Kind>(ep,
                      {.msg_iov = iov.data(),
                       .desc = desc,
                       .iov_count = iov.size(),
                       .addr = peer,
                       .rma_iov = &remote,
                       .rma_iov_count = 1,
                       .context = context,
                       .data = data},
                      flags);
}

// Flags that an endpoint has for all its operations go with reads as far as they apply.
uint64_t read_flags(const Endpoint& ep) noexcept { return send_flags(ep) & ~kWriteOnly; }

ssize_t read(fid_ep* f, void* buffer, size_t length, void* desc, fi_addr_t from, uint64_t address,
             uint64_t key, void* context) {
    Endpoint& ep = endpoint(f);
    const iovec iov{buffer, length};
    return move<FI_READ>(ep, {&iov, 1}, &desc, from, address, key, 0, context, read_flags(ep));
}

ssize_t readv(fid_ep* f, const iovec* iov, void** desc, size_t count, fi_addr_t from,
              uint64_t address, uint64_t key, void* context) {
    Endpoint& ep = endpoint(f);
    return move<FI_READ>(ep, {iov, count}, desc, from, address, key, 0, context, read_flags(ep));
}

ssize_t readmsg(fid_ep* f, const fi_msg_rma* m, uint64_t flags) {
    Endpoint& ep = endpoint(f);
    if (flags & ~(kSendCallFlags & ~kWriteOnly)) return refuse(ep, FI_EBADFLAGS);
    return move<FI_READ>(ep, *m, send_flags(ep, flags));
}

ssize_t write(fid_ep* f, const void* buffer, size_t length, void* desc, fi_addr_t to,
              uint64_t address, uint64_t key, void* context) {
    Endpoint& ep = endpoint(f);
    const iovec iov{const_cast<void*>(buffer), length};
    return move<FI_WRITE>(ep, {&iov, 1}, &desc, to, address, key, 0, context, send_flags(ep));
}

ssize_t writev(fid_ep* f, const iovec* iov, void** desc, size_t count, fi_addr_t to,
               uint64_t address, uint64_t key, void* context) {
    Endpoint& ep = endpoint(f);
    return move<FI_WRITE>(ep, {iov, count}, desc, to, address, key, 0, context, send_flags(ep));
}

ssize_t writemsg(fid_ep* f, const fi_msg_rma* m, uint64_t flags) {
    Endpoint& ep = endpoint(f);
    if (flags & ~kSendCallFlags) return refuse(ep, FI_EBADFLAGS);
    return move<FI_WRITE>(ep, *m, send_flags(ep, flags));
}

ssize_t inject(fid_ep* f, const void* buffer, size_t length, fi_addr_t to, uint64_t address,
               uint64_t key) {
    const iovec iov{const_cast<void*>(buffer), length};
    return move<FI_WRITE>(endpoint(f), {&iov, 1}, nullptr, to, address, key, 0, nullptr, FI_INJECT);
}

ssize_t writedata(fid_ep* f, const void* buffer, size_t length, void* desc, uint64_t data,
                  fi_addr_t to, uint64_t address, uint64_t key, void* context) {
    Endpoint& ep = endpoint(f);
    const iovec iov{const_cast<void*>(buffer), length};
    return move<FI_WRITE>(ep, {&iov, 1}, &desc, to, address, key, data, context,
                          send_flags(ep) | FI_REMOTE_CQ_DATA);
}

ssize_t injectdata(fid_ep* f, const void* buffer, size_t length, uint64_t data, fi_addr_t to,
                   uint64_t address, uint64_t key) {
    const iovec iov{const_cast<void*>(buffer), length};
    return move<FI_WRITE>(endpoint(f), {&iov, 1}, nullptr, to, address, key, data, nullptr,
                          FI_INJECT | FI_REMOTE_CQ_DATA);
}

} // namespace

fi_ops_rma rma_ops = {.size = sizeof(fi_ops_rma),
                      .read = read,
                      .readv = readv,
                      .readmsg = readmsg,
                      .write = write,
                      .writev = writev,
                      .writemsg = writemsg,
                      .inject = inject,
                      .writedata = writedata,
                      .injectdata = injectdata};

fi_ops_rma rma_ops_before_enable = {.size = sizeof(fi_ops_rma),
                                    .read = not_enabled,
                                    .readv = not_enabled,
                                    .readmsg = not_enabled,
                                    .write = not_enabled,
                                    .writev = not_enabled,
                                    .writemsg = not_enabled,
                                    .inject = not_enabled,
                                    .writedata = not_enabled,
                                    .injectdata = not_enabled};

} // namespace odrc::ofi
