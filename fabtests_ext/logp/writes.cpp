// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "writes.hpp"

#include <atomic>
#include <rdma/fi_atomic.h>

namespace fabtests_ext::logp {

Writes::Writes(Team& team, const Choice& choice, size_t bytes)
    : Side{team, choice, FI_RMA, bytes}
    , target_{exchange_targets()} {}

void Writes::begin(size_t size) {
    team_.barrier(); // nothing is on its way
    size_ = size;
    next_ = expected_ = 1;
    in_.data()[size - 1] = 0;
    team_.barrier();
}

void Writes::send() {
    out_.data()[size_ - 1] = next_;
    next_ = after(next_);
    write(target_, size_, 0);
}

// The byte that tells is 0 in all but the last, and that one goes when the others are over: they
// share its memory.
double Writes::stream(size_t count) {
    begin(size_);
    const Stopwatch watch;
    if (!first()) {
        receive();
        send();
        return 0;
    }
    out_.data()[size_ - 1] = 0;
    const size_t begun = done_;
    const size_t ahead = kWindow / kHalf;
    size_t asked = 0;
    for (size_t i = 1; i < count; ++i) {
        const bool asks = i % kHalf == 0 || i == count - 1;
        write(target_, size_, asks ? FI_COMPLETION : 0);
        asked += asks;
        if (asked >= ahead) await(begun + asked - ahead + 1);
    }
    await(begun + asked);
    send();
    receive();
    return watch.nanoseconds() / 1e3 / static_cast<double>(count);
}

Additions::Additions(Team& team, const Choice& choice)
    : Side{team, choice, FI_ATOMIC, 2 * sizeof(uint64_t)}
    , target_{exchange_targets()} {}

double Additions::add(size_t count) {
    total_ += count;
    team_.barrier();
    const Stopwatch watch;
    if (!first()) {
        const std::atomic_ref word{*reinterpret_cast<uint64_t*>(in_.data())};
        spin_until([&] {
            reap();
            return word.load() == total_;
        });
        return 0;
    }
    uint64_t& one = *reinterpret_cast<uint64_t*>(out_.data());
    uint64_t& found = *reinterpret_cast<uint64_t*>(in_.data());
    one = 1;
    for (size_t i = 0; i < count; ++i) {
        fi_ioc operand{&one, 1}, result{&found, 1};
        fi_rma_ioc there{target_.address, 1, target_.key};
        void *out_descriptor = out_.descriptor(), *in_descriptor = in_.descriptor();
        const fi_msg_atomic message{.msg_iov = &operand,
                                    .desc = &out_descriptor,
                                    .iov_count = 1,
                                    .addr = peer_,
                                    .rma_iov = &there,
                                    .rma_iov_count = 1,
                                    .datatype = FI_UINT64,
                                    .op = FI_SUM,
                                    .context = next_context(),
                                    .data = 0};
        const size_t before = done_;
        post("fi_fetch_atomicmsg", [&] {
            return fi_fetch_atomicmsg(endpoint_.ep(), &message, &result, &in_descriptor, 1,
                                      FI_COMPLETION);
        });
        await(before + 1);
        if (found != total_ - count + i) throw std::runtime_error{"an addition went astray"};
    }
    return watch.nanoseconds() / 1e3 / static_cast<double>(count);
}

} // namespace fabtests_ext::logp
