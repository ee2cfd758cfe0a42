// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "hostrc/work_request.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace odrc::host {
namespace {

constexpr size_t kAtATime = 64;

} // namespace

bool WorkRequests::grow() noexcept {
    const int error = guarded([this] {
        slabs_.reserve(slabs_.size() + 1);
        verbs::Slab slab{device_, port_, pd_, kAtATime * sizeof(WorkRequest)};
        for (size_t i = 0; i < kAtATime; ++i) {
            auto* w = new (slab.bytes().data() + i * sizeof(WorkRequest)) WorkRequest;
            w->own_key = slab.lkey();
            free_.push_back(*w);
        }
        slabs_.push_back(std::move(slab));
        return 0;
    });
    return error == 0;
}

uint32_t slice(const WorkRequest& w, uint32_t begin, uint32_t bytes, ibv_sge* out) noexcept {
    uint32_t count = 0;
    for (uint32_t i = 0; i < w.segment_count && bytes > 0; ++i) {
        const ibv_sge& s = w.segments[i];
        if (begin >= s.length) {
            begin -= s.length;
            continue;
        }
        const uint32_t piece = std::min(s.length - begin, bytes);
        out[count++] = {.addr = s.addr + begin, .length = piece, .lkey = s.lkey};
        begin = 0;
        bytes -= piece;
    }
    return count;
}

} // namespace odrc::host
