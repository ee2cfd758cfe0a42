// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// How long a broadcast takes until the last member has it, in the way that the environment says
// (FI_ODRC_BROADCAST). bench/broadcast puts the ways side by side.

#include "fabtests_ext/support/command_line.hpp"
#include "fabtests_ext/support/fabric.hpp"
#include "fabtests_ext/support/samples.hpp"
#include "fabtests_ext/support/team.hpp"

#include <rdma/fi_collective.h>
#include <sched.h>
#include <time.h>

namespace {

using namespace fabtests_ext;

uint64_t now() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t); // the same for all processes
    return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

struct Options {
    std::string device{"soft0"};
    int processes{8};
    int rounds{51};
    uint64_t busy_us{0};
    std::vector<size_t> sizes{8, 1024, 8192, 65'536, 1'048'576};
};

class Member {
public:
    Member(Team& team, const Options& options)
        : team_{team}
        , options_{options}
        , endpoint_{{.provider = "odrc", .domain = options.device},
                    {.caps = FI_MSG | FI_TAGGED | FI_COLLECTIVE,
                     .data_progress = FI_PROGRESS_AUTO,
                     .events = true}} {
        fi_av_set_attr attr{};
        attr.start_addr = attr.end_addr = FI_ADDR_NOTAVAIL;
        fid_av_set* set = nullptr;
        check(fi_av_set(endpoint_.av(), &attr, &set, nullptr), "fi_av_set");
        set_.reset(set);
        for (const fi_addr_t peer : endpoint_.introduce(team))
            check(fi_av_set_insert(set, peer), "fi_av_set_insert");
        fi_addr_t address = FI_ADDR_NOTAVAIL;
        check(fi_av_set_addr(set, &address), "fi_av_set_addr");
        fid_mc* group = nullptr;
        check(fi_join_collective(endpoint_.ep(), address, set, 0, &group, nullptr),
              "fi_join_collective");
        group_.reset(group);
        fi_eq_entry entry{};
        uint32_t event = 0;
        ssize_t n = 0;
        while ((n = fi_eq_read(endpoint_.eq(), &event, &entry, sizeof entry, 0)) == -FI_EAGAIN)
            sched_yield();
        check(n, "fi_eq_read");
    }

    void measure(size_t size) {
        std::vector<char> data(size);
        Samples samples;
        for (int round = 0; round <= options_.rounds; ++round) {
            team_.barrier();
            const uint64_t begin = now();
            if (computes())
                while (now() - begin < options_.busy_us * 1000) {
                }
            run(data);
            const auto begins = team_.numbers(begin);
            const auto ends = team_.numbers(computes() ? 0 : now_over_);
            const double us =
                static_cast<double>(*std::ranges::max_element(ends) - begins.front()) / 1e3;
            if (round > 0) samples.add(us); // the first is for the connections
        }
        if (team_.rank() != 0) return;
        const auto [least, most] = samples.confidence();
        std::printf("%d\t%zu\t%.1f\t%.1f\t%.1f\t%.1f\n", team_.size(), size, samples.median(),
                    least, most, static_cast<double>(size) / samples.median());
        std::fflush(stdout);
    }

private:
    // All but the root and the last member, who is below some of the others in all trees.
    bool computes() const {
        return options_.busy_us > 0 && team_.rank() > 0 && team_.rank() < team_.size() - 1;
    }
    void run(std::vector<char>& data) {
        insist(endpoint_, "fi_broadcast", [&] {
            return fi_broadcast(endpoint_.ep(), data.data(), data.size(), nullptr,
                                fi_mc_addr(group_.get()), 0, FI_INT8, 0, this);
        });
        endpoint_.wait(this);
        now_over_ = now();
    }

    Team& team_;
    const Options& options_;
    Endpoint endpoint_;
    Owned<fid_av_set> set_;
    Owned<fid_mc> group_;
    uint64_t now_over_{0};
};

} // namespace

int main(int argc, char** argv) {
    Options options;
    CommandLine command{
        "Time to the last member of broadcasts, in microseconds: members, bytes, median, "
        "least and most of it, bytes a microsecond."};
    command.option("-d,--device", options.device);
    command.option("-n,--processes", options.processes);
    command.option("-r,--rounds", options.rounds);
    command.option("-s,--sizes", options.sizes).with_commas();
    command.option("-b,--busy", options.busy_us,
                   "All members but the root and the last compute for so many microseconds, and do "
                   "not poll, before "
                   "they begin; until when the last has it counts");
    if (!command.read(argc, argv)) return command.status();
    return run_team(options.processes, [&](Team& team) {
        Member member{team, options};
        for (const size_t size : options.sizes) member.measure(size);
        return 0;
    });
}
