// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "broadcast.hpp"
#include "process.hpp"

namespace odrc::mpi {
namespace {

// All members of a group have to know each other, which those of a tree need not.
constexpr int kMostInGroup = 64;
// What members always have room for, whatever their programs do. What is longer waits for these in
// any case, and may as well go the quickest way.
constexpr size_t kMostForGroup = 32 << 10;

FabricGroup* join(const Communicator& c) {
    Process& process = Process::get();
    const BroadcastWish& wish = broadcast_wish_of_environment();
    const bool wanted = !wish.kind || *wish.kind == BroadcastWay::Kind::group;
    if (!wanted || !process.fabric().has_groups() || c.size() > kMostInGroup) return nullptr;
    std::vector<fi_addr_t> members;
    for (int rank = 0; rank < c.size(); ++rank)
        members.push_back(process.address_of(c.group().world_rank(rank)));
    return &process.fabric().join(members);
}

} // namespace

BroadcastPlan::BroadcastPlan(Communicator& c)
    : communicator_{c}
    , group_{join(c)} {}

BroadcastPlan::~BroadcastPlan() {
    if (group_) Process::get().fabric().leave(*group_);
}

const BroadcastWay& BroadcastPlan::way_for(size_t bytes) {
    using Kind = BroadcastWay::Kind;
    if (bytes == bytes_) return way_;
    bytes_ = bytes;
    BroadcastWish wish = broadcast_wish_of_environment();
    if (group_ && (wish.kind || bytes <= kMostForGroup)) return way_ = {.kind = Kind::group};
    if (wish.kind == Kind::group) wish = {}; // there is none
    // From one to one other all trees are the same.
    if (!costs_) costs_ = communicator_.size() > 2 ? measure_link(communicator_) : LinkCosts{};
    return way_ = quickest_way(bytes, communicator_.size(), *costs_, wish);
}

} // namespace odrc::mpi
