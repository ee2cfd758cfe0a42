// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "fabtests_ext/support/fabric.hpp"

#include <sched.h>
#include <stdexcept>
#include <vector>

namespace fabtests_ext {

// A process of a pattern: it sends its rank and checks whose it receives.
class Member {
public:
    Member(Team& team, const Choice& choice,
           const Wishes& wishes = {.caps = FI_TAGGED | FI_DIRECTED_RECV})
        : team_{team}
        , endpoint_{choice, wishes}
        , peers_{endpoint_.introduce(team)} {}

    int rank() const noexcept { return team_.rank(); }
    int size() const noexcept { return team_.size(); }
    Endpoint& endpoint() noexcept { return endpoint_; }
    fi_addr_t peer(int rank) const { return peers_[static_cast<size_t>(rank)]; }

    void send(int to) { run(to, kNobody); }
    void receive(int from) { run(kNobody, from); }
    // To one and from another, at once.
    void exchange(int to, int from) { run(to, from); }

private:
    static constexpr int kNobody = -1;

    void run(int to, int from) {
        int sending = 0, receiving = 0;
        int in = kNobody;
        const int out = rank();
        bool sent = to == kNobody, received = from == kNobody;
        if (!received)
            retry([&] {
                return fi_trecv(endpoint_.ep(), &in, sizeof in, nullptr, peers_[size_t(from)], 0, 0,
                                &receiving);
            });
        if (!sent)
            retry([&] {
                return fi_tsend(endpoint_.ep(), &out, sizeof out, nullptr, peers_[size_t(to)], 0,
                                &sending);
            });
        while (!sent || !received) { // the two complete in any order
            fi_cq_tagged_entry entry;
            if (!endpoint_.poll(entry)) {
                sched_yield();
                continue;
            }
            sent |= entry.op_context == &sending;
            received |= entry.op_context == &receiving;
        }
        if (in != from) throw std::runtime_error{"a message from somebody else"};
    }

    template <class Call>
    void retry(Call&& call) {
        for (;;) {
            const ssize_t r = call();
            if (r != -FI_EAGAIN) return check(r, "fi_tsend or fi_trecv");
            fi_cq_read(endpoint_.cq(), nullptr, 0);
        }
    }

    Team& team_;
    Endpoint endpoint_;
    std::vector<fi_addr_t> peers_;
};

} // namespace fabtests_ext
