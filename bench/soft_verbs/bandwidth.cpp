// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "bench/single_copy.hpp"
#include "bench/soft_verbs/measurements.hpp"
#include "fabtests_ext/support/samples.hpp"

namespace bench {

using namespace fabtests_ext;

namespace {

constexpr size_t kBatchBytes = 16u << 20;

struct Way {
    const char* name;
    ibv_wr_opcode opcode;
    Memory::Kind target;
};
constexpr Way kWays[] = {
    {"soft_verbs.write", IBV_WR_RDMA_WRITE, Memory::Kind::own},
    {"soft_verbs.read", IBV_WR_RDMA_READ, Memory::Kind::own},
    {"soft_verbs.write_device", IBV_WR_RDMA_WRITE, Memory::Kind::device},
    {"soft_verbs.read_device", IBV_WR_RDMA_READ, Memory::Kind::device},
};

// From or into this process's private memory, as a program's is.
void move(Side& side, const Way& way, const Memory& here, Remote there, int batches) {
    for (const size_t size : kBlocks) {
        ibv_sge segment{reinterpret_cast<uint64_t>(here.data()), static_cast<uint32_t>(size),
                        here.lkey()};
        ibv_send_wr wr{};
        wr.sg_list = &segment;
        wr.num_sge = 1;
        wr.opcode = way.opcode;
        wr.send_flags = IBV_SEND_SIGNALED;
        wr.wr.rdma.remote_addr = there.address;
        wr.wr.rdma.rkey = there.rkey;
        Samples samples;
        const size_t times = kBatchBytes / size;
        for (int batch = 0; batch <= batches; ++batch) {
            const Stopwatch watch;
            for (size_t i = 0; i < times; ++i) {
                side.post_send(wr);
                side.wait();
            }
            if (batch > 0) samples.add(static_cast<double>(times * size) / watch.nanoseconds());
        }
        samples.report(std::string{way.name} + "." + std::to_string(size), "GB/s");
    }
}

} // namespace

void bandwidth(Team& team, const Options& options) {
    Side side{team};
    const Memory here{side, Memory::Kind::own, kBlocks.back()};
    for (const Way& way : kWays) {
        const Memory target{side, way.target, kBlocks.back()};
        const Remote there = target.exchange(team);
        if (team.rank() == 0) move(side, way, here, there, options.batches);
        team.barrier();
    }
}

} // namespace bench
