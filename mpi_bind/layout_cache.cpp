// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "layout_cache.hpp"

namespace odrc::mpi {

TypeNumbers::TypeNumbers(uint32_t most, uint32_t first_version)
    : most_{most}
    , first_version_{first_version} {
    free_.reserve(most);
}

TypeNumbers::~TypeNumbers() {
    for (const Slot& slot : slots_)
        if (slot.type) slot.type->numbers_ = nullptr;
}

TypeNumbers::Number TypeNumbers::of(const Datatype& type) {
    if (type.numbers_ == this) return {type.number_, slots_[type.number_].version};
    if (type.numbers_) return {kNone, 0};
    if (free_.empty()) {
        if (slots_.size() == most_) return {kNone, 0};
        slots_.push_back({nullptr, first_version_, {}});
        free_.push_back(static_cast<uint32_t>(slots_.size() - 1));
    }
    const uint32_t index = free_.back();
    free_.pop_back();
    slots_[index].type = &type;
    type.numbers_ = this;
    type.number_ = index;
    return {index, slots_[index].version};
}

bool TypeNumbers::is_told(uint32_t index, uint64_t peer) const noexcept {
    return index < slots_.size() && slots_[index].told.contains(peer);
}

void TypeNumbers::tell(uint32_t index, uint64_t peer) {
    if (index < slots_.size()) slots_[index].told.insert(peer);
}

// Nobody has been told of the next version: that numbers of versions come round again is harmless.
void TypeNumbers::give_back(uint32_t index) noexcept {
    Slot& slot = slots_[index];
    slot.type = nullptr;
    ++slot.version;
    slot.told.clear();
    free_.push_back(index);
}

LayoutRef KnownLayouts::find(uint64_t peer, uint32_t index, uint32_t version) const noexcept {
    const auto of_peer = peers_.find(peer);
    if (of_peer == peers_.end()) return nullptr;
    const auto known = of_peer->second.find(index);
    if (known == of_peer->second.end() || known->second.version != version) return nullptr;
    return known->second.layout;
}

void KnownLayouts::keep(uint64_t peer, uint32_t index, uint32_t version, LayoutRef layout) {
    if (index < TypeNumbers::kMost) peers_[peer][index] = {version, std::move(layout)};
}

} // namespace odrc::mpi
