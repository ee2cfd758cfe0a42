// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "bench/soft_verbs/measurements.hpp"
#include "fabtests_ext/support/samples.hpp"

#include <atomic>

namespace bench {

using namespace fabtests_ext;

namespace {

constexpr uint32_t kList = 16;    // work requests of one post, the last of them signaled
constexpr uint32_t kRefill = 64;  // receives of one post
constexpr uint64_t kCredit = 256; // messages between two words of the receiver

// Sends in lists, as far as the receiver's word lets it.
class Sender {
public:
    Sender(Side& side, const Memory& word)
        : side_{side}
        , granted_{*reinterpret_cast<uint64_t*>(word.data())} {
        for (size_t i = 0; i < kList; ++i) {
            requests_[i].sg_list = &segment_;
            requests_[i].num_sge = 1;
            requests_[i].opcode = IBV_WR_SEND;
            requests_[i].send_flags = IBV_SEND_INLINE;
            if (i + 1 < kList) requests_[i].next = &requests_[i + 1];
        }
        requests_.back().send_flags |= IBV_SEND_SIGNALED;
    }
    Sender(const Sender&) = delete;
    Sender& operator=(const Sender&) = delete;

    void send(uint64_t messages) {
        for (const uint64_t end = sent_ + messages; sent_ < end; sent_ += kList) {
            spin_until([&] {
                return sent_ + kList <= Side::kReceives + granted_.load(std::memory_order_acquire);
            });
            if (lists_ == Side::kSends / kList) reap();
            side_.post_send(requests_.front());
            ++lists_;
        }
        // A batch ends when the receiver has all of it.
        spin_until([&] { return granted_.load(std::memory_order_acquire) >= sent_; });
    }

private:
    void reap() {
        std::array<ibv_wc, 32> done;
        spin_until([&] {
            const auto n = static_cast<uint32_t>(side_.poll(done));
            lists_ -= n;
            return n > 0;
        });
    }

    Side& side_;
    const std::atomic_ref<uint64_t> granted_;
    uint64_t value_{0};
    ibv_sge segment_{reinterpret_cast<uint64_t>(&value_), sizeof value_, 0};
    std::array<ibv_send_wr, kList> requests_{};
    uint64_t sent_{0};
    uint32_t lists_{0};
};

// Takes what comes, keeps the receive queue filled and writes to the sender how far it is.
void receive(Side& side, const Memory& inbox, Remote word, uint64_t messages) {
    uint64_t taken = 0, told = 0;
    uint32_t used = 0;
    uint64_t value = 0;
    ibv_sge segment{reinterpret_cast<uint64_t>(&value), sizeof value, 0};
    ibv_send_wr grant{};
    grant.sg_list = &segment;
    grant.num_sge = 1;
    grant.opcode = IBV_WR_RDMA_WRITE;
    grant.wr.rdma.remote_addr = word.address;
    grant.wr.rdma.rkey = word.rkey;
    std::array<ibv_wc, 32> done;
    while (told < messages) {
        spin_until([&] {
            int received = 0;
            const int n = side.poll(done);
            for (int i = 0; i < n; ++i)
                received += (done[static_cast<size_t>(i)].opcode & IBV_WC_RECV) != 0;
            taken += static_cast<uint64_t>(received);
            used += static_cast<uint32_t>(received);
            return n > 0;
        });
        while (used >= kRefill) {
            side.post_receives(inbox, kRefill);
            used -= kRefill;
        }
        if (taken - told >= kCredit) {
            value = told = taken / kCredit * kCredit; // of these, all places are filled again
            grant.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
            side.post_send(grant);
        }
    }
}

} // namespace

void send_rate(Team& team, const Options& options) {
    Side side{team};
    const Memory inbox{side, Memory::Kind::device, size_t{Side::kReceives} * Side::kReceiveBytes};
    const Memory memory{side, Memory::Kind::device, sizeof(uint64_t)};
    const Remote word = memory.exchange(team);
    const uint64_t batch_messages =
        (static_cast<uint64_t>(options.iterations) + kCredit - 1) / kCredit * kCredit;
    const auto batches = static_cast<uint64_t>(options.batches) + 1;
    if (team.rank() == 1) side.post_receives(inbox, Side::kReceives);
    team.barrier();
    if (team.rank() == 1) {
        receive(side, inbox, word, batch_messages * batches);
    } else {
        Sender sender{side, memory};
        Samples samples;
        for (uint64_t batch = 0; batch < batches; ++batch) {
            const Stopwatch watch;
            sender.send(batch_messages);
            if (batch > 0)
                samples.add(static_cast<double>(batch_messages) * 1e3 / watch.nanoseconds());
        }
        samples.report("soft_verbs.send_rate", "M/s");
    }
    team.barrier();
}

} // namespace bench
