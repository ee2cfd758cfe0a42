// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What the thread that makes progress in a program's stead costs one that polls, and what it is
// worth to the peers of one that computes.

#include "fabtests_ext/support/options.hpp"
#include "fabtests_ext/support/samples.hpp"
#include "prov/ofi/fi_odrc.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <rdma/fi_endpoint.h>

namespace {

using namespace fabtests_ext;

struct Options {
    Choice choice{.provider = "odrc", .domain = "soft0"};
    double seconds{2};  // of polling
    double talk{2};     // milliseconds of short messages there and back
    double compute{10}; // milliseconds in which one side looks at nothing, after that
    int rounds{200};    // of both
};

// How often the provider's threads of this process have gone to sleep.
unsigned long long sleeps() {
    unsigned long long sum = 0;
    for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
        std::string line;
        if (!std::getline(std::ifstream{task.path() / "comm"}, line) || line != "odrc-watchdog")
            continue;
        std::ifstream status{task.path() / "status"};
        while (std::getline(status, line))
            if (line.starts_with("voluntary_ctxt_switches:"))
                sum += std::stoull(line.substr(line.find(':') + 1));
    }
    return sum;
}

class Side {
public:
    Side(Team& team, const Options& options)
        : team_{team}
        , endpoint_{options.choice,
                    {.caps = FI_MSG,
                     .threading = FI_THREAD_SAFE,
                     .data_progress = FI_PROGRESS_AUTO}}
        , peer_{endpoint_.introduce(team)[team.rank() == 0]} {}

    fi_odrc_statistics statistics() {
        fi_odrc_statistics s{};
        void* ops = nullptr;
        check(fi_open_ops(&endpoint_.ep()->fid, FI_ODRC_STATISTICS_OPS, 0, &ops, nullptr),
              "fi_open_ops");
        check(static_cast<fi_odrc_statistics_ops*>(ops)->read(endpoint_.ep(), &s, sizeof s),
              "reading the statistics");
        return s;
    }

    void receive() {
        insist(endpoint_, "fi_recv",
               [&] { return fi_recv(endpoint_.ep(), &in_, sizeof in_, nullptr, peer_, &in_); });
    }
    // Delivered when it is complete: for that the peer has to answer.
    void send(uint64_t word) {
        out_ = word;
        const iovec iov{&out_, sizeof out_};
        fi_msg message{};
        message.msg_iov = &iov;
        message.iov_count = 1;
        message.addr = peer_;
        message.context = &out_;
        insist(endpoint_, "fi_sendmsg", [&] {
            return fi_sendmsg(endpoint_.ep(), &message, FI_COMPLETION | FI_DELIVERY_COMPLETE);
        });
    }
    uint64_t receive_it() {
        see(received_);
        return in_;
    }
    void see_delivered() { see(delivered_); }

    // There and back until rank 0 has had enough. Gives how often.
    unsigned long long talk(double milliseconds) {
        unsigned long long times = 0;
        const Stopwatch watch;
        for (bool more = true; more; ++times) {
            receive();
            if (team_.rank() == 0) {
                more = watch.nanoseconds() < milliseconds * 1e6;
                send(more);
                see_delivered();
                receive_it();
            } else {
                more = receive_it() != 0;
                send(more);
                see_delivered();
            }
        }
        return times;
    }

    void look_in_vain(double seconds) {
        for (const Stopwatch watch; watch.nanoseconds() < seconds * 1e9;)
            fi_cq_read(endpoint_.cq(), nullptr, 0);
    }

private:
    // One more of these, in whatever order they come.
    void see(int& ends) {
        fi_cq_tagged_entry entry;
        while (ends == 0)
            if (endpoint_.poll(entry)) ++(entry.op_context == &in_ ? received_ : delivered_);
        --ends;
    }

    Team& team_;
    Endpoint endpoint_;
    fi_addr_t peer_;
    uint64_t in_{0}, out_{0};
    int received_{0}, delivered_{0};
};

void compute(double milliseconds) {
    for (const Stopwatch watch; watch.nanoseconds() < milliseconds * 1e6;) {
    }
}

void report(Team& team, const char* what, unsigned long long mine) {
    const auto each = team.numbers(mine);
    if (team.rank() == 0) std::printf("%-44s %10llu %10llu\n", what, each[0], each[1]);
}

int run(Team& team, const Options& options) {
    Side side{team, options};
    if (team.rank() == 0)
        std::printf("%-44s %10s %10s\n", options.choice.domain.c_str(), "rank 0", "rank 1");
    report(team, "T, ns", side.statistics().watchdog_patience_ns);
    side.talk(10); // for the connection
    team.barrier();

    auto before = sleeps();
    const auto times = side.talk(options.seconds * 1e3);
    report(team, "there and back: sleeps of the watchdog", sleeps() - before);
    report(team, "there and back: messages", times);
    before = sleeps();
    side.look_in_vain(options.seconds);
    report(team, "polling in vain: sleeps of the watchdog", sleeps() - before);
    team.barrier();

    // Rank 1 stops to look when it has answered the last one, and has a receive by then.
    Samples late;
    before = sleeps();
    const fi_odrc_statistics first = side.statistics();
    for (int round = 0; round < options.rounds; ++round) {
        side.talk(options.talk);
        if (team.rank() == 1) side.receive();
        team.barrier();
        if (team.rank() == 1) {
            compute(options.compute);
            side.receive_it();
        } else {
            compute(options.compute / 2 * round / options.rounds); // when it has stopped so long
            const Stopwatch watch;
            side.send(1);
            side.see_delivered();
            late.add(watch.nanoseconds() / 1e3);
        }
        team.barrier();
    }
    const fi_odrc_statistics last = side.statistics();
    report(team, "polling and computing: sleeps of the watchdog", sleeps() - before);
    report(team, "batches taken in by it", last.watchdog_batches - first.watchdog_batches);
    report(team, "packets repeated", last.packets_repeated - first.packets_repeated);
    if (team.rank() == 0) late.report("delivered to who computes", "us");
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    Options options;
    CommandLine command{"The thread that makes progress in the program's stead"};
    add_choice(command, options.choice);
    command.option("-t,--seconds", options.seconds, "of polling");
    command.option("--talk", options.talk, "milliseconds of messages there and back in a round");
    command.option("--compute", options.compute, "milliseconds without a look after that");
    command.option("-r,--rounds", options.rounds, "of both");
    if (!command.read(argc, argv)) return command.status();
    return run_team(2, [&](Team& team) { return run(team, options); });
}
