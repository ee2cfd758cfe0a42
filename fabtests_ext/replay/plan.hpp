// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fabtests_ext {

// What is known of an application's messages.
struct Profile {
    struct Share {
        double of_messages;
        size_t size; // in bytes
    };
    int partners;      // of each process, to which nearly all of its messages go; 0: to all alike
    double unexpected; // the share that comes before its receive
    std::vector<Share> sizes;
    bool in_turn{false}; // to all others one after the other, and not at random
};

// By name: the applications of the memory study of 2006, and the extremes.
const std::map<std::string, Profile>& profiles();

// What one process sends and receives, in rounds: the same for all who ask for the same.
struct Plan {
    struct Message {
        int peer;
        size_t size;
        uint64_t tag; // no other one of the plan's has it
    };
    struct Round {
        std::vector<Message> out;
        std::vector<Message> in;   // whose receives are posted when the round begins
        std::vector<Message> late; // and when all these have come
    };
    std::vector<Round> rounds;
    size_t longest{0};
    size_t most{0}; // messages that come in a round
};
Plan make_plan(const Profile& profile, int rank, int processes, int rounds, int in_round,
               uint64_t seed);

} // namespace fabtests_ext
