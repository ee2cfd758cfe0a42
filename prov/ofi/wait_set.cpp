// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/wait_set.hpp"

#include "ofi/completion_queue.hpp"
#include "ofi/counter.hpp"
#include "ofi/event_queue.hpp"

namespace odrc::ofi {
namespace {

int set_wait(fid_wait* set, int timeout) { return static_cast<WaitSet&>(*set).wait(timeout); }

int set_control(fid* f, int command, void* argument) noexcept {
    return as<WaitSet>(f).control(command, argument);
}

fi_ops set_fid_ops = plain_ops<WaitSet>(unsupported, set_control);
fi_ops_wait set_ops = {.size = sizeof(fi_ops_wait), .wait = set_wait};

fi_wait_obj wait_of(const fi_wait_attr* attr) {
    if (!attr) return FI_WAIT_UNSPEC;
    if (attr->flags || attr->wait_obj == FI_WAIT_NONE || attr->wait_obj == FI_WAIT_SET)
        throw Error{FI_EINVAL};
    return attr->wait_obj;
}

} // namespace

int trywait(fid& object) noexcept {
    switch (object.fclass) {
    case FI_CLASS_CQ:
        return as<CompletionQueue>(&object).trywait();
    case FI_CLASS_CNTR:
        return as<Counter>(&object).trywait();
    case FI_CLASS_EQ:
        return as<EventQueue>(&object).trywait();
    case FI_CLASS_WAIT:
        return as<WaitSet>(&object).trywait();
    default:
        return -FI_EINVAL;
    }
}

WaitSet::WaitSet(Fabric& fabric, const fi_wait_attr* attr)
    : fid_wait{}
    , on_fabric_{fabric.leaning}
    , wait_{wait_of(attr), fid, nullptr} {
    fid = {.fclass = FI_CLASS_WAIT, .context = nullptr, .ops = &set_fid_ops};
    ops = &set_ops;
}

void WaitSet::add(struct fid& member, int fd) {
    std::lock_guard lock{mutex_};
    members_.push_back(&member);
    try {
        if (wait_.by_descriptor()) wait_.watch(fd);
    } catch (...) {
        members_.pop_back();
        throw;
    }
    ++leaning;
}

void WaitSet::remove(struct fid& member) noexcept {
    std::lock_guard lock{mutex_};
    std::erase(members_, &member);
    --leaning;
}

int WaitSet::wait(int timeout) noexcept {
    const auto attempt = [this]() -> std::optional<ssize_t> {
        const int result = trywait();
        if (result == -FI_EAGAIN) return 0; // there is news
        if (result) return result;
        return std::nullopt;
    };
    const auto armed_already = [] {};
    const auto result = static_cast<int>(wait_.wait(timeout, attempt, armed_already));
    return result == -FI_EAGAIN ? -FI_ETIMEDOUT : result;
}

int WaitSet::trywait() noexcept {
    std::lock_guard lock{mutex_};
    for (struct fid* member : members_)
        if (const int result = ofi::trywait(*member)) return result;
    wait_.arm();
    return 0;
}

} // namespace odrc::ofi
