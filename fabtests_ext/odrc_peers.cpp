// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// One endpoint that speaks to very many: how long it takes, and how much memory.

#include "support/names.hpp"
#include "support/options.hpp"
#include "support/samples.hpp"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sched.h>
#include <unistd.h>

namespace fabtests_ext {
namespace {

struct Options {
    Choice choice;
    AddressFormat format;
    int peers{1024};
    int processes{4}; // that hold the peers
    int waves{1};     // in which they come, and go again
    int rounds{1};
    int window{256};                      // messages under way
    std::vector<std::string> environment; // of those that hold the peers: NAME=VALUE
};

size_t memory_in_use() {
    size_t pages = 0, resident = 0;
    std::ifstream{"/proc/self/statm"} >> pages >> resident;
    return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// Some of the peers of a wave: endpoints of one domain with one completion queue. Each takes a
// message of each round.
class Holder {
public:
    Holder(const Options& options, const Names& names, int first, int end)
        : options_{options}
        , base_{options.choice, {.caps = FI_MSG, .address_format = options.format.value()}} {
        for (int i = first; i < end; ++i)
            names.set(i, endpoints_.emplace_back(base_.open_another()).get());
    }

    void run() {
        for (auto& ep : endpoints_) post_receive(ep.get());
        auto left = endpoints_.size() * static_cast<size_t>(options_.rounds);
        fi_cq_tagged_entry entry;
        while (left > 0) {
            if (!base_.poll(entry)) {
                sched_yield();
                continue;
            }
            --left;
            post_receive(static_cast<fid_ep*>(entry.op_context)); // that of the last one stays
        }
    }

private:
    void post_receive(fid_ep* ep) {
        insist(base_, "fi_recv",
               [&] { return fi_recv(ep, &in_, sizeof in_, nullptr, FI_ADDR_UNSPEC, ep); });
    }

    const Options& options_;
    Endpoint base_;
    std::vector<Owned<fid_ep>> endpoints_;
    uint64_t in_{0};
};

class Speaker {
public:
    explicit Speaker(const Options& options)
        : options_{options}
        , endpoint_{options.choice, {.caps = FI_MSG, .address_format = options.format.value()}} {}

    void speak_to(const Names& names, int first, int end) {
        std::vector<fi_addr_t> peers;
        for (int i = first; i < end; ++i) peers.push_back(names.insert_into(endpoint_, i));
        const size_t before = memory_in_use();
        const double seconds = send_to_all(peers, 1);
        const size_t after = memory_in_use();
        std::printf("%d peers, 1 message to each: %.4f s, %zu kB of memory, %zu kB more\n",
                    end - first, seconds, after / 1024, (std::max(after, before) - before) / 1024);
        if (const int more = options_.rounds - 1; more > 0)
            std::printf("%d peers, %d more to each: %.4f us a message\n", end - first, more,
                        send_to_all(peers, more) * 1e6 / more / (end - first));
        std::fflush(stdout);
    }

private:
    // The seconds until all of so many rounds are over.
    double send_to_all(const std::vector<fi_addr_t>& peers, int rounds) {
        const Stopwatch watch;
        for (int round = 0; round < rounds; ++round)
            for (const fi_addr_t peer : peers) send(peer);
        while (under_way_ > 0) progress();
        return watch.nanoseconds() / 1e9;
    }

    void send(fi_addr_t peer) {
        insist(endpoint_, "fi_send",
               [&] { return fi_send(endpoint_.ep(), &out_, sizeof out_, nullptr, peer, &out_); });
        for (++under_way_; under_way_ >= options_.window;) progress();
    }

    void progress() {
        fi_cq_tagged_entry entry;
        if (endpoint_.poll(entry))
            --under_way_;
        else
            sched_yield();
    }

    const Options& options_;
    Endpoint endpoint_;
    uint64_t out_{0};
    int under_way_{0};
};

// So many of a number fall to the first parts of it.
int share(int whole, int parts, int part) {
    return static_cast<int>(int64_t{whole} * part / parts);
}

int speak(Team& team, const Options& options, const Names& names) {
    Speaker speaker{options};
    for (int wave = 0; wave < options.waves; ++wave) {
        team.barrier();
        speaker.speak_to(names, share(options.peers, options.waves, wave),
                         share(options.peers, options.waves, wave + 1));
        team.barrier();
    }
    return 0;
}

int hold(Team& team, const Options& options, const Names& names) {
    // Kept by the environment, and so for the life of the process.
    for (const std::string& setting : options.environment) putenv(strdup(setting.c_str()));
    for (int wave = 0; wave < options.waves; ++wave) {
        const int first = share(options.peers, options.waves, wave);
        const int count = share(options.peers, options.waves, wave + 1) - first;
        Holder holder{options, names, first + share(count, options.processes, team.rank() - 1),
                      first + share(count, options.processes, team.rank())};
        team.barrier();
        holder.run();
        team.barrier();
    }
    return 0;
}

} // namespace
} // namespace fabtests_ext

int main(int argc, char** argv) {
    using namespace fabtests_ext;
    Options options;
    CommandLine command{"One endpoint that speaks to very many"};
    add_choice(command, options.choice);
    add_format(command, options.format);
    command.option("-n,--peers", options.peers, "how many endpoints it speaks to").positive();
    command.option("-H,--holders", options.processes, "processes that hold them").within(1, 500);
    command.option("-W,--waves", options.waves, "in which they come, and go again").positive();
    command.option("-r,--rounds", options.rounds, "messages to each").positive();
    command.option("-w,--window", options.window, "messages under way at a time").positive();
    command.option("-E,--holders-environment", options.environment,
                   "NAME=VALUE, of the processes that hold them");
    if (!command.read(argc, argv)) return command.status();
    const Names names{options.peers};
    return run_team(options.processes + 1, [&](Team& team) {
        return team.rank() == 0 ? speak(team, options, names) : hold(team, options, names);
    });
}
