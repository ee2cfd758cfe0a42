// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ofi/domain.hpp"
#include "transfer/completion_sink.hpp"

#include <mutex>
#include <vector>

namespace odrc::ofi {

class Endpoint;

// fi_cq(3): the completions of any number of endpoints. Reading it makes their progress.
class CompletionQueue : public fid_cq {
public:
    using Fid = fid_cq;
    CompletionQueue(Domain& domain, const fi_cq_attr* attr, void* context); // throws Error

    transfer::CompletionSink& sink() noexcept { return sink_; }
    bool waitable() const noexcept { return static_cast<bool>(wait_); }

    // The endpoints whose progress reading makes. Throws Error.
    void attach(Endpoint& endpoint);
    void detach(Endpoint& endpoint) noexcept;

    ssize_t read(void* buffer, size_t count, fi_addr_t* sources) noexcept;
    ssize_t read_error(fi_cq_err_entry* buffer) noexcept;
    ssize_t wait(void* buffer, size_t count, fi_addr_t* sources, int timeout) noexcept;
    void signal() noexcept;
    int trywait() noexcept;
    int wait_object(void* out) noexcept;

    std::atomic<int> leaning{0};

private:
    template <class Visit>
    void visit(const Visit& visit) noexcept;
    void progress() noexcept;
    ssize_t take(void* buffer, size_t count, fi_addr_t* sources) noexcept;

    Leaning on_domain_;
    Domain& domain_;
    const fi_cq_format format_;
    transfer::CompletionSink sink_;
    Fd wait_; // an epoll(7) descriptor over all that may bring a completion
    std::atomic<bool> signaled_{false};
    std::mutex mutex_; // guards the endpoints, where threads come many at a time
    std::vector<Endpoint*> endpoints_;
};

} // namespace odrc::ofi
