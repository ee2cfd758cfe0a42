// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/device_costs.hpp"

#include "base/copy_few.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <limits>
#include <sys/mman.h>

namespace odrc::transfer {
namespace {

constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
constexpr size_t kHeader = sizeof(wire::FrameHeader);
constexpr size_t kWord = 64;
constexpr int kDepth = 4;       // of its queues, of which one place is used
constexpr int kAtOnce = 4;      // of a way: the clock takes time, too
constexpr int kMostRounds = 16; // of all ways
constexpr int kLeastRounds = 3; // of which the least is taken

verbs::Cq make_cq(verbs::Adapter& adapter) {
    verbs::Cq cq{adapter.context(), adapter.context().create_cq(kDepth, nullptr, nullptr)};
    if (!cq) throw Error{errno};
    return cq;
}

std::byte* map(size_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) throw Error{errno};
    return static_cast<std::byte*>(memory);
}

ibv_sge piece(const std::byte* memory, size_t bytes, uint32_t key) noexcept {
    return {.addr = reinterpret_cast<uint64_t>(memory),
            .length = static_cast<uint32_t>(bytes),
            .lkey = key};
}

} // namespace

void DeviceLoop::Unmap::operator()(std::byte* memory) const noexcept { munmap(memory, bytes); }

DeviceLoop::DeviceLoop(verbs::Adapter& adapter, size_t most, std::chrono::nanoseconds end)
    : adapter_{adapter}
    , end_{end}
    , here_{adapter.context(), adapter.port(), adapter.pd(), kHeader + most, kAccess}
    , there_{adapter.context(), adapter.port(), adapter.pd(), kHeader + most, kAccess}
    , own_{map(most), Unmap{most}}
    , cq_{make_cq(adapter)}
    , qp_{adapter, cq_.get(), nullptr, {.work_requests = kDepth, .segments = 2}, kAccess} {
    if (const int error = qp_.connect(qp_.address())) throw Error{error};
}

void DeviceLoop::inlined(size_t bytes) {
    ibv_sge all[] = {piece(own_.get(), bytes, 0)};
    post(IBV_WR_RDMA_WRITE, all, IBV_SEND_INLINE);
}

void DeviceLoop::gathered(size_t bytes) {
    const auto key = adapter_.whole_memory_key();
    ibv_sge all[] = {piece(here_.bytes().data(), kHeader, key.value_or(here_.lkey())),
                     key ? piece(own_.get(), bytes, *key)
                         : piece(here_.bytes().data() + kHeader, bytes, here_.lkey())};
    post(IBV_WR_RDMA_WRITE, all, 0);
}

void DeviceLoop::copied(size_t bytes) {
    copy_few(here_.bytes().data() + kHeader, own_.get(), bytes);
    ibv_sge all[] = {piece(here_.bytes().data(), kHeader + bytes, here_.lkey())};
    post(IBV_WR_RDMA_WRITE, all, 0);
}

void DeviceLoop::read(size_t bytes) {
    const auto key = adapter_.whole_memory_key();
    ibv_sge all[] = {key ? piece(own_.get(), bytes, *key)
                         : piece(here_.bytes().data(), bytes, here_.lkey())};
    post(IBV_WR_RDMA_READ, all, 0);
}

void DeviceLoop::taken(size_t bytes) noexcept {
    copy_few(own_.get(), there_.bytes().data() + kHeader, bytes);
}

bool DeviceLoop::find_registered(size_t bytes) {
    verbs::Registration registration;
    if (const int error = adapter_.register_memory(own_.get(), bytes, IBV_ACCESS_LOCAL_WRITE,
                                                   adapter_.now(), registration))
        throw Error{error};
    return !registration.fresh();
}

void DeviceLoop::post(ibv_wr_opcode opcode, std::span<ibv_sge> pieces, int flags) {
    ibv_send_wr wr{}, *bad = nullptr;
    wr.sg_list = pieces.data();
    wr.num_sge = static_cast<int>(pieces.size());
    wr.opcode = opcode;
    wr.send_flags = static_cast<unsigned>(flags | IBV_SEND_SIGNALED);
    wr.wr.rdma = {.remote_addr = reinterpret_cast<uint64_t>(there_.bytes().data()),
                  .rkey = there_.rkey()};
    if (const int error = ibv_post_send(qp_.get(), &wr, &bad)) throw Error{error};
    await();
}

void DeviceLoop::await() {
    constexpr int kPollsPerLook = 256; // at the clock
    ibv_wc wc{};
    for (int polls = 1;; ++polls) {
        const int polled = ibv_poll_cq(cq_.get(), 1, &wc);
        if (polled < 0 || (polled > 0 && wc.status != IBV_WC_SUCCESS)) throw Error{FI_EIO};
        if (polled > 0) return;
        if (polls % kPollsPerLook == 0 && processor_time() > end_) throw Error{FI_ETIMEDOUT};
    }
}

// ---- all of it ---------------------------------------------------------------------------------

namespace {

class Measurement {
public:
    Measurement(verbs::Adapter& adapter, std::chrono::nanoseconds end)
        : most_inline_{adapter.max_inline()}
        , registers_{!adapter.whole_memory_key()}
        , end_{end}
        , loop_{adapter, kComparedSizes.back(), end} {
        constexpr double kNone = std::numeric_limits<double>::infinity();
        costs_.of_size.fill({kNone, kNone, kNone, kNone, kNone});
        costs_.word = kNone;
        if (registers_) costs_.found = costs_.fresh = kNone;
    }

    // False when time is over.
    bool round() {
        time(costs_.word, [&] { loop_.inlined(std::min<size_t>(kWord, most_inline_)); });
        if (registers_) time_registrations();
        for (size_t i = 0; i < kComparedSizes.size(); ++i) {
            const size_t bytes = kComparedSizes[i];
            DeviceCosts::OfSize& costs = costs_.of_size[i];
            if (bytes <= most_inline_) time(costs.inlined, [&] { loop_.inlined(bytes); });
            time(costs.gathered, [&] { loop_.gathered(bytes); });
            time(costs.copied, [&] { loop_.copied(bytes); });
            time(costs.read, [&] { loop_.read(bytes); });
            time(costs.taken, [&] { loop_.taken(bytes); });
            if (processor_time() > end_) return false;
        }
        return true;
    }

    const DeviceCosts& costs() const noexcept { return costs_; }

private:
    static double since(Time begin) noexcept {
        return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
    }

    template <class F>
    static void time(double& least, F&& f) {
        const Time begin = Clock::now();
        for (int i = 0; i < kAtOnce; ++i) f();
        least = std::min(least, since(begin) / kAtOnce);
    }

    // Of memory that is found the kernel may have to be asked each time, as for a program's.
    void time_registrations() {
        const Time begin = Clock::now();
        double& least = loop_.find_registered(kComparedSizes.back()) ? costs_.found : costs_.fresh;
        least = std::min(least, since(begin));
    }

    const uint32_t most_inline_;
    const bool registers_;
    const std::chrono::nanoseconds end_;
    DeviceLoop loop_;
    DeviceCosts costs_;
};

} // namespace

std::optional<DeviceCosts> measure(verbs::Adapter& adapter, std::chrono::nanoseconds patience) {
    const auto end = processor_time() + patience;
    try {
        Measurement measurement{adapter, end};
        int rounds = 0;
        while (rounds < kMostRounds && measurement.round()) ++rounds;
        if (rounds >= kLeastRounds) return measurement.costs();
    } catch (const Error&) {
    }
    return std::nullopt;
}

} // namespace odrc::transfer
