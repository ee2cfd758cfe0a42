// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Eight bytes to and fro, as ib_write_lat(1) and ib_send_lat(1) measure it.

#include "bench/soft_verbs/measurements.hpp"
#include "fabtests_ext/support/samples.hpp"

#include <atomic>

namespace bench {

using namespace fabtests_ext;

namespace {

constexpr size_t kBytes = 8;

// An inline work request of which every kSignalEvery-th asks for a completion: enough to give the
// send queue its room back.
class InlineRequest {
public:
    InlineRequest(Side& side, ibv_wr_opcode opcode, Remote remote = {})
        : side_{side} {
        wr_.sg_list = &segment_;
        wr_.num_sge = 1;
        wr_.opcode = opcode;
        wr_.wr.rdma.remote_addr = remote.address;
        wr_.wr.rdma.rkey = remote.rkey;
    }
    InlineRequest(const InlineRequest&) = delete;
    InlineRequest& operator=(const InlineRequest&) = delete;

    // Gives whether this one is signaled.
    bool post(uint64_t value) {
        value_ = value;
        const bool signaled = ++posted_ % kSignalEvery == 0;
        wr_.send_flags = IBV_SEND_INLINE | (signaled ? unsigned{IBV_SEND_SIGNALED} : 0u);
        side_.post_send(wr_);
        return signaled;
    }

private:
    static constexpr uint32_t kSignalEvery = Side::kSends / 4;

    Side& side_;
    uint64_t value_{0};
    ibv_sge segment_{reinterpret_cast<uint64_t>(&value_), kBytes, 0};
    ibv_send_wr wr_{};
    uint32_t posted_{0};
};

// The first process begins; each answers what it hears.
template <class Say, class Hear>
void ping_pong(Team& team, const Options& options, const char* name, Say&& say, Hear&& hear) {
    Samples samples;
    for (int batch = 0; batch <= options.batches; ++batch) {
        const Stopwatch watch;
        for (int i = 0; i < options.iterations; ++i) {
            if (team.rank() == 0) say();
            hear();
            if (team.rank() == 1) say();
        }
        if (batch > 0) samples.add(watch.nanoseconds() / (2.0 * options.iterations));
    }
    if (team.rank() == 0) samples.report(name, "ns");
    team.barrier();
}

// Sends through a shared receive queue whose buffers lie in memory of that kind.
void send_latency(Team& team, const Options& options, const char* name, Memory::Kind kind) {
    constexpr uint32_t kDepth = 64, kRefill = 16;
    Side side{team};
    const Memory inbox{side, kind, size_t{kDepth} * Side::kReceiveBytes};
    side.post_receives(inbox, kDepth);
    team.barrier();
    InlineRequest request{side, IBV_WR_SEND};
    uint64_t said = 0, heard = 0;
    uint32_t used = 0;
    ping_pong(
        team, options, name,
        [&] {
            request.post(++said);
            // Refilled once the answer is on its way.
            if (used == kRefill) side.post_receives(inbox, std::exchange(used, 0));
        },
        [&] {
            ibv_wc done;
            do done = side.wait();
            while (!(done.opcode & IBV_WC_RECV)); // a signaled send's
            uint64_t value;
            std::memcpy(&value, reinterpret_cast<const void*>(done.wr_id), sizeof value);
            if (value != ++heard) throw std::runtime_error{"a message came damaged"};
            ++used;
        });
}

} // namespace

void write_latency(Team& team, const Options& options) {
    Side side{team};
    const Memory memory{side, Memory::Kind::device, kBytes};
    InlineRequest request{side, IBV_WR_RDMA_WRITE, memory.exchange(team)};
    const std::atomic_ref<uint64_t> word{*reinterpret_cast<uint64_t*>(memory.data())};
    uint64_t said = 0, heard = 0;
    ping_pong(
        team, options, "soft_verbs.write",
        [&] {
            if (request.post(++said)) side.wait();
        },
        [&] {
            ++heard;
            spin_until([&] { return word.load(std::memory_order_acquire) == heard; });
        });
}

void send_latency(Team& team, const Options& options) {
    send_latency(team, options, "soft_verbs.send", Memory::Kind::device);
    send_latency(team, options, "soft_verbs.send_private", Memory::Kind::own);
}

} // namespace bench
