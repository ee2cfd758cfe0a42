// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/packet_counts.hpp"
#include "hostrc/packet.hpp"
#include "hostrc/work_request.hpp"

#include <optional>
#include <span>

namespace odrc::host {

// What is used of the device below: one queue pair for datagrams (IBTA 1.4, 9.8.3), which come
// whole or not at all.
class Datagrams {
public:
    // How many fit into so much memory when they have come.
    static size_t fit_into(size_t bytes, const verbs::Port& port) noexcept;

    // receives: how many datagrams may lie there before they are taken in. Throws Error.
    Datagrams(verbs::Context& device, const verbs::Port& port, ibv_pd* pd, uint32_t receives,
              ibv_comp_channel* channel, void* channel_context);

    uint32_t number() const noexcept { return qp_->qp_num; }
    size_t bytes() const noexcept { return buffers_.bytes().size() + headers_.bytes().size(); }

    bool has_room() const noexcept { return sent_ - over_ < kSends; }
    // Gives which datagram the packet is: until that is over the device may read what the pieces
    // point to. 0: it has all it needs.
    uint64_t send(ibv_ah* to, uint32_t number, const Packet& packet,
                  std::span<const ibv_sge> data) noexcept;
    bool over(uint64_t datagram) const noexcept { return datagram <= over_; }
    // The last one that had to do with memory of the program's.
    uint64_t last_reader() const noexcept { return last_reader_; }

    struct Arrival {
        const Packet& packet;
        std::span<const std::byte> data;
        uint32_t from; // number of the queue pair
    };
    static constexpr int kBatch = 16;
    // Takes a batch of completions in; gives how many. Whoever comes whole is handed to
    // taken(Arrival).
    template <class Taken>
    int poll(Taken&& taken) noexcept {
        ibv_wc completions[kBatch];
        const int n = ibv_poll_cq(cq_.get(), kBatch, completions);
        ibv_recv_wr again[kBatch];
        ibv_sge places[kBatch];
        int count = 0;
        for (int i = 0; i < n; ++i) {
            const ibv_wc& wc = completions[i];
            if (wc.wr_id & kSendBit) {
                end_send(wc);
                continue;
            }
            ++counts_->packets_received;
            if (const auto arrival = look(wc))
                taken(*arrival);
            else
                ++counts_->packets_malformed;
            prepare(wc.wr_id, again[count], places[count]);
            if (count > 0) again[count - 1].next = &again[count];
            ++count;
        }
        if (count > 0) post(again);
        return n;
    }

    // Nobody sees what was counted before.
    void count_in(PacketCounts& counts) noexcept { counts_ = &counts; }
    PacketCounts& count() noexcept { return *counts_; }

    void arm() noexcept { ibv_req_notify_cq(cq_.get(), 0); }

private:
    static constexpr uint64_t kSends = 256; // under way at a time
    static constexpr uint64_t kTellEvery = kSends / 4;
    static constexpr uint64_t kSendBit = uint64_t{1} << 63; // of a work request's id

    void open(uint32_t receives);
    void end_send(const ibv_wc& wc) noexcept;
    std::optional<Arrival> look(const ibv_wc& wc) const noexcept;
    void prepare(uint64_t index, ibv_recv_wr& wr, ibv_sge& place) const noexcept;
    void post(ibv_recv_wr* first) noexcept;
    std::byte* buffer(uint64_t index) const noexcept {
        return buffers_.bytes().data() + index * buffer_bytes_;
    }

    verbs::Context& device_;
    const verbs::Port& port_;
    const uint32_t buffer_bytes_;
    verbs::Slab buffers_; // of what comes in
    verbs::Slab headers_; // of what goes out
    verbs::Cq cq_;
    verbs::Qp qp_;
    uint32_t max_inline_{0};
    uint64_t sent_{0};
    uint64_t over_{0};
    uint64_t last_reader_{0};
    uint64_t untold_{0};  // in a row, whose end nobody hears of
    PacketCounts unseen_; // as long as nobody has said where
    PacketCounts* counts_{&unseen_};
};

} // namespace odrc::host
