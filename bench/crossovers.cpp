// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What it takes a device to move so many bytes in each of the ways among which the provider
// chooses, over a connection to itself, from the call to the completion.

#include "base/error.hpp"
#include "base/parameters.hpp"
#include "base/watchdog.hpp"
#include "fabtests_ext/support/samples.hpp"
#include "ofi/devices.hpp"
#include "verbs_rc/queue_pair.hpp"

#include <CLI/CLI.hpp>
#include <cstring>

namespace {

using namespace odrc;
using fabtests_ext::Samples;
using fabtests_ext::Stopwatch;

constexpr size_t kMost = 65536;
constexpr size_t kAnnounced = 64; // bytes that announce a message, or tell that it was read

class Loop {
public:
    explicit Loop(const verbs::Device& device)
        : adapter_{device, Gate::Kind::one_thread, watchdog_}
        , here_{adapter_.context(), adapter_.port(), adapter_.pd(), kMost, kAccess}
        , there_{adapter_.context(), adapter_.port(), adapter_.pd(), kMost, kAccess}
        , own_(kMost)
        , cq_{adapter_.context(), adapter_.context().create_cq(16, nullptr, nullptr)}
        , qp_{adapter_, cq_.get(), nullptr, {.work_requests = 16, .segments = 1}, kAccess} {
        if (const int error = qp_.connect(qp_.address())) throw Error{error};
    }

    uint32_t max_inline() const noexcept { return qp_.max_inline(); }
    bool whole_memory() const noexcept { return adapter_.whole_memory_key().has_value(); }

    void inlined(size_t bytes) { post(IBV_WR_RDMA_WRITE, own_.data(), bytes, IBV_SEND_INLINE, 0); }
    void copied(size_t bytes) {
        std::memcpy(here_.bytes().data(), own_.data(), bytes);
        gathered(bytes);
    }
    // From memory that the device knows: that of the whole process, or what is registered.
    void gathered(size_t bytes) {
        const auto key = adapter_.whole_memory_key();
        const void* from = key ? static_cast<void*>(own_.data()) : here_.bytes().data();
        post(IBV_WR_RDMA_WRITE, from, bytes, 0, key.value_or(here_.lkey()));
    }
    // In its frame, and out of the buffer that it came to.
    void eager(size_t bytes) {
        bytes <= max_inline() ? inlined(bytes) : whole_memory() ? gathered(bytes) : copied(bytes);
        std::memcpy(own_.data(), there_.bytes().data(), bytes);
    }
    // Announced, read, and told so.
    void announced(size_t bytes) {
        inlined(kAnnounced);
        const auto key = adapter_.whole_memory_key();
        const void* to = key ? static_cast<void*>(own_.data()) : here_.bytes().data();
        post(IBV_WR_RDMA_READ, to, bytes, 0, key.value_or(here_.lkey()));
        inlined(kAnnounced);
    }

private:
    static constexpr int kAccess =
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

    void post(ibv_wr_opcode opcode, const void* memory, size_t bytes, int flags, uint32_t key) {
        ibv_sge piece{.addr = reinterpret_cast<uint64_t>(memory),
                      .length = static_cast<uint32_t>(bytes),
                      .lkey = key};
        ibv_send_wr wr{}, *bad = nullptr;
        wr.sg_list = &piece;
        wr.num_sge = 1;
        wr.opcode = opcode;
        wr.send_flags = static_cast<unsigned>(flags | IBV_SEND_SIGNALED);
        wr.wr.rdma = {.remote_addr = reinterpret_cast<uint64_t>(there_.bytes().data()),
                      .rkey = there_.rkey()};
        if (const int error = ibv_post_send(qp_.get(), &wr, &bad)) throw Error{error};
        ibv_wc wc{};
        int polled;
        while ((polled = ibv_poll_cq(cq_.get(), 1, &wc)) == 0) {
        }
        if (polled < 0 || wc.status != IBV_WC_SUCCESS) throw Error{EIO};
    }

    Watchdog watchdog_;
    verbs::Adapter adapter_;
    verbs::Slab here_, there_;
    std::vector<char> own_;
    verbs::Cq cq_;
    verbs::QueuePair qp_;
};

using Way = void (Loop::*)(size_t);
constexpr Way kWays[] = {&Loop::inlined, &Loop::copied, &Loop::gathered, &Loop::eager,
                         &Loop::announced};

void measure(const verbs::Device& device, int rounds, int times) {
    Loop loop{device};
    std::printf("%s, %u bytes inline, %s; us\n%10s %10s %10s %10s %10s %10s\n",
                device.port().name().c_str(), loop.max_inline(),
                loop.whole_memory() ? "knows all memory" : "gathers from registered memory",
                "bytes", "inline", "copied", "gathered", "eager", "announced");
    for (size_t bytes = 64; bytes <= kMost; bytes *= 2) {
        Samples samples[std::size(kWays)];
        for (int round = 0; round < rounds; ++round)
            for (size_t way = 0; way < std::size(kWays); ++way) {
                if (way == 0 && bytes > loop.max_inline()) continue;
                const Stopwatch watch;
                for (int i = 0; i < times; ++i) (loop.*kWays[way])(bytes);
                samples[way].add(watch.nanoseconds() / 1e3 / times);
            }
        std::printf("%10zu", bytes);
        for (size_t way = 0; way < std::size(kWays); ++way)
            if (way == 0 && bytes > loop.max_inline())
                std::printf(" %10s", "-");
            else
                std::printf(" %10.3f", samples[way].median());
        std::printf("\n");
    }
}

} // namespace

int main(int argc, char** argv) {
    int rounds = 200, times = 10;
    CLI::App app{"What a device takes for so many bytes, in each way."};
    app.add_option("-r,--rounds", rounds, "of all ways, in turn")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("-i,--iterations", times, "of a way in a round")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    define_parameters();
    for (const auto& device : ofi::devices()) measure(*device, rounds, times);
}
