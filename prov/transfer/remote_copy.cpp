// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/remote_copy.hpp"

#include <algorithm>

namespace odrc::transfer {

size_t RemoteCopy::next(bool soft, size_t most, uint32_t max_segments, ibv_send_wr& wr,
                        Segments& segments) noexcept {
    size_t count = 0;
    if (left() > 0) {
        while (in_piece == remote[piece].length) {
            ++piece;
            in_piece = 0;
        }
        most = std::min({most, left(), remote[piece].length - in_piece});
        wr.wr.rdma.remote_addr = remote[piece].address + in_piece;
        wr.wr.rdma.rkey = soft ? remote[piece].soft_rkey : remote[piece].rkey;
        size_t skip = posted;
        for (size_t i = 0; i < local.size() && count < most && segments.count < max_segments; ++i) {
            const iovec& v = local[i];
            if (skip >= v.iov_len) {
                skip -= v.iov_len;
                continue;
            }
            const size_t n = std::min(v.iov_len - skip, most - count);
            segments.add(static_cast<std::byte*>(v.iov_base) + skip, n, keys[i].lkey());
            count += n;
            skip = 0;
        }
    }
    wr.sg_list = segments.list.data();
    wr.num_sge = static_cast<int>(segments.count);
    return count;
}

} // namespace odrc::transfer
