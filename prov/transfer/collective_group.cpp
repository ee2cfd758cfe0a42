// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Groups of endpoints: how one joins and leaves them.

#include "transfer/collectives.hpp"
#include "transfer/engine.hpp"

#include <unordered_set>

namespace odrc::transfer {
namespace {

// Each value of state and item gives another one (the finalizer of splitmix64).
uint64_t mix(uint64_t state, uint64_t item) noexcept {
    uint64_t x = (state ^ item) + 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

} // namespace

CollectiveGroup* Collectives::find_group(fi_addr_t address) noexcept {
    if (address >> 32 != kGroupAddress >> 32) return nullptr;
    const auto found = groups_.find(static_cast<uint32_t>(address));
    return found == groups_.end() || found->second->left ? nullptr : found->second.get();
}

// Finds our own rank, and what the members have in common: a number that stands for their
// addresses, in order. 0 or a negative fi_errno. Throws std::bad_alloc.
int Collectives::identify(CollectiveGroup& group, uint64_t& identity) {
    std::unordered_set<ondemand::Address> seen;
    bool member = false;
    for (const fi_addr_t number : group.members) {
        const auto address = addresses_.at(number);
        if (!address || !seen.insert(*address).second) return -FI_EINVAL;
        if (*address == engine_.address()) {
            member = true;
            group.rank = static_cast<uint32_t>(seen.size() - 1);
        }
        identity = mix(identity, address->hash());
    }
    return member ? 0 : -FI_EINVAL;
}

// The members tell each other their numbers, and then that they have those of all. Which join is
// meant they know from the members' addresses, and from how often these have been joined before.
int Collectives::join(std::span<const fi_addr_t> members, Joining& joining, fi_addr_t& address) {
    if (members.size() > kMaxMembers || groups_.size() >= kMaxGroup) return -FI_EINVAL;
    auto owner = std::make_unique<CollectiveGroup>();
    CollectiveGroup& group = *owner;
    group.members.assign(members.begin(), members.end());
    group.numbers.resize(members.size());
    group.joining = &joining;
    uint64_t identity = 0;
    if (const int error = identify(group, identity)) return error;
    uint32_t& joins = joins_[identity];
    do last_group_ = last_group_ % kMaxGroup + 1;
    while (groups_.contains(last_group_));
    group.numbers[group.rank] = last_group_;
    group.join_tag = kJoinTag | mix(identity, joins);
    groups_.emplace(last_group_, std::move(owner));

    auto* numbers = reinterpret_cast<std::byte*>(group.numbers.data());
    CollectiveOperation* op =
        make_operation(group, {.kind = FI_ALLGATHER,
                               .rank = group.rank,
                               .size = group.size(),
                               .block = sizeof(uint32_t),
                               .elements = 1,
                               .agreed = true,
                               .data = numbers + group.rank * sizeof(uint32_t),
                               .result = numbers});
    if (!op) {
        groups_.erase(group.number());
        return -FI_ENOMEM;
    }
    op->join = true;
    ++joins;
    address = kGroupAddress | group.number();
    advance(*op);
    return 0;
}

// What is under way in the group ends with FI_ECANCELED; a join, without a word.
void Collectives::leave(fi_addr_t address) noexcept {
    CollectiveGroup* group = find_group(address);
    if (!group) return;
    multicast_.leave(*group);
    group->left = true;
    constexpr uint64_t all = std::numeric_limits<uint32_t>::max();
    engine_.discard_parts(part_tag(group->number(), 0), all);
    if (group->operations.empty()) {
        groups_.erase(group->number());
        return;
    }
    // The group goes with the last of them.
    for (CollectiveOperation* op = group->operations.front(); op;) {
        CollectiveOperation* next = group->operations.after(*op);
        if (!op->stream) { // those end with the packets that are still on their way
            break_off(*op, FI_ECANCELED);
            advance(*op);
        }
        op = next;
    }
}

} // namespace odrc::transfer
