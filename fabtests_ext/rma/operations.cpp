// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "operations.hpp"

#include <rdma/fi_atomic.h>

namespace fabtests_ext::rma {

Operations::Operations(Team& team, const Choice& choice, Operation operation, size_t bytes,
                       std::atomic<unsigned>& over)
    : Side{team, choice, is_atomic(operation) ? FI_ATOMIC : FI_RMA, bytes}
    , operation_{operation}
    , over_{over}
    , target_{exchange_targets()} {}

double Operations::run(size_t size, size_t count, size_t window) {
    team_.barrier();
    ++rounds_;
    if (!first()) {
        spin_until([&] {
            reap();
            return over_.load() == rounds_;
        });
        return 0;
    }
    const size_t before = done_;
    const Stopwatch watch;
    for (size_t i = 0; i < count; ++i) {
        if (i >= window) await(before + i - window + 1);
        begin(size);
    }
    await(before + count);
    const double time = watch.nanoseconds() / 1e3 / static_cast<double>(count);
    over_.store(rounds_);
    return time;
}

void Operations::begin(size_t size) {
    if (operation_ == Operation::write)
        write(target_, size, FI_COMPLETION);
    else if (operation_ == Operation::read)
        read(target_, size, FI_COMPLETION);
    else
        update();
}

// Words of a page that nobody else looks at: operand, what to compare with, and what was there.
void Operations::update() {
    auto* words = reinterpret_cast<uint64_t*>(out_.data());
    fi_ioc operand{words, 1}, compared{words + 1, 1}, found{words + 2, 1};
    fi_rma_ioc there{target_.address, 1, target_.key};
    void* descriptor = out_.descriptor();
    const fi_msg_atomic message{.msg_iov = &operand,
                                .desc = &descriptor,
                                .iov_count = 1,
                                .addr = peer_,
                                .rma_iov = &there,
                                .rma_iov_count = 1,
                                .datatype = FI_UINT64,
                                .op = operation_ == Operation::compare_swap ? FI_CSWAP : FI_SUM,
                                .context = next_context(),
                                .data = 0};
    fid_ep* ep = endpoint_.ep();
    post("fi_atomicmsg, fi_fetch_atomicmsg or fi_compare_atomicmsg", [&] {
        switch (operation_) {
        case Operation::add:
            return fi_atomicmsg(ep, &message, FI_COMPLETION);
        case Operation::fetch_add:
            return fi_fetch_atomicmsg(ep, &message, &found, &descriptor, 1, FI_COMPLETION);
        default:
            return fi_compare_atomicmsg(ep, &message, &compared, &descriptor, 1, &found,
                                        &descriptor, 1, FI_COMPLETION);
        }
    });
}

} // namespace fabtests_ext::rma
