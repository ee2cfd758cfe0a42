// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/list.hpp"
#include "transfer/collective_schedule.hpp"
#include "transfer/multicast_group.hpp"

#include <limits>
#include <memory>
#include <rdma/fabric.h>
#include <vector>

namespace odrc::transfer {

class Joining;
struct CollectiveGroup;

// Tags of parts: those of a join, which all members find out for themselves; or the group's number
// at the receiver and the operation's.
inline constexpr uint64_t kJoinTag = uint64_t{1} << 63;
constexpr uint64_t part_tag(uint32_t group, uint32_t operation) noexcept {
    return uint64_t{group} << 32 | operation;
}
// Groups are numbered from 1 on, and so have room below the bit.
inline constexpr uint32_t kMaxGroup = (uint32_t{1} << 31) - 1;

// What fi_mc_addr(3) gives for a group: no number of an address vector.
inline constexpr uint64_t kGroupAddress = uint64_t{1} << 62;

// A collective of the program's, or a join, from the call to the completion. Its messages, its
// parts, are sends and receives like any, in a space of tags of their own. An operation that fails
// sends the error to those that await a message of it, and they do the same: where a member dies,
// all who depend on it hear of that.
struct CollectiveOperation : ListNode<> {
    static constexpr size_t kInside = 128;

    CollectiveGroup* group{nullptr};
    uint32_t number{0}; // of the group's operations; a join has none
    Collective what;
    Round round;            // the current one
    uint32_t next_round{0}; // its successor's number
    uint32_t under_way{0};  // parts of the current round that are not over
    bool advancing{false};  // further down the stack
    bool join{false};
    bool wanted{false};      // its completion
    Stream* stream{nullptr}; // a broadcast's by packets (Multicast), which has no rounds
    bool waits{false};       // for those
    int error{0};
    void* context{nullptr};
    std::unique_ptr<std::byte[]> outside; // where longer blocks are combined
    alignas(16) std::byte inside[kInside];

    // Of what goes to that member, and of what comes to us.
    uint64_t tag_at(uint32_t receiver) const noexcept;
    uint64_t tag() const noexcept { return tag_at(what.rank); }
};

// A group that the endpoint has joined, or is about to. Every member calls it by a number of its
// own, which the others learn in the join: what goes to a member has its number on it, so that no
// two groups can be mistaken for each other.
struct CollectiveGroup {
    std::vector<fi_addr_t> members; // by rank
    std::vector<uint32_t> numbers;  // what each of them calls the group
    uint32_t rank{0};               // ours
    uint64_t join_tag{0};
    uint32_t next{0}; // the number of the next operation
    bool joined{false};
    bool left{false}; // it goes with the last operation
    Joining* joining{nullptr};
    List<CollectiveOperation> operations; // that are not over
    Multicasts multicasts;

    // The join is over.
    bool over() const noexcept { return joined || operations.empty(); }

    uint32_t size() const noexcept { return static_cast<uint32_t>(members.size()); }
    uint32_t number() const noexcept { return numbers[rank]; }
};

inline uint64_t CollectiveOperation::tag_at(uint32_t receiver) const noexcept {
    return join ? group->join_tag : part_tag(group->numbers[receiver], number);
}

} // namespace odrc::transfer
