// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Small messages to and fro between two processes. Once they know each other, neither allocates
// nor asks the kernel for anything, from the posting of a send or receive to its completion.
// Exits with 77 where nobody may look on.

#include "fabtests_ext/support/fabric.hpp"
#include "tests/integration/counts/observation.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <rdma/fi_errno.h>
#include <sched.h>
#include <system_error>
#include <unistd.h>

namespace steady_path {
namespace {

using namespace counts;
using namespace fabtests_ext;

constexpr int kMessages = 1000;
constexpr int kTimes = 3; // that many are sent and observed
constexpr int kSkip = 77;

struct Way {
    const char* name;
    bool tagged;
    bool injected;
};
constexpr Way kWays[] = {{"fi_tsend", true, false},
                         {"fi_send", false, false},
                         {"fi_tinject", true, true},
                         {"fi_inject", false, true}};

class Member {
public:
    Member(Team& team, const Choice& choice, fi_threading threading, Observation& observation)
        : team_{team}
        , endpoint_{choice, {.caps = FI_MSG | FI_TAGGED | FI_DIRECTED_RECV, .threading = threading}}
        , peer_{endpoint_.introduce(team)[team.rank() == 0 ? 1 : 0]}
        , observation_{observation} {}

    // True if only messages were moved. A peer that the kernel stops in the middle of a step makes
    // a send wait for it, and wakes the thread that sees to that: such a time is not the rule, and
    // another one is taken.
    bool run(const Way& way) {
        exchange(way); // what is made once is made now
        Observation least{.allocations = SIZE_MAX, .system_calls = SIZE_MAX};
        for (int i = 0; i < kTimes; ++i) {
            observation_ = {};
            {
                const Observed observed{observation_};
                exchange(way);
            }
            if (observation_.system_calls <= least.system_calls &&
                observation_.allocations <= least.allocations)
                least = observation_;
        }
        std::printf("rank %d, %s: %lu allocations, %lu system calls", team_.rank(), way.name,
                    least.allocations, least.system_calls);
        if (least.system_calls > 0)
            std::printf(", the first of number %lu", least.first_system_call);
        std::printf("\n");
        std::fflush(stdout); // who finds something ends the other
        return least.allocations == 0 && least.system_calls == 0;
    }

    void meet() {
        unobserved([&] { team_.barrier(); });
    }

private:
    // A receive always stands before its message comes.
    void exchange(const Way& way) {
        post_receive(way);
        meet();
        for (int left = kMessages; left > 0; --left) {
            if (team_.rank() == 0) send(way);
            while (!received_) progress();
            received_ = false;
            if (left > 1) post_receive(way);
            if (team_.rank() == 1) send(way);
        }
        meet();
    }

    void post_receive(const Way& way) {
        check(way.tagged ? fi_trecv(endpoint_.ep(), in_.data(), in_.size(), nullptr, peer_, 7, 0,
                                    &receive_context_)
                         : fi_recv(endpoint_.ep(), in_.data(), in_.size(), nullptr, peer_,
                                   &receive_context_),
              "fi_recv");
    }

    void send(const Way& way) {
        fid_ep* ep = endpoint_.ep();
        const void* bytes = out_.data();
        const size_t n = out_.size();
        for (;;) {
            const ssize_t result = way.injected ? way.tagged ? fi_tinject(ep, bytes, n, peer_, 7)
                                                             : fi_inject(ep, bytes, n, peer_)
                                   : way.tagged
                                       ? fi_tsend(ep, bytes, n, nullptr, peer_, 7, &send_context_)
                                       : fi_send(ep, bytes, n, nullptr, peer_, &send_context_);
            if (result == 0) break;
            if (result != -FI_EAGAIN) check(result, way.name);
            progress();
        }
        if (way.injected) return;
        while (!sent_) progress();
        sent_ = false;
    }

    // Where the two processes share a processor, the other one gets it.
    void progress() {
        fi_cq_tagged_entry entry;
        if (!endpoint_.poll(entry)) return unobserved([] { sched_yield(); });
        (entry.op_context == &send_context_ ? sent_ : received_) = true;
    }

    template <class F>
    void unobserved(F&& f) {
        const Observed not_now{observation_, false};
        f();
    }

    Team& team_;
    Endpoint endpoint_;
    fi_addr_t peer_;
    Observation& observation_;
    std::array<char, 8> in_{}, out_{'o'};
    fi_context2 send_context_, receive_context_;
    bool sent_{false}, received_{false};
};

int member(Team& team, const Choice& choice, Observation& observation) {
    count_allocations_in(observation);
    bool right = sees(observation);
    for (const auto threading : {FI_THREAD_DOMAIN, FI_THREAD_SAFE}) {
        Member self{team, choice, threading, observation};
        for (const Way& way : kWays) right = self.run(way) && right;
        self.meet();
    }
    return right ? 0 : 1;
}

} // namespace
} // namespace steady_path

int main(int argc, char** argv) {
    using namespace steady_path;
    const Choice choice{.provider = argc > 2 ? argv[2] : "odrc",
                        .domain = argc > 1 ? argv[1] : "soft0"};
    const Shared<Observation> probe;
    try {
        trace(*probe, [] { return 0; });
    } catch (const std::system_error& e) {
        std::printf("SKIP: nobody may look on: %s\n", e.what());
        return kSkip;
    }
    return run_team(2, [&](Team& team) {
        const Shared<Observation> observation;
        return trace(*observation, [&] { return member(team, choice, *observation); });
    });
}
