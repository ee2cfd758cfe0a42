// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "bench/soft_verbs/side.hpp"

#include <cstring>

namespace bench {
namespace {

constexpr uint32_t kCompletions = 4096;

} // namespace

Side::Side(Team& team)
    : context_{open_soft_device()}
    , pd_{*context_, must(context_->alloc_pd(), "alloc_pd")}
    , cq_{*context_, must(context_->create_cq(kCompletions, nullptr, nullptr), "create_cq")} {
    ibv_srq_init_attr srq{};
    srq.attr = {.max_wr = kReceives, .max_sge = 1, .srq_limit = 0};
    srq_ = verbs::Srq{*context_, must(context_->create_srq(pd(), &srq), "create_srq")};
    ibv_qp_init_attr qp{};
    qp.send_cq = qp.recv_cq = cq_.get();
    qp.srq = srq_.get();
    qp.cap.max_send_wr = kSends;
    qp.cap.max_send_sge = 1;
    qp.cap.max_inline_data = 64;
    qp.qp_type = IBV_QPT_RC;
    qp_ = verbs::Qp{*context_, must(context_->create_qp(pd(), &qp), "create_qp")};
    const auto numbers = team.numbers(qp_->qp_num);
    connect(*context_, qp_.get(), static_cast<uint32_t>(numbers[team.rank() == 0 ? 1 : 0]));
    team.barrier();
}

void Side::post_receives(const Memory& inbox, uint32_t count) {
    const uint64_t places = inbox.size() / kReceiveBytes;
    for (uint32_t i = 0; i < count; ++i, ++posted_) {
        std::byte* place = inbox.data() + posted_ % places * kReceiveBytes;
        segments_[i] = {reinterpret_cast<uint64_t>(place), kReceiveBytes, inbox.lkey()};
        receives_[i] = {.wr_id = reinterpret_cast<uint64_t>(place),
                        .next = i + 1 < count ? &receives_[i + 1] : nullptr,
                        .sg_list = &segments_[i],
                        .num_sge = 1};
    }
    ibv_recv_wr* bad = nullptr;
    if (ibv_post_srq_recv(srq_.get(), receives_.data(), &bad))
        throw std::runtime_error{"ibv_post_srq_recv failed"};
}

Memory::Memory(Side& side, Kind kind, size_t bytes)
    : side_{side}
    , bytes_{bytes}
    , own_(kind == Kind::own ? bytes : 0)
    , data_{kind == Kind::own
                ? own_.data()
                : static_cast<std::byte*>(must(side.context().allocate(bytes), "allocate"))} {
    std::memset(data_, 0, bytes);
    constexpr int kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
    mr_ = verbs::Mr{side.context(),
                    must(side.context().reg_mr(side.pd(), data_, bytes, kAll), "reg_mr")};
}

Memory::~Memory() {
    mr_ = {};
    if (own_.empty()) side_.context().release(data_, bytes_);
}

Remote Memory::exchange(Team& team) const {
    const size_t other = team.rank() == 0 ? 1 : 0;
    const auto addresses = team.numbers(reinterpret_cast<uint64_t>(data_));
    const auto keys = team.numbers(mr_->rkey);
    return {.address = addresses[other], .rkey = static_cast<uint32_t>(keys[other])};
}

} // namespace bench
