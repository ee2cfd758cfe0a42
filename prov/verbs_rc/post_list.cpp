// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "verbs_rc/post_list.hpp"

#include <algorithm>
#include <cerrno>

namespace odrc::verbs {

bool PostList::hold(ibv_qp* qp, const ibv_send_wr& wr) noexcept {
    const auto segments = static_cast<size_t>(wr.num_sge);
    if (segments > kSegments) return false;
    if (qp_ != qp || count_ == kRequests || segment_count_ + segments > kSegments) post_held();
    if (refused_ > 0) return false;
    qp_ = qp;
    ibv_send_wr& held = requests_[count_] = wr;
    held.next = nullptr;
    held.sg_list = &segments_[segment_count_];
    std::copy_n(wr.sg_list, segments, held.sg_list);
    if (count_ > 0) requests_[count_ - 1].next = &held;
    ++count_;
    segment_count_ += segments;
    return true;
}

int PostList::post_behind(ibv_send_wr* last) noexcept {
    if (refused_ > 0) return EIO; // a gap before it
    requests_[count_ - 1].next = last;
    ++posts_;
    ibv_send_wr* bad = nullptr;
    const int error = ibv_post_send(qp_, requests_.data(), &bad);
    if (error && bad != last)
        refused_ = static_cast<size_t>(requests_.data() + count_ - bad);
    else
        clear();
    return error;
}

} // namespace odrc::verbs
