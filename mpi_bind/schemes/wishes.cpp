// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "schemes/wishes.hpp"

#include "process.hpp"
#include "schemes/words.hpp"

namespace odrc::mpi {
namespace {

// Of a program that takes a new tag for each message: they are not kept for ever.
constexpr size_t kMost = 4096;

} // namespace

bool Wishes::post() noexcept {
    return fabric_.try_receive(kWishes, {reinterpret_cast<std::byte*>(&word_), sizeof word_},
                               listening_);
}

void Wishes::on_heard(Operation& op, const Outcome& outcome) noexcept {
    Wishes& wishes = *static_cast<Listening&>(op).wishes;
    wishes.is_deaf_ = true;
    if (outcome.error) return;
    if (wishes.heard_.size() == kMost) wishes.heard_.clear();
    const Word& word = wishes.word_;
    wishes.heard_.insert({Process::get().address_of(word.rank), word.tag, word.log2});
}

// What cannot be said now is said with the next message.
void Wishes::tell(fi_addr_t sender, uint64_t tag, uint64_t bytes) noexcept {
    const Word word{.tag = tag, .rank = Process::get().launch().rank(), .log2 = log2(bytes)};
    if (!fabric_.inject(sender, kWishes, &word, sizeof word)) return;
    if (told_.size() == kMost) told_.clear();
    told_.insert({sender, tag, word.log2});
}

} // namespace odrc::mpi
