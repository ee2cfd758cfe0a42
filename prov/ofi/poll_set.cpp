// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/poll_set.hpp"

#include "ofi/completion_queue.hpp"
#include "ofi/counter.hpp"

#include <algorithm>

namespace odrc::ofi {
namespace {

PollSet& of(fid_poll* set) noexcept { return static_cast<PollSet&>(*set); }

int set_poll(fid_poll* set, void** contexts, int count) { return of(set).poll(contexts, count); }
int set_add(fid_poll* set, fid* object, uint64_t flags) {
    return guarded([&] { return of(set).add(*object, flags); });
}
int set_remove(fid_poll* set, fid* object, uint64_t flags) {
    return of(set).remove(*object, flags);
}

fi_ops set_fid_ops = plain_ops<PollSet>();
fi_ops_poll set_ops = {
    .size = sizeof(fi_ops_poll), .poll = set_poll, .poll_add = set_add, .poll_del = set_remove};

// The count of those who lean on an object, if it is of a kind that can be polled.
std::atomic<int>* leaning_of(fid& object) noexcept {
    switch (object.fclass) {
    case FI_CLASS_CQ:
        return &as<CompletionQueue>(&object).leaning;
    case FI_CLASS_CNTR:
        return &as<Counter>(&object).leaning;
    default:
        return nullptr;
    }
}

// Makes progress. Whether there is news of which the caller will be told, if there is room for it.
bool has_news(fid& object, bool room) noexcept {
    if (object.fclass == FI_CLASS_CQ) return as<CompletionQueue>(&object).has_news() && room;
    if (room) return as<Counter>(&object).has_news();
    as<Counter>(&object).progress();
    return false;
}

} // namespace

PollSet::PollSet(Domain& domain, const fi_poll_attr* attr)
    : fid_poll{}
    , on_domain_{domain.leaning} {
    if (attr && attr->flags) throw Error{FI_EINVAL};
    fid = {.fclass = FI_CLASS_POLL, .context = nullptr, .ops = &set_fid_ops};
    ops = &set_ops;
}

int PollSet::poll(void** contexts, int count) noexcept {
    std::lock_guard lock{mutex_};
    int found = 0;
    for (const Member& member : members_)
        if (has_news(*member.object, found < count)) contexts[found++] = member.object->context;
    return found;
}

int PollSet::add(struct fid& object, uint64_t flags) {
    std::lock_guard lock{mutex_};
    std::atomic<int>* on_object = leaning_of(object);
    if (flags || !on_object || find(object) != members_.end()) return -FI_EINVAL;
    members_.emplace_back(object, *on_object, leaning);
    return 0;
}

int PollSet::remove(struct fid& object, uint64_t flags) noexcept {
    std::lock_guard lock{mutex_};
    const auto member = find(object);
    if (flags || member == members_.end()) return -FI_EINVAL;
    members_.erase(member);
    return 0;
}

std::list<PollSet::Member>::iterator PollSet::find(const struct fid& object) noexcept {
    return std::ranges::find(members_, &object, &Member::object);
}

} // namespace odrc::ofi
