// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/event_queue.hpp"

#include "base/log.hpp"
#include "ofi/endpoint.hpp"

#include <cstring>
#include <sys/eventfd.h>

namespace odrc::ofi {
namespace {

EventQueue& of(fid_eq* eq) noexcept { return static_cast<EventQueue&>(*eq); }

ssize_t eq_read(fid_eq* eq, uint32_t* event, void* buffer, size_t length, uint64_t flags) {
    if (flags & ~FI_PEEK) return -FI_EINVAL;
    return of(eq).read(event, buffer, length, flags & FI_PEEK);
}

ssize_t eq_readerr(fid_eq* eq, fi_eq_err_entry* buffer, uint64_t flags) {
    if (flags & ~FI_PEEK) return -FI_EINVAL;
    return of(eq).read_error(buffer, flags & FI_PEEK);
}

ssize_t eq_sread(fid_eq* eq, uint32_t* event, void* buffer, size_t length, int timeout,
                 uint64_t flags) {
    if (flags & ~FI_PEEK) return -FI_EINVAL;
    return of(eq).wait(event, buffer, length, timeout, flags & FI_PEEK);
}

ssize_t eq_write(fid_eq* eq, uint32_t event, const void* buffer, size_t length, uint64_t flags) {
    if (flags) return -FI_EINVAL;
    return guarded([&] { return of(eq).write(event, buffer, length); });
}

const char* eq_strerror(fid_eq*, int prov_errno, const void*, char* buffer, size_t length) {
    const char* text = fi_strerror(prov_errno);
    if (buffer && length > 0) std::snprintf(buffer, length, "%s", text);
    return text;
}

int eq_control(fid* f, int command, void* argument) noexcept {
    return as<EventQueue>(f).control(command, argument);
}

fi_ops eq_fid_ops = plain_ops<EventQueue>(unsupported, eq_control);
fi_ops_eq eq_ops = {.size = sizeof(fi_ops_eq),
                    .read = eq_read,
                    .readerr = eq_readerr,
                    .write = eq_write,
                    .sread = eq_sread,
                    .strerror = eq_strerror};

fi_wait_obj wait_of(const fi_eq_attr* attr) {
    if (!attr) return FI_WAIT_NONE;
    // The processor of interrupts (FI_AFFINITY) is a hint, and there are none.
    if (attr->flags & ~(FI_WRITE | FI_AFFINITY)) throw Error{FI_EINVAL};
    return attr->wait_obj;
}

} // namespace

EventQueue::EventQueue(Fabric& fabric, const fi_eq_attr* attr, void* context)
    : fid_eq{}
    , on_fabric_{fabric.leaning}
    , writable_{attr && attr->flags & FI_WRITE}
    , wait_{wait_of(attr), fid, attr ? attr->wait_set : nullptr}
    , ready_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
    if (!ready_) {
        ODRC_WARN(FI_LOG_EQ, "no descriptor for an event queue: {}", fi_strerror(errno));
        throw Error{errno};
    }
    if (wait_.by_descriptor()) wait_.watch(ready_.get());
    fid = {.fclass = FI_CLASS_EQ, .context = context, .ops = &eq_fid_ops};
    ops = &eq_ops;
}

void EventQueue::attach(Endpoint& endpoint) {
    std::lock_guard lock{endpoints_mutex_};
    endpoints_.push_back(&endpoint);
    if (wait_.by_descriptor()) wait_.watch(endpoint.engine().fd());
}

void EventQueue::detach(Endpoint& endpoint) noexcept {
    std::lock_guard lock{endpoints_mutex_};
    std::erase(endpoints_, &endpoint);
}

void EventQueue::make_progress() noexcept {
    std::lock_guard lock{endpoints_mutex_};
    for (Endpoint* endpoint : endpoints_) {
        const Entry entry{endpoint->gate()};
        endpoint->engine().progress();
    }
}

void EventQueue::arm() noexcept {
    std::lock_guard lock{endpoints_mutex_};
    for (Endpoint* endpoint : endpoints_) {
        const Entry entry{endpoint->gate()};
        endpoint->engine().arm_for_program();
    }
    wait_.arm();
}

void EventQueue::push(uint32_t event, const fi_eq_entry& entry) {
    put(event, false, &entry, sizeof entry);
}

void EventQueue::push_error(const fi_eq_err_entry& error) { put(0, true, &error, sizeof error); }

void EventQueue::put(uint32_t type, bool is_error, const void* content, size_t length) {
    std::lock_guard lock{mutex_};
    const auto* bytes = static_cast<const std::byte*>(content);
    events_.push_back({type, is_error, {bytes, bytes + length}});
    const eventfd_t one = 1;
    [[maybe_unused]] const auto n = ::write(ready_.get(), &one, sizeof one);
}

void EventQueue::drop_first() noexcept {
    events_.pop_front();
    eventfd_t count;
    if (events_.empty()) [[maybe_unused]]
        const auto n = ::read(ready_.get(), &count, sizeof count);
}

ssize_t EventQueue::read(uint32_t* event, void* buffer, size_t length, bool peek) noexcept {
    make_progress();
    std::lock_guard lock{mutex_};
    if (events_.empty()) return -FI_EAGAIN;
    const Event& first = events_.front();
    if (first.is_error) return -FI_EAVAIL;
    // Without a buffer, the application wants to know the event alone.
    const size_t size = buffer ? first.content.size() : 0;
    if (length < size) return -FI_ETOOSMALL;
    *event = first.type;
    if (size > 0) std::memcpy(buffer, first.content.data(), size);
    if (!peek) drop_first();
    return static_cast<ssize_t>(size);
}

ssize_t EventQueue::read_error(fi_eq_err_entry* buffer, bool peek) noexcept {
    std::lock_guard lock{mutex_};
    if (events_.empty() || !events_.front().is_error) return -FI_EAGAIN;
    fi_eq_err_entry error;
    std::memcpy(&error, events_.front().content.data(), sizeof error);
    // A place that the application gives for provider data is left empty.
    if (buffer->err_data_size > 0) error.err_data = buffer->err_data;
    *buffer = error;
    if (!peek) drop_first();
    return sizeof error;
}

ssize_t EventQueue::wait(uint32_t* event, void* buffer, size_t length, int timeout,
                         bool peek) noexcept {
    const auto attempt = [&]() -> std::optional<ssize_t> {
        const ssize_t n = read(event, buffer, length, peek);
        if (n == -FI_EAGAIN) return std::nullopt;
        return n;
    };
    return wait_.wait(timeout, attempt, [this] { arm(); });
}

ssize_t EventQueue::write(uint32_t event, const void* buffer, size_t length) {
    if (!writable_) return -FI_EINVAL;
    put(event, false, buffer, length);
    return static_cast<ssize_t>(length);
}

int EventQueue::trywait() noexcept {
    if (!wait_.by_descriptor()) return -FI_ENOSYS;
    arm();
    make_progress();
    std::lock_guard lock{mutex_};
    return events_.empty() ? 0 : -FI_EAGAIN;
}

} // namespace odrc::ofi
