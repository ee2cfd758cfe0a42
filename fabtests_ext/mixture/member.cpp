// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The course of a run, and what is checked.

#include "fabtests_ext/mixture/member.hpp"

#include <atomic>
#include <cstring>
#include <rdma/fi_errno.h>

namespace fabtests_ext::mixture {
namespace {

constexpr uint64_t kOrder =
    FI_ORDER_SAS | FI_ORDER_SAW | FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_WAW;
constexpr std::chrono::seconds kPatience{60};

uint64_t content_of(std::span<const std::byte> bytes) noexcept {
    uint64_t content = 0;
    for (const std::byte b : bytes) content = scramble(content ^ uint64_t(b));
    return content;
}

} // namespace

Member::Member(Team& team, const Options& options, bool events)
    : team_{team}
    , options_{options}
    , events_{events}
    , random_{scramble(options.seed ^ uint64_t(team.rank()) << 32)}
    , endpoint_{options.choice,
                {.caps = FI_TAGGED | FI_RMA | FI_FENCE | FI_DIRECTED_RECV | FI_SOURCE |
                         (events ? FI_RMA_EVENT : 0),
                 .counters = true,
                 .rma_counters = true,
                 .remote_counters = events,
                 .mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY,
                 .order = kOrder}}
    , slice_{(kMarkRoom + 2 * options.max_size + 63) / 64 * 64} // marks are aligned
    , memory_(slice_ * size_t(team.size())) {
    fid_mr* region = nullptr;
    check(fi_mr_reg(endpoint_.domain(), memory_.data(), memory_.size(),
                    FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &region, nullptr),
          "fi_mr_reg");
    region_.reset(region);
    const auto addresses = endpoint_.introduce(team);
    const auto bases = team.numbers(reinterpret_cast<uintptr_t>(memory_.data()));
    const auto keys = team.numbers(fi_mr_key(region));
    for (size_t i = 0; i < addresses.size(); ++i)
        peers_.push_back({.address = addresses[i],
                          .memory = {bases[i] + slice_ * size_t(team.rank()), slice_, keys[i]},
                          .expected = std::vector<std::byte>(slice_)});
}

bool Member::poll() {
    fi_cq_tagged_entry entry;
    if (!endpoint_.poll(entry)) return false;
    if (entry.flags & FI_REMOTE_WRITE) {
        require((entry.data >> 32) < peers_.size(), "remote CQ data is nonsense");
        require(mark_of(int(entry.data >> 32)) >= (entry.data & 0xffffffff),
                "remote CQ data came before its write");
        return true;
    }
    const auto found = operations_.find(entry.op_context);
    require(found != operations_.end(), "a completion of nothing");
    const auto op = std::move(found->second);
    operations_.erase(found);
    require(op->pieces.gaps_untouched(), "bytes between the pieces were changed");
    if (op->kind == Kind::receive || op->kind == Kind::farewell)
        on_received(*op, entry);
    else
        --under_way_;
    if (op->kind == Kind::read) require(op->pieces.get() == op->expected, "a read is wrong");
    return true;
}

void Member::on_received(const Operation& op, const fi_cq_tagged_entry& entry) {
    Peer& p = peers_[size_t(op.peer)];
    auto bytes = op.pieces.get();
    require(entry.len == bytes.size(), "a message has not its length");
    if (op.kind == Kind::farewell) {
        std::memcpy(&p.farewell.emplace(), bytes.data(), sizeof(Farewell));
        return;
    }
    ++p.received;
    const uint64_t id = message_id(op.peer, team_.rank(), op.number);
    if (bytes.size() >= kMarkSize) {
        uint64_t mark;
        std::memcpy(&mark, bytes.data(), kMarkSize);
        require(mark_of(op.peer) >= mark, "a message overtook a write");
        fill(bytes.data(), kMarkSize, id);
    }
    require(intact(bytes.data(), bytes.size(), id), "a message is damaged or out of order");
}

uint64_t Member::mark_of(int from) noexcept {
    auto& word = *reinterpret_cast<uint64_t*>(memory_.data() + slice_ * size_t(from));
    return std::atomic_ref{word}.load(std::memory_order_acquire);
}

void Member::pause() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds{random_() % 200};
    while (std::chrono::steady_clock::now() < end) {
    }
}

template <class Condition>
void Member::until(Condition&& holds) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!holds()) {
        require(std::chrono::steady_clock::now() < end, "something never came");
        post_receives();
        if (!poll()) sched_yield();
    }
}

void Member::check_memory() const {
    for (size_t i = 0; i < peers_.size(); ++i)
        require(content_of(std::span{memory_}.subspan(i * slice_, slice_)) ==
                    peers_[i].farewell->content,
                "the memory is not what was written to it");
}

// Injected operations count when they are over, which nothing else tells.
template <class Count>
void Member::check_counter(fid_cntr* counter, const char* what, Count&& count) {
    uint64_t expected = 0;
    for (const Peer& p : peers_) expected += count(p);
    until([&] { return fi_cntr_read(counter) >= expected; });
    if (fi_cntr_read(counter) != expected || fi_cntr_readerr(counter) != 0)
        throw std::runtime_error{std::string{"counted are other numbers of "} + what};
}

void Member::check_counters() {
    check_counter(endpoint_.sent(), "sends", [](const Peer& p) { return p.sent + 1; });
    check_counter(endpoint_.received(), "receives", [](const Peer& p) { return p.received + 1; });
    check_counter(endpoint_.written(), "writes", [](const Peer& p) { return p.written; });
    check_counter(endpoint_.read(), "reads", [](const Peer& p) { return p.read; });
    if (!events_) return;
    check_counter(endpoint_.written_by_peers(), "peers' writes",
                  [](const Peer& p) { return p.farewell->writes; });
    check_counter(endpoint_.read_by_peers(), "peers' reads",
                  [](const Peer& p) { return p.farewell->reads; });
}

void Member::say_farewell(Peer& p) {
    const Farewell farewell{p.sent, p.written, p.read, content_of(p.expected)};
    until([&] {
        const ssize_t result =
            fi_tinject(endpoint_.ep(), &farewell, sizeof farewell, p.address, kFarewellTag);
        if (result != -FI_EAGAIN) check(result, "fi_tinject");
        return result == 0;
    });
}

void Member::run() {
    for (int i = 0; i < team_.size(); ++i) post_receive(i, Kind::farewell, sizeof(Farewell));
    for (uint64_t begun = 0; begun < options_.operations;) {
        if (under_way_ < options_.window) begun += begin(int(random_() % peers_.size()));
        if (random_() % 4 == 0) post_receives();
        if (random_() % 32 == 0) pause();
        for (uint64_t polls = random_() % 4; polls > 0; --polls) poll();
    }
    until([&] { return under_way_ == 0; });
    for (Peer& p : peers_) say_farewell(p);
    until([&] {
        return std::ranges::all_of(
            peers_, [](const Peer& p) { return p.farewell && p.received == p.farewell->messages; });
    });
    check_memory();
    check_counters();
}

} // namespace fabtests_ext::mixture
