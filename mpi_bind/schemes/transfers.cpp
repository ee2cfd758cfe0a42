// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "schemes/transfers.hpp"

#include "process.hpp"
#include "schemes/incoming.hpp"
#include "schemes/outgoing.hpp"
#include "schemes/shape.hpp"

#include <algorithm>

namespace odrc::mpi {
namespace {

// What is shorter goes in one message of the provider's, or takes no longer for being announced.
constexpr size_t kLeastOffered = size_t{16} << 10;

} // namespace

Transfers::Transfers(Fabric& fabric, bool overlaps)
    : fabric_{fabric}
    , overlaps_{overlaps}
    , costs_{fabric}
    , wishes_{fabric}
    , packed_{fabric}
    , unpacked_{fabric} {
    fabric.set_listener(on_written);
}

bool Transfers::offers(const Data& data, fi_addr_t to, uint64_t tag,
                       const WantedScheme& wanted) noexcept {
    constexpr size_t kLeast = 4096; // what is shorter is sent at once
    const size_t bytes = data.bytes();
    if (bytes <= kLeast || wanted.scheme == Scheme::generic) return false;
    if (data.is_contiguous()) return wishes_.is_wished(to, tag) && can_offer();
    return (wanted.scheme || bytes >= kLeastOffered) && can_offer();
}

// Short words are injected.
bool Transfers::can_offer() noexcept {
    constexpr size_t kWord = 64;
    return fabric_.reaches_memory() && fabric_.inject_size() >= kWord && packed_.open();
}

void Transfers::came_as_it_is(const Data& data, uint64_t bytes, fi_addr_t from, uint64_t tag,
                              const WantedScheme& wanted) noexcept {
    if (bytes < kLeastOffered || wanted.scheme == Scheme::generic) return;
    if (wishes_.is_told(from, tag)) return;
    Offer as_if{};
    as_if.shape = {.piece = bytes, .extent = bytes};
    as_if.wanted = kAnyScheme;
    const Means means{.unpacks = true, .exposes = true, .overlaps = overlaps_};
    const SchemeCosts& costs = costs_.known();
    Choice choice{costs, as_if, shape_of(data), bytes, means, wanted};
    const auto expected = [&](Scheme scheme) {
        return choice.expected()[static_cast<size_t>(scheme)];
    };
    const double not_packed = static_cast<double>(bytes) * (costs.copied_byte + costs.fresh_byte);
    constexpr double kGain = 0.8;
    if (wanted.scheme ||
        expected(quickest(choice.expected())) < kGain * (expected(Scheme::generic) - not_packed))
        wishes_.tell(from, tag);
}

Staging::Stretch Transfers::take_packed(size_t bytes) noexcept {
    auto stretch = packed_.take(bytes);
    return stretch ? std::move(stretch) : packed_.make(bytes);
}

Staging::Stretch Transfers::take_unpacked(size_t bytes, Incoming& who) noexcept {
    const bool is_first = waiting_.empty() || waiting_.front() == &who;
    auto stretch = is_first ? unpacked_.take(bytes) : Staging::Stretch{};
    if (stretch)
        wait_no_more(who);
    else if (std::ranges::find(waiting_, &who) == waiting_.end())
        waiting_.push_back(&who);
    return stretch;
}

void Transfers::give_back_unpacked(Staging::Stretch& stretch) noexcept {
    unpacked_.give_back(stretch);
    if (!waiting_.empty()) wake(*waiting_.front());
}

void Transfers::wait_no_more(Incoming& who) noexcept {
    if (std::erase(waiting_, &who) && !waiting_.empty()) wake(*waiting_.front());
}

// Whoever holds the memory may wait for a sender that is busy otherwise.
void Transfers::look_after_waiting() noexcept {
    constexpr int kLooks = 256;
    if (++looks_ % kLooks == 0) wake(*waiting_.front());
}

void Transfers::adopt(std::unique_ptr<Transfer> transfer) { wake(*transfer.release()); }

void Transfers::wake(Transfer& transfer) noexcept {
    if (std::exchange(transfer.awake_, true)) return;
    awake_.push_back(&transfer);
}

// Who is woken meanwhile goes on with the next look.
void Transfers::go_on_all() noexcept {
    going_on_.swap(awake_);
    for (Transfer* transfer : going_on_) {
        transfer->awake_ = false;
        const Next next = transfer->go_on();
        if (next == Next::again) wake(*transfer);
        if (next == Next::over) remove(*transfer);
    }
    going_on_.clear();
}

void Transfers::remove(Transfer& transfer) noexcept {
    std::erase(awake_, &transfer);
    transfer.end();
    delete &transfer;
}

void Transfers::on_written(uint64_t bits) noexcept {
    const Transfers& transfers = Process::get().transfers();
    if (Incoming* message = transfers.incoming_.find(number_in_written(bits)))
        message->on_written(segment_in_written(bits));
}

} // namespace odrc::mpi
