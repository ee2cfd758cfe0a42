// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "rig.hpp"

#include <algorithm>

namespace rig {

Side::Side(int completions)
    : context{open_device()}
    , pd{ibv_alloc_pd(context.get())}
    , channel{ibv_create_comp_channel(context.get())}
    , sends{ibv_create_cq(context.get(), completions, this, channel.get(), 0)}
    , receives{ibv_create_cq(context.get(), completions, this, channel.get(), 0)} {
    REQUIRE(pd);
    REQUIRE(channel);
    REQUIRE(sends);
    REQUIRE(receives);
}

Qp Side::make_qp(const QpNeeds& needs) const {
    ibv_qp_init_attr init{};
    init.send_cq = sends.get();
    init.recv_cq = receives.get();
    init.srq = needs.srq;
    init.cap = needs.cap;
    init.qp_type = needs.type;
    init.sq_sig_all = needs.signal_all;
    Qp qp{ibv_create_qp(pd.get(), &init)};
    REQUIRE(qp);
    return qp;
}

Srq Side::make_srq(uint32_t receives_, uint32_t segments) const {
    ibv_srq_init_attr init{};
    init.attr = {.max_wr = receives_, .max_sge = segments, .srq_limit = 0};
    Srq srq{ibv_create_srq(pd.get(), &init)};
    REQUIRE(srq);
    return srq;
}

std::optional<ibv_wc> poll(ibv_cq* cq) {
    ibv_wc wc{};
    const int count = ibv_poll_cq(cq, 1, &wc);
    if (count < 0) FAIL("the completion queue cannot be polled");
    return count ? std::optional{wc} : std::nullopt;
}

ibv_wc next(ibv_cq* cq) {
    std::optional<ibv_wc> wc;
    await([&] { return (wc = poll(cq)).has_value(); });
    return *wc;
}

ibv_wc Side::sent() const { return next(sends.get()); }
ibv_wc Side::received() const { return next(receives.get()); }
bool Side::quiet() const { return !poll(sends.get()) && !poll(receives.get()); }

Mr register_memory(const Pd& pd, void* address, size_t size, unsigned access) {
    return Mr{ibv_reg_mr(pd.get(), address, size, access)};
}

Region::Region(const Pd& pd, size_t size, unsigned access)
    : bytes(size)
    , mr{register_memory(pd, bytes.data(), size, access)} {
    REQUIRE(mr);
}

ibv_sge Region::segment(size_t offset, size_t size) const {
    return {address(offset), static_cast<uint32_t>(size), mr->lkey};
}

uint64_t Region::address(size_t offset) const {
    return reinterpret_cast<uint64_t>(bytes.data()) + offset;
}

void Region::fill(int seed) {
    for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<char>(static_cast<size_t>(seed) + i * 7 + i / 251);
}

ibv_sge plain(const void* address, size_t size) {
    return {reinterpret_cast<uint64_t>(address), static_cast<uint32_t>(size), 0};
}

bool all_zero(const std::vector<char>& bytes, size_t from, size_t to) {
    return std::all_of(bytes.data() + from, bytes.data() + to, [](char c) { return c == 0; });
}

Pair::Pair(const Needs& needs)
    : qa{a.make_qp(needs.qp)}
    , qb{b.make_qp(needs.qp)}
    , ma{a.pd, needs.bytes}
    , mb{b.pd, needs.bytes} {
    connect(qa.get(), qb->qp_num, needs.path);
    connect(qb.get(), qa->qp_num, needs.path);
}

void Pair::reconnect(const Path& path) {
    REQUIRE(modify(qa.get(), to(IBV_QPS_RESET)) == 0);
    REQUIRE(modify(qb.get(), to(IBV_QPS_RESET)) == 0);
    connect(qa.get(), qb->qp_num, path);
    connect(qb.get(), qa->qp_num, path);
}

} // namespace rig
