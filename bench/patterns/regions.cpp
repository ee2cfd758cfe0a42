// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "bench/patterns/regions.hpp"

#include <algorithm>
#include <stdexcept>

namespace bench {
namespace {

constexpr uint64_t bit(int rank) noexcept { return uint64_t{1} << rank; }

} // namespace

Regions::Regions(Messenger& messenger, Id count, size_t bytes, std::function<int(Id)> home)
    : messenger_{messenger}
    , bytes_{bytes}
    , home_{std::move(home)}
    , cached_(count * bytes)
    , kept_(count * bytes)
    , copies_(count)
    , directories_(count) {
    if (messenger.size() > 64) throw std::invalid_argument{"more than 64 share regions"};
    messenger.on(Kind::miss, [this](int from, Bytes body) {
        const auto id = take<Id>(body);
        missed(id, {from, take<bool>(body)});
    });
    messenger.on(Kind::recall, [this](int, Bytes body) {
        const auto id = take<Id>(body);
        give_back(id, take<bool>(body));
    });
    messenger.on(Kind::given_back, [this](int, Bytes body) { returned(take<Id>(body), body); });
    messenger.on(Kind::grant, [this](int, Bytes body) {
        const auto id = take<Id>(body);
        const auto writes = take<bool>(body);
        granted(id, writes, body);
    });
}

void Regions::miss(Id id, bool writes) {
    const Copy wanted = writes ? Copy::exclusive : Copy::shared;
    ++(writes ? counts_.write_misses : counts_.read_misses);
    messenger_.send(home_(id), Kind::miss, {bytes_of(id), bytes_of(writes)});
    messenger_.wait_until([&] { return copies_[id] == wanted; });
}

void Regions::missed(Id id, Miss miss) {
    auto& misses = directories_[id].misses;
    misses.push_back(miss);
    if (misses.size() == 1) begin(id);
}

// Takes back what the first miss cannot leave to others.
void Regions::begin(Id id) {
    Directory& directory = directories_[id];
    const Miss miss = directory.misses.front();
    if (directory.writer != kNobody) {
        recall(id, directory.writer, !miss.writes);
    } else if (miss.writes) {
        for (int rank = 0; rank < messenger_.size(); ++rank)
            if (rank != miss.from && directory.sharers & bit(rank)) recall(id, rank, false);
    }
    if (directory.missing == 0) grant(id);
}

void Regions::recall(Id id, int from, bool keeps) {
    ++directories_[id].missing;
    ++counts_.recalls;
    messenger_.send(from, Kind::recall, {bytes_of(id), bytes_of(keeps)});
}

void Regions::give_back(Id id, bool keeps) {
    const bool changed = copies_[id] == Copy::exclusive;
    copies_[id] = keeps ? Copy::shared : Copy::none;
    messenger_.send(home_(id), Kind::given_back,
                    {bytes_of(id), changed ? at(cached_, id) : Bytes{}});
}

void Regions::returned(Id id, Bytes data) {
    Directory& directory = directories_[id];
    if (!data.empty()) std::ranges::copy(data, at(kept_, id).begin());
    if (--directory.missing == 0) grant(id);
}

// Who has a copy already, and is to write, needs no data.
void Regions::grant(Id id) {
    Directory& directory = directories_[id];
    const auto [to, writes] = directory.misses.front();
    const bool has_copy = directory.sharers & bit(to);
    const Bytes data = has_copy ? Bytes{} : at(kept_, id);
    counts_.upgrades += has_copy;
    if (writes) {
        directory.sharers = 0;
        directory.writer = to;
    } else {
        if (directory.writer != kNobody) directory.sharers |= bit(directory.writer);
        directory.sharers |= bit(to);
        directory.writer = kNobody;
    }
    messenger_.send(to, Kind::grant, {bytes_of(id), bytes_of(writes), data});
    directory.misses.pop_front();
    if (!directory.misses.empty()) begin(id);
}

void Regions::granted(Id id, bool writes, Bytes data) {
    if (!data.empty()) std::ranges::copy(data, at(cached_, id).begin());
    copies_[id] = writes ? Copy::exclusive : Copy::shared;
}

} // namespace bench
