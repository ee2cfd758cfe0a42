// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// fi_tagged(3)

#include "ofi/calls.hpp"

#include <rdma/fi_tagged.h>

namespace odrc::ofi {
namespace {

// By default many messages go into one buffer where they have no tag.
uint64_t tagged_receive_flags(const Endpoint& ep) noexcept {
    return receive_flags(ep) & ~FI_MULTI_RECV;
}

ssize_t recv(fid_ep* f, void* buffer, size_t length, void*, fi_addr_t from, uint64_t tag,
             uint64_t ignore, void* context) {
    Endpoint& ep = endpoint(f);
    const iovec iov{buffer, length};
    return receive<FI_TAGGED>(ep, {&iov, 1}, from, tag, ignore, context, tagged_receive_flags(ep));
}

ssize_t recvv(fid_ep* f, const iovec* iov, void**, size_t count, fi_addr_t from, uint64_t tag,
              uint64_t ignore, void* context) {
    Endpoint& ep = endpoint(f);
    return receivev<FI_TAGGED>(ep, iov, count, from, tag, ignore, context,
                               tagged_receive_flags(ep));
}

ssize_t recvmsg(fid_ep* f, const fi_msg_tagged* m, uint64_t flags) {
    Endpoint& ep = endpoint(f);
    if (flags & ~kReceiveCallFlags) return -FI_EBADFLAGS;
    return receivev<FI_TAGGED>(ep, m->msg_iov, m->iov_count, m->addr, m->tag, m->ignore, m->context,
                               receive_flags(ep, flags));
}

ssize_t send(fid_ep* f, const void* buffer, size_t length, void* key, fi_addr_t to, uint64_t tag,
             void* context) {
    Endpoint& ep = endpoint(f);
    return send<FI_TAGGED>(ep, buffer, length, key, to, tag, 0, context, send_flags(ep));
}

ssize_t sendv(fid_ep* f, const iovec* iov, void** keys, size_t count, fi_addr_t to, uint64_t tag,
              void* context) {
    Endpoint& ep = endpoint(f);
    return sendv<FI_TAGGED>(ep, iov, keys, count, to, tag, 0, context, send_flags(ep));
}

ssize_t sendmsg(fid_ep* f, const fi_msg_tagged* m, uint64_t flags) {
    Endpoint& ep = endpoint(f);
    if (flags & ~kSendCallFlags) return refuse(ep, FI_EBADFLAGS);
    return sendv<FI_TAGGED>(ep, m->msg_iov, m->desc, m->iov_count, m->addr, m->tag, m->data,
                            m->context, send_flags(ep, flags));
}

ssize_t inject(fid_ep* f, const void* buffer, size_t length, fi_addr_t to, uint64_t tag) {
    return inject<FI_TAGGED>(endpoint(f), buffer, length, to, tag, 0, 0);
}

ssize_t senddata(fid_ep* f, const void* buffer, size_t length, void* key, uint64_t data,
                 fi_addr_t to, uint64_t tag, void* context) {
    Endpoint& ep = endpoint(f);
    return send<FI_TAGGED>(ep, buffer, length, key, to, tag, data, context,
                           send_flags(ep) | FI_REMOTE_CQ_DATA);
}

ssize_t injectdata(fid_ep* f, const void* buffer, size_t length, uint64_t data, fi_addr_t to,
                   uint64_t tag) {
    return inject<FI_TAGGED>(endpoint(f), buffer, length, to, tag, data, FI_REMOTE_CQ_DATA);
}

} // namespace

fi_ops_tagged tagged_ops = {.size = sizeof(fi_ops_tagged),
                            .recv = recv,
                            .recvv = recvv,
                            .recvmsg = recvmsg,
                            .send = send,
                            .sendv = sendv,
                            .sendmsg = sendmsg,
                            .inject = inject,
                            .senddata = senddata,
                            .injectdata = injectdata};

fi_ops_tagged tagged_ops_before_enable = {.size = sizeof(fi_ops_tagged),
                                          .recv = not_enabled,
                                          .recvv = not_enabled,
                                          .recvmsg = not_enabled,
                                          .send = not_enabled,
                                          .sendv = not_enabled,
                                          .sendmsg = not_enabled,
                                          .inject = not_enabled,
                                          .senddata = not_enabled,
                                          .injectdata = not_enabled};

} // namespace odrc::ofi
