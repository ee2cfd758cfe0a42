// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "messages.hpp"

#include <algorithm>
#include <cstring>

namespace fabtests_ext::logp {

Messages::Messages(Team& team, const Choice& choice, Way way, size_t bytes, bool copies)
    : Side{team, choice, FI_TAGGED | FI_DIRECTED_RECV, bytes}
    , way_{way}
    , array_(copies ? std::max(kArray, bytes) : 0) {}

void Messages::begin(size_t size) {
    size_ = size;
    prepare();
    team_.barrier();
}

void Messages::send() {
    if (way_ == Way::injected)
        return post("fi_tinject",
                    [&] { return fi_tinject(endpoint_.ep(), out_.data(), size_, peer_, 0); });
    const iovec v{out_.data(), size_};
    void* descriptor = out_.descriptor();
    const fi_msg_tagged message{.msg_iov = &v,
                                .desc = &descriptor,
                                .iov_count = 1,
                                .addr = peer_,
                                .tag = 0,
                                .ignore = 0,
                                .context = next_context(),
                                .data = 0};
    post("fi_tsendmsg", [&] { return fi_tsendmsg(endpoint_.ep(), &message, 0); });
}

// Receives are for messages of any size, so that none is left over for one that does not come.
void Messages::keep_posted(size_t receives) {
    const iovec v{in_.data(), in_.size()};
    void* descriptor = in_.descriptor();
    while (posted_ - taken_ < receives) {
        const fi_msg_tagged message{.msg_iov = &v,
                                    .desc = &descriptor,
                                    .iov_count = 1,
                                    .addr = peer_,
                                    .tag = 0,
                                    .ignore = 0,
                                    .context = next_context(),
                                    .data = 0};
        post("fi_trecvmsg", [&] { return fi_trecvmsg(endpoint_.ep(), &message, FI_COMPLETION); });
        ++posted_;
    }
}

void Messages::acknowledge() {
    post("fi_tinject",
         [&] { return fi_tinject(endpoint_.ep(), out_.data(), kAcknowledgement, peer_, 0); });
}

void Messages::copy_out() {
    if (array_used_ + size_ > array_.size()) array_used_ = 0;
    std::memcpy(array_.data() + array_used_, in_.data(), size_);
    array_used_ += size_;
}

// A receive stands before each message: the acknowledgement of a half says that there are receives
// for another one.
double Messages::stream(size_t count) {
    const size_t halves = (count + kHalf - 1) / kHalf;
    const size_t ahead = kWindow / kHalf;
    keep_posted(first() ? ahead : kWindow);
    team_.barrier();
    const Stopwatch watch;
    for (size_t half = 0; half < halves; ++half) {
        if (first() && half >= ahead) {
            receive();
            keep_posted(ahead);
        }
        for (size_t i = 0; i < kHalf; ++i) {
            if (first()) {
                send();
                continue;
            }
            receive();
            if (!array_.empty()) copy_out();
            keep_posted(kWindow);
        }
        if (!first()) acknowledge();
    }
    if (first())
        for (size_t left = std::min(halves, ahead); left > 0; --left) receive();
    const double gap = watch.nanoseconds() / 1e3 / static_cast<double>(halves * kHalf);
    prepare();
    return gap;
}

} // namespace fabtests_ext::logp
