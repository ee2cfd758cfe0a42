// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/log.hpp"
#include "srq/buffer_pool.hpp"
#include "verbs_rc/work_id.hpp"

#include <algorithm>

namespace odrc::srq {

inline constexpr uint32_t kReceivesAtOnce = 16;

// Posts up to so many receives, some in a call, into buffers that next() gives: null, there are no
// more. post(first, bad) is one call, as ibv_post_recv(3); what it does not take goes to
// refused(buffer). Gives how many were posted.
template <class Next, class Post, class Refused>
uint32_t post_receives(uint32_t count, size_t bytes, Next&& next, Post&& post,
                       Refused&& refused) noexcept {
    uint32_t posted = 0;
    while (posted < count) {
        ibv_recv_wr requests[kReceivesAtOnce];
        ibv_sge segments[kReceivesAtOnce];
        uint32_t n = 0;
        for (; n < std::min(count - posted, kReceivesAtOnce); ++n) {
            const Buffer* buffer = next();
            if (!buffer) break;
            segments[n] = {.addr = reinterpret_cast<uint64_t>(buffer->data),
                           .length = static_cast<uint32_t>(bytes),
                           .lkey = buffer->lkey};
            requests[n] = {.wr_id = verbs::WorkId{verbs::WorkKind::receive, buffer, 0}.bits(),
                           .next = &requests[n + 1],
                           .sg_list = &segments[n],
                           .num_sge = 1};
        }
        if (n == 0) break;
        requests[n - 1].next = nullptr;
        ibv_recv_wr* bad = nullptr;
        const int error = post(requests, &bad);
        if (error == 0) {
            posted += n;
            continue;
        }
        ODRC_WARN(FI_LOG_EP_DATA, "a receive could not be posted: {}", fi_strerror(error));
        posted += static_cast<uint32_t>(bad - requests);
        for (; bad; bad = bad->next) refused(verbs::WorkId{bad->wr_id}.object<Buffer>());
        break;
    }
    return posted;
}

} // namespace odrc::srq
