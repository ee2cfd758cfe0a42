// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/list.hpp"
#include "transfer/collective_schedule.hpp"

#include <limits>
#include <memory>
#include <rdma/fabric.h>
#include <vector>

namespace odrc::transfer {

struct Receive;
struct CollectiveGroup;

// The most bytes that one member gives to one other, and the most members.
inline constexpr size_t kMaxCollective = size_t{1} << 32;
inline constexpr uint32_t kMaxMembers = std::numeric_limits<int32_t>::max();

// The number of bytes of an element, if the collective can be had for the type and, where it
// combines, the operation; 0: it cannot. A barrier has no elements.
size_t element_size(fi_collective_op kind, fi_datatype type, fi_op op) noexcept;

// Hears of the end of a join, inside the endpoint's gate.
class Joining {
public:
    virtual void joined(int error) noexcept = 0; // a fi_errno value; 0: it went well

protected:
    ~Joining() = default;
};

// A collective of the program's, or a join, from the call to the completion. Its messages, its
// parts, are sends and receives like any, in a space of tags of their own. An operation that fails
// sends the error to those that await a message of it, and they do the same: where a member dies,
// all who depend on it hear of that.
struct CollectiveOperation : ListNode<> {
    static constexpr size_t kInside = 128;

    CollectiveGroup* group{nullptr};
    uint32_t number{0}; // of the group's operations; a join has none
    Collective what;
    Round round;              // the current one
    uint32_t next_round{0};   // its successor's number
    uint32_t under_way{0};    // parts of the current round that are not over
    Receive* posted{nullptr}; // what waits for the current round's message
    bool advancing{false};    // further down the stack
    bool join{false};
    bool wanted{false}; // its completion
    int error{0};
    void* context{nullptr};
    std::unique_ptr<std::byte[]> outside; // where longer blocks are combined
    alignas(16) std::byte inside[kInside];
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

    // The join is over.
    bool over() const noexcept { return joined || operations.empty(); }

    uint32_t size() const noexcept { return static_cast<uint32_t>(members.size()); }
    uint32_t number() const noexcept { return numbers[rank]; }
};

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

} // namespace odrc::transfer
