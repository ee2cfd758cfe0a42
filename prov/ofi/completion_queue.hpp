// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ofi/progress.hpp"
#include "ofi/wait_object.hpp"
#include "transfer/completion_sink.hpp"

namespace odrc::ofi {

// fi_cq(3): the completions of any number of endpoints. Reading it makes their progress.
class CompletionQueue : public fid_cq {
public:
    using Fid = fid_cq;
    CompletionQueue(Domain& domain, const fi_cq_attr* attr, void* context); // throws Error

    const Domain& domain() const noexcept { return progress_.domain(); }
    transfer::CompletionSink& sink() noexcept { return sink_; }
    bool waitable() const noexcept { return wait_.by_descriptor(); }

    // The endpoints whose progress reading makes. Throws Error.
    void attach(Endpoint& endpoint) { progress_.attach(endpoint, wait_); }
    void detach(Endpoint& endpoint) noexcept { progress_.detach(endpoint); }

    ssize_t read(void* buffer, size_t count, fi_addr_t* sources, size_t threshold = 1) noexcept;
    ssize_t read_error(fi_cq_err_entry* buffer) noexcept;
    ssize_t wait(void* buffer, size_t count, fi_addr_t* sources, const void* condition,
                 int timeout) noexcept;
    int signal() noexcept;
    int trywait() noexcept;
    bool has_news() noexcept;
    int control(int command, void* argument) noexcept { return wait_.control(command, argument); }

    std::atomic<int> leaning{0};

private:
    void arm() noexcept;
    std::byte* write(std::byte* out, const transfer::Completion& c) const noexcept;
    ssize_t take(void* buffer, size_t count, fi_addr_t* sources) noexcept;

    Leaning on_domain_;
    const size_t entry_size_;
    const bool by_threshold_;
    WaitObject wait_;
    transfer::CompletionSink sink_;
    Progress progress_;
    std::atomic<bool> signaled_{false};
};

} // namespace odrc::ofi
