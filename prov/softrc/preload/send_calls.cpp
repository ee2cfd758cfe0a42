// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/preload/send_calls.hpp"

#include <cerrno>

namespace odrc::soft {
namespace {

SendCalls& self(ibv_qp_ex* qp) noexcept { return *static_cast<SendCalls*>(qp); }

} // namespace

SendCalls::SendCalls(ibv_qp& qp) noexcept
    : ibv_qp_ex{}
    , qp_{qp} {
    qp_base = qp;
    offer_requests();
    offer_setters();
    wr_start = [](ibv_qp_ex* q) { self(q).mutex_.lock(); };
    wr_complete = [](ibv_qp_ex* q) { return self(q).complete(); };
    wr_abort = [](ibv_qp_ex* q) { self(q).leave(); };
}

void SendCalls::offer_requests() noexcept {
    wr_send = [](ibv_qp_ex* q) { self(q).begin(IBV_WR_SEND); };
    wr_send_imm = [](ibv_qp_ex* q, __be32 data) {
        self(q).begin(IBV_WR_SEND_WITH_IMM).imm_data = data;
    };
    wr_rdma_write = [](ibv_qp_ex* q, uint32_t rkey, uint64_t address) {
        self(q).begin_rdma(IBV_WR_RDMA_WRITE, rkey, address);
    };
    wr_rdma_write_imm = [](ibv_qp_ex* q, uint32_t rkey, uint64_t address, __be32 data) {
        self(q).begin_rdma(IBV_WR_RDMA_WRITE_WITH_IMM, rkey, address).imm_data = data;
    };
    wr_rdma_read = [](ibv_qp_ex* q, uint32_t rkey, uint64_t address) {
        self(q).begin_rdma(IBV_WR_RDMA_READ, rkey, address);
    };
    wr_atomic_fetch_add = [](ibv_qp_ex* q, uint32_t rkey, uint64_t address, uint64_t add) {
        self(q).begin_atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, address, add, 0);
    };
    wr_atomic_cmp_swp = [](ibv_qp_ex* q, uint32_t rkey, uint64_t address, uint64_t compare,
                           uint64_t swap) {
        self(q).begin_atomic(IBV_WR_ATOMIC_CMP_AND_SWP, rkey, address, compare, swap);
    };
}

void SendCalls::offer_setters() noexcept {
    wr_set_ud_addr = [](ibv_qp_ex* q, ibv_ah* ah, uint32_t remote_qpn, uint32_t remote_qkey) {
        self(q).latest().wr.ud = {ah, remote_qpn, remote_qkey};
    };
    wr_set_sge = [](ibv_qp_ex* q, uint32_t lkey, uint64_t address, uint32_t length) {
        const ibv_sge segment{.addr = address, .length = length, .lkey = lkey};
        self(q).add_segments({&segment, 1});
    };
    wr_set_sge_list = [](ibv_qp_ex* q, size_t count, const ibv_sge* list) {
        self(q).add_segments({list, count});
    };
    wr_set_inline_data = [](ibv_qp_ex* q, void* address, size_t length) {
        const ibv_data_buf buffer{.addr = address, .length = length};
        self(q).add_inline({&buffer, 1});
    };
    wr_set_inline_data_list = [](ibv_qp_ex* q, size_t count, const ibv_data_buf* list) {
        self(q).add_inline({list, count});
    };
}

ibv_send_wr& SendCalls::begin(ibv_wr_opcode opcode) noexcept {
    try {
        ibv_send_wr& request = requests_.emplace_back();
        request.wr_id = wr_id;
        request.opcode = opcode;
        request.send_flags = wr_flags & ~unsigned{IBV_SEND_INLINE}; // the setters' say
        return request;
    } catch (const std::bad_alloc&) {
        error_ = ENOMEM;
        return spare_;
    }
}

ibv_send_wr& SendCalls::begin_rdma(ibv_wr_opcode opcode, uint32_t rkey, uint64_t address) noexcept {
    ibv_send_wr& request = begin(opcode);
    request.wr.rdma.remote_addr = address;
    request.wr.rdma.rkey = rkey;
    return request;
}

void SendCalls::begin_atomic(ibv_wr_opcode opcode, uint32_t rkey, uint64_t address,
                             uint64_t operand, uint64_t swap) noexcept {
    begin(opcode).wr.atomic = {
        .remote_addr = address, .compare_add = operand, .swap = swap, .rkey = rkey};
}

// The request that a setter speaks of.
ibv_send_wr& SendCalls::latest() noexcept {
    if (!requests_.empty()) return requests_.back();
    error_ = EINVAL;
    return spare_;
}

void SendCalls::add_segments(std::span<const ibv_sge> list) noexcept {
    try {
        segments_.insert(segments_.end(), list.begin(), list.end());
        latest().num_sge += static_cast<int>(list.size());
    } catch (const std::bad_alloc&) {
        error_ = ENOMEM;
    }
}

void SendCalls::add_inline(std::span<const ibv_data_buf> list) noexcept {
    ibv_sge segment{.addr = data_.size(), .length = 0, .lkey = 0};
    try {
        for (const ibv_data_buf& buffer : list) {
            const auto* data = static_cast<const std::byte*>(buffer.addr);
            data_.insert(data_.end(), data, data + buffer.length);
            segment.length += static_cast<uint32_t>(buffer.length);
        }
    } catch (const std::bad_alloc&) {
        error_ = ENOMEM;
    }
    add_segments({&segment, 1});
    latest().send_flags |= IBV_SEND_INLINE;
}

int SendCalls::complete() noexcept {
    int error = error_;
    if (error == 0 && !requests_.empty()) {
        ibv_sge* segment = segments_.data();
        for (ibv_send_wr& request : requests_) {
            request.next = &request == &requests_.back() ? nullptr : &request + 1;
            request.sg_list = segment;
            segment += request.num_sge;
            if (request.send_flags & IBV_SEND_INLINE)
                request.sg_list->addr += reinterpret_cast<uint64_t>(data_.data());
        }
        ibv_send_wr* refused = nullptr;
        error = ibv_post_send(&qp_, requests_.data(), &refused);
    }
    leave();
    return error;
}

void SendCalls::leave() noexcept {
    requests_.clear();
    segments_.clear();
    data_.clear();
    error_ = 0;
    mutex_.unlock();
}

} // namespace odrc::soft
