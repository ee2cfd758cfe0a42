// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "verbs_rc/adapter.hpp"

#include "base/error.hpp"
#include "base/log.hpp"

namespace odrc::verbs {

Adapter::Adapter(const Device& device)
    : port_{device.port()}
    , context_{device.open()} {
    if (const ibv_gid gid = context_->gid(); gid.global.interface_id != 0) port_.gid = gid;
    pd_ = Pd{*context_, context_->alloc_pd()};
    if (!pd_) {
        ODRC_WARN(FI_LOG_DOMAIN, "{}: no protection domain: {}", port_.name(), fi_strerror(errno));
        throw Error{errno};
    }
    if (port_.whole_memory) open_whole_memory();
    max_inline_ = probe_inline();
}

void Adapter::open_whole_memory() {
    whole_ = Mr{*context_, context_->reg_mr(pd(), nullptr, SIZE_MAX,
                                            IBV_ACCESS_ON_DEMAND | IBV_ACCESS_LOCAL_WRITE |
                                                IBV_ACCESS_REMOTE_READ)};
    if (!whole_) {
        ODRC_WARN(FI_LOG_DOMAIN, "{}: cannot register all memory: {}", port_.name(),
                  fi_strerror(errno));
        throw Error{errno};
    }
}

int Adapter::register_memory(void* address, size_t length, int access, Registration& out) noexcept {
    if (whole_ || length == 0) {
        out = whole_ ? Registration{whole_->lkey, whole_->rkey} : Registration{};
        return 0;
    }
    ibv_mr* mr = reg_mr(address, length, access);
    if (!mr) return errno;
    out = Registration{*context_, mr};
    return 0;
}

Mr Adapter::make_region(void* address, size_t length, int access) {
    ibv_mr* mr = reg_mr(address, length, access);
    if (!mr) throw Error{errno};
    return {*context_, mr};
}

// Null and errno, after a line that says why.
ibv_mr* Adapter::reg_mr(void* address, size_t length, int access) noexcept {
    ibv_mr* mr = context_->reg_mr(pd(), address, length, access);
    if (mr) return mr;
    const int error = errno;
    ODRC_WARN(FI_LOG_MR, "{}: cannot register {} bytes of user memory: {}", port_.name(), length,
              fi_strerror(error));
    errno = error;
    return nullptr;
}

// Drivers refuse a queue pair that asks for more inline data than they have, and say nowhere how
// much that is: ask for less and less.
uint32_t Adapter::probe_inline() {
    Cq cq{*context_, context_->create_cq(1, nullptr, nullptr)};
    if (!cq) return 0;
    for (const uint32_t bytes : {2048u, 1024u, 512u, 256u, 128u, 64u}) {
        ibv_qp_init_attr attr{};
        attr.send_cq = attr.recv_cq = cq.get();
        attr.cap = {.max_send_wr = 1,
                    .max_recv_wr = 1,
                    .max_send_sge = 2,
                    .max_recv_sge = 1,
                    .max_inline_data = bytes};
        attr.qp_type = IBV_QPT_RC;
        if (Qp qp{*context_, context_->create_qp(pd(), &attr)}) return attr.cap.max_inline_data;
    }
    return 0;
}

} // namespace odrc::verbs
