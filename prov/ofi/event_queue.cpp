// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/event_queue.hpp"

#include "base/log.hpp"

#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>

namespace odrc::ofi {
namespace {

ssize_t eq_read(fid_eq* eq, uint32_t* event, void* buffer, size_t length, uint64_t flags) {
    return static_cast<EventQueue&>(*eq).read(event, buffer, length, flags & FI_PEEK);
}

ssize_t eq_sread(fid_eq* eq, uint32_t* event, void* buffer, size_t length, int timeout,
                 uint64_t flags) {
    return static_cast<EventQueue&>(*eq).wait(event, buffer, length, timeout, flags & FI_PEEK);
}

ssize_t eq_readerr(fid_eq*, fi_eq_err_entry*, uint64_t) { return -FI_EAGAIN; }

ssize_t eq_write(fid_eq* eq, uint32_t event, const void* buffer, size_t length, uint64_t) {
    return static_cast<EventQueue&>(*eq).write(event, buffer, length);
}

const char* eq_strerror(fid_eq*, int prov_errno, const void*, char* buffer, size_t length) {
    const char* text = fi_strerror(prov_errno);
    if (buffer && length > 0) std::snprintf(buffer, length, "%s", text);
    return text;
}

int eq_control(fid* f, int command, void* argument) noexcept {
    return command == FI_GETWAIT ? as<EventQueue>(f).wait_object(argument) : -FI_ENOSYS;
}

fi_ops eq_fid_ops = plain_ops<EventQueue>(unsupported, eq_control);
fi_ops_eq eq_ops = {.size = sizeof(fi_ops_eq),
                    .read = eq_read,
                    .readerr = eq_readerr,
                    .write = eq_write,
                    .sread = eq_sread,
                    .strerror = eq_strerror};

bool may_wait(const fi_eq_attr* attr) {
    switch (attr ? attr->wait_obj : FI_WAIT_NONE) {
    case FI_WAIT_NONE:
        return false;
    case FI_WAIT_UNSPEC:
    case FI_WAIT_FD:
        return true;
    default:
        throw Error{FI_ENOSYS};
    }
}

} // namespace

EventQueue::EventQueue(Fabric& fabric, const fi_eq_attr* attr, void* context)
    : fid_eq{}
    , on_fabric_{fabric.leaning}
    , writable_{attr && attr->flags & FI_WRITE}
    , waitable_{may_wait(attr)}
    , ready_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
    if (!ready_) {
        ODRC_WARN(FI_LOG_EQ, "no descriptor for an event queue: {}", fi_strerror(errno));
        throw Error{errno};
    }
    fid = {.fclass = FI_CLASS_EQ, .context = context, .ops = &eq_fid_ops};
    ops = &eq_ops;
}

ssize_t EventQueue::read(uint32_t* event, void* buffer, size_t length, bool peek) noexcept {
    std::lock_guard lock{mutex_};
    if (events_.empty()) return -FI_EAGAIN;
    const Event& first = events_.front();
    if (length < first.content.size()) return -FI_ETOOSMALL;
    *event = first.type;
    std::memcpy(buffer, first.content.data(), first.content.size());
    const auto size = static_cast<ssize_t>(first.content.size());
    if (peek) return size;
    events_.pop_front();
    eventfd_t count;
    if (events_.empty()) [[maybe_unused]]
        const auto n = ::read(ready_.get(), &count, sizeof count);
    return size;
}

ssize_t EventQueue::wait(uint32_t* event, void* buffer, size_t length, int timeout,
                         bool peek) noexcept {
    if (!waitable_) return -FI_ENOSYS;
    pollfd ready{.fd = ready_.get(), .events = POLLIN, .revents = 0};
    const int n = poll(&ready, 1, timeout);
    if (n < 0) return -errno;
    return read(event, buffer, length, peek);
}

ssize_t EventQueue::write(uint32_t event, const void* buffer, size_t length) noexcept {
    if (!writable_) return -FI_EINVAL;
    return guarded([&]() -> ssize_t {
        std::lock_guard lock{mutex_};
        const auto* bytes = static_cast<const std::byte*>(buffer);
        events_.push_back({event, {bytes, bytes + length}});
        const eventfd_t one = 1;
        [[maybe_unused]] const auto n = ::write(ready_.get(), &one, sizeof one);
        return static_cast<ssize_t>(length);
    });
}

int EventQueue::trywait() noexcept {
    std::lock_guard lock{mutex_};
    return events_.empty() ? 0 : -FI_EAGAIN;
}

int EventQueue::wait_object(void* out) noexcept {
    if (!waitable_) return -FI_ENOSYS;
    *static_cast<int*>(out) = ready_.get();
    return 0;
}

} // namespace odrc::ofi
