// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What many queue pairs of soft0 cost: in one process, and among processes that all talk to all.

#include "bench/soft_device.hpp"
#include "bench/soft_scale/usage.hpp"
#include "fabtests_ext/support/command_line.hpp"
#include "fabtests_ext/support/samples.hpp"
#include "fabtests_ext/support/shared.hpp"
#include "fabtests_ext/support/spin.hpp"
#include "fabtests_ext/support/team.hpp"

#include <atomic>
#include <cstdio>

namespace bench {
namespace {

using namespace fabtests_ext;

constexpr int kMostProcesses = 128;

// Queue pair numbers, by owner and peer.
struct Numbers {
    uint32_t of[kMostProcesses][kMostProcesses];
};

// One process's device, with one shared receive queue for all its queue pairs.
class Station {
public:
    explicit Station(uint32_t peers)
        : context_{open_soft_device()}
        , pd_{*context_, must(context_->alloc_pd(), "alloc_pd")}
        , cq_{*context_, must(context_->create_cq(1024, nullptr, nullptr), "create_cq")} {
        ibv_srq_init_attr init{};
        init.attr = {.max_wr = 1024, .max_sge = 1, .srq_limit = 0};
        srq_ = verbs::Srq{*context_, must(context_->create_srq(pd_.get(), &init), "create_srq")};
        mr_ = verbs::Mr{*context_, must(context_->reg_mr(pd_.get(), inbox_, sizeof inbox_,
                                                         IBV_ACCESS_LOCAL_WRITE),
                                        "reg_mr")};
        qps_.reserve(peers);
    }
    Station(const Station&) = delete;
    Station& operator=(const Station&) = delete;

    uint32_t add_qp() {
        ibv_qp_init_attr init{};
        init.send_cq = init.recv_cq = cq_.get();
        init.srq = srq_.get();
        init.cap.max_send_wr = 64;
        init.cap.max_send_sge = 1;
        init.cap.max_inline_data = 64;
        init.qp_type = IBV_QPT_RC;
        qps_.emplace_back(*context_, must(context_->create_qp(pd_.get(), &init), "create_qp"));
        return qps_.back()->qp_num;
    }
    void connect_qp(size_t i, uint32_t peer) { connect(*context_, qps_[i].get(), peer); }

    void post_receive() {
        ibv_sge segment{reinterpret_cast<uint64_t>(inbox_), sizeof inbox_, mr_->lkey};
        ibv_recv_wr wr{.wr_id = 0, .next = nullptr, .sg_list = &segment, .num_sge = 1};
        ibv_recv_wr* bad = nullptr;
        if (ibv_post_srq_recv(srq_.get(), &wr, &bad))
            throw std::runtime_error{"ibv_post_srq_recv failed"};
    }
    void send_on(size_t i) {
        uint64_t value = i;
        ibv_sge segment{reinterpret_cast<uint64_t>(&value), sizeof value, 0};
        ibv_send_wr wr{};
        wr.sg_list = &segment;
        wr.num_sge = 1;
        wr.opcode = IBV_WR_SEND;
        wr.send_flags = IBV_SEND_INLINE;
        ibv_send_wr* bad = nullptr;
        if (ibv_post_send(qps_[i].get(), &wr, &bad))
            throw std::runtime_error{"ibv_post_send failed"};
    }
    void await_receives(size_t count) {
        spin_until([&] {
            ibv_wc done;
            if (ibv_poll_cq(cq_.get(), 1, &done) == 0) return false;
            if (done.status != IBV_WC_SUCCESS || done.opcode != IBV_WC_RECV)
                throw std::runtime_error{"a message did not arrive"};
            return --count == 0;
        });
    }

private:
    std::unique_ptr<verbs::Context> context_;
    verbs::Pd pd_;
    verbs::Cq cq_;
    verbs::Srq srq_;
    std::byte inbox_[64]{};
    verbs::Mr mr_;
    std::vector<verbs::Qp> qps_;
};

void print(const char* what, double value, const char* unit) {
    std::printf("%-40s %12.1f %s\n", what, value, unit);
}

void idle_queue_pairs(uint32_t count) {
    Station station{count};
    const Usage before = Usage::now();
    const Stopwatch watch;
    for (uint32_t i = 0; i < count; ++i) station.add_qp();
    const double seconds = watch.nanoseconds() / 1e9;
    const Usage taken = Usage::now() - before;
    std::printf("one process, %u idle queue pairs on one shared receive queue\n", count);
    print("  queue pairs made in a second", count / seconds, "");
    print("  shared memory of one", double(taken.arena) / count, "bytes");
    print("  heap of one", double(taken.heap) / count, "bytes");
    print("  private memory of one", double(taken.resident) / count, "bytes");
}

int all_to_all(Team& team, Numbers& numbers) {
    const auto peers = static_cast<size_t>(team.size() - 1);
    const auto me = team.rank();
    // The i-th queue pair leads to the i-th after this one, so that not all begin with the same.
    const auto peer = [&](size_t i) { return (me + 1 + static_cast<int>(i)) % team.size(); };

    Station station{static_cast<uint32_t>(peers)};
    team.barrier();
    const Usage before = Usage::now();
    team.barrier();
    const Stopwatch set_up;
    for (size_t i = 0; i < peers; ++i) numbers.of[me][peer(i)] = station.add_qp();
    team.barrier();
    for (size_t i = 0; i < peers; ++i) station.connect_qp(i, numbers.of[peer(i)][me]);
    for (size_t i = 0; i < peers; ++i) station.post_receive();
    team.barrier();
    const double set_up_ms = set_up.nanoseconds() / 1e6;

    const Stopwatch words;
    for (size_t i = 0; i < peers; ++i) station.send_on(i);
    station.await_receives(peers);
    team.barrier();
    const double words_ms = words.nanoseconds() / 1e6;

    const Usage taken = Usage::now() - before;
    const auto sum = [&](int64_t mine) { // of numbers that may be negative
        return static_cast<double>(static_cast<int64_t>(team.sum(static_cast<uint64_t>(mine))));
    };
    const double arena = sum(taken.arena), heap = sum(taken.heap);
    const double resident = sum(taken.resident), tables = sum(taken.page_tables);
    if (me == 0) {
        const double all = double(peers) * team.size();
        std::printf("%d processes, all to all: %.0f queue pairs\n", team.size(), all);
        print("  made and connected in", set_up_ms, "ms");
        print("  a message on each, all arrived, in", words_ms, "ms");
        print("  shared memory of one", arena / all, "bytes");
        print("  heap of one", heap / all, "bytes");
        print("  private memory of one", resident / all, "bytes");
        print("  page tables of a process", tables / team.size(), "bytes");
    }
    team.barrier();
    return 0;
}

} // namespace
} // namespace bench

int main(int argc, char** argv) {
    using namespace bench;
    uint32_t queue_pairs = 4096;
    int processes = 64;
    CommandLine command{"What many queue pairs of soft0 cost in time and memory."};
    command.option("-q,--queue-pairs", queue_pairs, "of one process");
    command.option("-n,--processes", processes, "that all talk to all").within(2, kMostProcesses);
    if (!command.read(argc, argv)) return command.status();
    const Shared<Numbers> numbers;
    const int failed = run_team(1, [&](Team&) {
        idle_queue_pairs(queue_pairs);
        return 0;
    });
    return failed | run_team(processes, [&](Team& team) { return all_to_all(team, *numbers); });
}
