// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// One of two processes that are connected through soft0: what both need for any measurement.

#include "bench/soft_device.hpp"
#include "fabtests_ext/support/spin.hpp"
#include "fabtests_ext/support/team.hpp"

#include <array>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace bench {

using fabtests_ext::spin_until;
using fabtests_ext::Team;

// What another process may write to and read from.
struct Remote {
    uint64_t address;
    uint32_t rkey;
};

class Memory;

class Side {
public:
    static constexpr uint32_t kSends = 256;
    static constexpr uint32_t kReceives = 1024;
    static constexpr uint32_t kReceiveBytes = 64;

    explicit Side(Team& team);

    verbs::Context& context() { return *context_; }
    ibv_pd* pd() const noexcept { return pd_.get(); }

    void post_send(ibv_send_wr& wr) {
        ibv_send_wr* bad = nullptr;
        if (ibv_post_send(qp_.get(), &wr, &bad)) throw std::runtime_error{"ibv_post_send failed"};
    }
    // Posts so many receives, into one kReceiveBytes of the inbox after the other.
    void post_receives(const Memory& inbox, uint32_t count);

    // Completions that are there, all of them good.
    int poll(std::array<ibv_wc, 32>& done) {
        const int n = ibv_poll_cq(cq_.get(), static_cast<int>(done.size()), done.data());
        for (int i = 0; i < n; ++i)
            if (done[static_cast<size_t>(i)].status != IBV_WC_SUCCESS)
                throw std::runtime_error{"a work request failed"};
        return n;
    }
    // The next one.
    ibv_wc wait() {
        ibv_wc done;
        spin_until([&] { return ibv_poll_cq(cq_.get(), 1, &done) == 1; });
        if (done.status != IBV_WC_SUCCESS) throw std::runtime_error{"a work request failed"};
        return done;
    }

private:
    std::unique_ptr<verbs::Context> context_;
    verbs::Pd pd_;
    verbs::Cq cq_;
    verbs::Srq srq_;
    verbs::Qp qp_;
    std::array<ibv_sge, kReceives> segments_{};
    std::array<ibv_recv_wr, kReceives> receives_{};
    uint64_t posted_{0};
};

// Registered memory: the process's own, or the device's favourite.
class Memory {
public:
    enum class Kind { own, device };
    Memory(Side& side, Kind kind, size_t bytes);
    ~Memory();
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    std::byte* data() const noexcept { return data_; }
    size_t size() const noexcept { return bytes_; }
    uint32_t lkey() const noexcept { return mr_->lkey; }

    // Tells the other process of this memory, and is told of its.
    Remote exchange(Team& team) const;

private:
    Side& side_;
    const size_t bytes_;
    std::vector<std::byte> own_;
    std::byte* data_;
    verbs::Mr mr_;
};

} // namespace bench
