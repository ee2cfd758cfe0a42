// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "srq/buffer_pool.hpp"
#include "verbs_rc/queue_pair.hpp"

namespace odrc::srq {

// The receives of a connection that shares none with others, as MPI libraries had them before there
// were shared receive queues (the "SR" of the memory study of 2006). Their memory grows with the
// number of peers: it is there to be compared with.
class OwnReceives {
public:
    // Posts them. Throws Error.
    OwnReceives(BufferPool& pool, verbs::QueuePair& qp);
    ~OwnReceives();
    OwnReceives(const OwnReceives&) = delete;
    OwnReceives& operator=(const OwnReceives&) = delete;

    // The buffer of a completed receive is read: it is posted again, with others.
    void give_back(Buffer* buffer) noexcept {
        buffer->next = idle_;
        idle_ = buffer;
        if (++idle_count_ >= kBatch) post();
    }

private:
    static constexpr uint32_t kBatch = verbs::kOwnReceives / 8;
    void post() noexcept;

    BufferPool& pool_;
    ibv_qp* const qp_;
    std::array<Buffer*, verbs::kOwnReceives> all_{};
    Buffer* idle_{nullptr};
    uint32_t idle_count_{0};
};

} // namespace odrc::srq
