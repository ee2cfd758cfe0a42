// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <infiniband/verbs.h>
#include <span>

namespace odrc::verbs {

// How an endpoint's work requests get to the device: one by one, or, where more of them are to
// follow at once, held back to go in one call. Those of one queue pair at a time are held.
//
// What is held is copied with its segments; but what these point to is not, even if it is to go
// inline, and has to stay where it is.
class PostList {
public:
    static constexpr size_t kRequests = 64; // held at most
    static constexpr size_t kSegments = 256;

    // posts counts the calls.
    explicit PostList(uint64_t& posts) noexcept
        : posts_{posts} {}

    bool empty() const noexcept { return count_ == 0; }

    // Posts a work request, behind all that is held for its queue pair. Gives 0 or an errno.
    int post(ibv_qp* qp, ibv_send_wr& wr) noexcept {
        if (qp_ == qp) [[unlikely]]
            return post_behind(&wr);
        ++posts_;
        ibv_send_wr* bad = nullptr;
        return ibv_post_send(qp, &wr, &bad);
    }

    // Holds a work request back; posts what is in its way. False while there are refused ones.
    bool hold(ibv_qp* qp, const ibv_send_wr& wr) noexcept;

    // Posts what is held, or what is held for that queue pair.
    void post_held() noexcept {
        if (count_ > 0 && refused_ == 0) post_behind(nullptr);
    }
    void post_held(const ibv_qp* qp) noexcept {
        if (qp_ == qp) post_held();
    }

    // The queue pair goes, and what is held for it.
    void forget(const ibv_qp* qp) noexcept {
        if (qp_ == qp) clear();
    }

    // What was held and the device would not have, until clear().
    std::span<const ibv_send_wr> refused() const noexcept {
        return std::span{requests_}.first(count_).last(refused_);
    }
    const ibv_qp& refusing_qp() const noexcept { return *qp_; }
    void clear() noexcept {
        qp_ = nullptr;
        count_ = segment_count_ = refused_ = 0;
    }

private:
    int post_behind(ibv_send_wr* last) noexcept;

    uint64_t& posts_;
    ibv_qp* qp_{nullptr}; // whose work requests are held
    size_t count_{0};
    size_t segment_count_{0};
    size_t refused_{0}; // the last so many
    std::array<ibv_send_wr, kRequests> requests_;
    std::array<ibv_sge, kSegments> segments_;
};

} // namespace odrc::verbs
