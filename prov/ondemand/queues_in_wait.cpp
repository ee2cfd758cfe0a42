// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ondemand/queues_in_wait.hpp"

#include <algorithm>

namespace odrc::ondemand {

size_t QueuesInWait::keep(std::vector<verbs::QueuePair>&& made, const PlaceInJob& place,
                          NativeAddress own, bool lists) {
    std::vector<uint32_t> numbers(made.size());
    std::ranges::transform(made, numbers.begin(), &verbs::QueuePair::number);
    std::ranges::sort(numbers);
    const std::vector<Range> all = to_ranges(numbers);
    const size_t room = own.most_ranges(false);
    const bool fits = all.size() <= own.most_ranges(true);
    const ShortRanges ranges{all, fits ? all.size() : room};
    const auto told = ranges.list();
    std::vector<Range> list{told.begin(), told.end()};
    if (lists)
        std::ranges::copy_if(all, std::back_inserter(list), [&](const Range& range) {
            return std::ranges::find(told, range) == told.end();
        });
    std::vector<std::optional<verbs::QueuePair>> slots(total(list));
    for (verbs::QueuePair& qp : made)
        if (const auto at = place_of(list, qp.number())) slots[*at].emplace(std::move(qp));
    place_ = place;
    ranges_ = ranges;
    list_.swap(list);
    slots_.swap(slots);
    return waiting_ = slots_.size();
}

std::optional<uint32_t> QueuesInWait::meeting(const NativeAddress& peer,
                                              const RangeList* list) const noexcept {
    const PlaceInJob& there = peer.place;
    const bool same_job =
        there.size == place_.size && there.job == place_.job && there.endpoint == place_.endpoint;
    const size_t told = list ? slots_.size() : ranges_.total();
    if (!same_job || there.rank >= told) return std::nullopt;
    return list ? number_at(list->ranges, place_.rank) : peer.ranges.at(place_.rank);
}

verbs::QueuePair QueuesInWait::take(uint32_t rank) noexcept {
    verbs::QueuePair qp = std::move(*slots_[rank]);
    slots_[rank].reset();
    --waiting_;
    return qp;
}

bool QueuesInWait::drop_one() noexcept {
    if (waiting_ == 0) return false;
    const auto last = std::find_if(slots_.rbegin(), slots_.rend(),
                                   [](const auto& slot) { return slot.has_value(); });
    last->reset();
    --waiting_;
    return true;
}

uint32_t first_psn(const Seal& seal, const QueueName& from, const QueueName& to) noexcept {
    const uint64_t names[] = {from.endpoint, from.number, to.endpoint, to.number};
    return static_cast<uint32_t>(seal.number(std::as_bytes(std::span{names}))) & 0xffffff;
}

} // namespace odrc::ondemand
