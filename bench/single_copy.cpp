// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "bench/single_copy.hpp"

#include "fabtests_ext/support/samples.hpp"

#include <cerrno>
#include <cstring>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace bench {

using namespace fabtests_ext;

namespace {

// Bytes of a batch: long beside the reading of a clock, short beside a turn of the scheduler.
constexpr size_t kBatchBytes = 16u << 20;

template <class Copy>
void measure(const std::string& name, size_t size, int batches, Copy&& copy) {
    const size_t times = kBatchBytes / size;
    Samples samples;
    for (int batch = 0; batch <= batches; ++batch) {
        const Stopwatch watch;
        for (size_t i = 0; i < times; ++i) copy(size);
        if (batch > 0) samples.add(static_cast<double>(times * size) / watch.nanoseconds());
    }
    samples.report(name + "." + std::to_string(size), "GB/s");
}

void require(ssize_t moved, size_t wanted, const char* call) {
    if (moved < 0) throw std::system_error{errno, std::generic_category(), call};
    if (static_cast<size_t>(moved) != wanted) throw std::runtime_error{"a copy came back short"};
}

} // namespace

void SingleCopy::run(Team& team, int batches) const {
    std::vector<std::byte> mine(kBlocks.back(), std::byte{1});
    // Where Yama is strict, only those let in may copy.
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    std::memset(mapped_->bytes, team.rank(), sizeof mapped_->bytes);
    const auto pids = team.numbers(static_cast<uint64_t>(getpid()));
    const auto addresses = team.numbers(reinterpret_cast<uint64_t>(mine.data()));
    if (team.rank() == 0) {
        const auto pid = static_cast<pid_t>(pids[1]);
        auto* theirs = reinterpret_cast<std::byte*>(addresses[1]);
        for (const size_t size : kBlocks) {
            const iovec here{mine.data(), size}, there{theirs, size};
            measure("process_vm_writev", size, batches, [&](size_t n) {
                require(process_vm_writev(pid, &here, 1, &there, 1, 0), n, "process_vm_writev");
            });
            measure("process_vm_readv", size, batches, [&](size_t n) {
                require(process_vm_readv(pid, &here, 1, &there, 1, 0), n, "process_vm_readv");
            });
            measure("memcpy", size, batches,
                    [&](size_t n) { std::memcpy(mapped_->bytes, mine.data(), n); });
        }
    }
    team.barrier();
}

} // namespace bench
