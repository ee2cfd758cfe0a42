// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/completion_queue.hpp"

#include "base/log.hpp"
#include "ofi/endpoint.hpp"

#include <algorithm>
#include <cstring>
#include <poll.h>
#include <sys/epoll.h>

namespace odrc::ofi {
namespace {

constexpr size_t kDefaultSize = 1024;

CompletionQueue& of(fid_cq* cq) noexcept { return static_cast<CompletionQueue&>(*cq); }

ssize_t cq_read(fid_cq* cq, void* buffer, size_t count) {
    return of(cq).read(buffer, count, nullptr);
}
ssize_t cq_readfrom(fid_cq* cq, void* buffer, size_t count, fi_addr_t* sources) {
    return of(cq).read(buffer, count, sources);
}
ssize_t cq_readerr(fid_cq* cq, fi_cq_err_entry* buffer, uint64_t) {
    return of(cq).read_error(buffer);
}
ssize_t cq_sread(fid_cq* cq, void* buffer, size_t count, const void*, int timeout) {
    return of(cq).wait(buffer, count, nullptr, timeout);
}
ssize_t cq_sreadfrom(fid_cq* cq, void* buffer, size_t count, fi_addr_t* sources, const void*,
                     int timeout) {
    return of(cq).wait(buffer, count, sources, timeout);
}
int cq_signal(fid_cq* cq) {
    of(cq).signal();
    return 0;
}
const char* cq_strerror(fid_cq*, int prov_errno, const void*, char* buffer, size_t length) {
    const char* text = fi_strerror(prov_errno);
    if (buffer && length > 0) std::snprintf(buffer, length, "%s", text);
    return text;
}
int cq_control(fid* f, int command, void* argument) noexcept {
    return command == FI_GETWAIT ? as<CompletionQueue>(f).wait_object(argument) : -FI_ENOSYS;
}

fi_ops cq_fid_ops = plain_ops<CompletionQueue>(unsupported, cq_control);
fi_ops_cq cq_ops = {.size = sizeof(fi_ops_cq),
                    .read = cq_read,
                    .readfrom = cq_readfrom,
                    .readerr = cq_readerr,
                    .sread = cq_sread,
                    .sreadfrom = cq_sreadfrom,
                    .signal = cq_signal,
                    .strerror = cq_strerror};

size_t size_of(const fi_cq_attr* attr) noexcept {
    return attr && attr->size > 0 ? attr->size : kDefaultSize;
}

fi_cq_format format_of(const fi_cq_attr* attr) {
    const fi_cq_format format = attr ? attr->format : FI_CQ_FORMAT_UNSPEC;
    if (format > FI_CQ_FORMAT_TAGGED) throw Error{FI_ENOSYS};
    return format == FI_CQ_FORMAT_UNSPEC ? FI_CQ_FORMAT_CONTEXT : format;
}

bool may_wait(const fi_cq_attr* attr) {
    if (attr && attr->wait_cond != FI_CQ_COND_NONE) throw Error{FI_ENOSYS};
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

Fd make_wait(bool wanted) {
    if (!wanted) return {};
    Fd fd{epoll_create1(EPOLL_CLOEXEC)};
    if (!fd) throw Error{errno};
    return fd;
}

void watch(const Fd& wait, int fd) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    if (epoll_ctl(wait.get(), EPOLL_CTL_ADD, fd, &event)) {
        ODRC_WARN(FI_LOG_CQ, "cannot wait on descriptor {}: {}", fd, fi_strerror(errno));
        throw Error{errno};
    }
}

} // namespace

CompletionQueue::CompletionQueue(Domain& domain, const fi_cq_attr* attr, void* context)
    : fid_cq{}
    , on_domain_{domain.leaning}
    , domain_{domain}
    , format_{format_of(attr)}
    , sink_{size_of(attr), !domain.one_thread(), may_wait(attr)}
    , wait_{make_wait(may_wait(attr))} {
    if (wait_) watch(wait_, sink_.fd());
    fid = {.fclass = FI_CLASS_CQ, .context = context, .ops = &cq_fid_ops};
    ops = &cq_ops;
}

void CompletionQueue::attach(Endpoint& endpoint) {
    std::lock_guard lock{mutex_};
    if (std::ranges::find(endpoints_, &endpoint) != endpoints_.end()) return;
    endpoints_.push_back(&endpoint);
    if (wait_) watch(wait_, endpoint.engine().fd());
}

void CompletionQueue::detach(Endpoint& endpoint) noexcept {
    std::lock_guard lock{mutex_};
    std::erase(endpoints_, &endpoint);
}

// Visits the endpoints, each by itself. Under FI_THREAD_DOMAIN the caller is inside the one gate.
template <class Visit>
void CompletionQueue::visit(const Visit& visit) noexcept {
    if (domain_.one_thread()) {
        for (Endpoint* endpoint : endpoints_) visit(endpoint->engine());
        return;
    }
    std::lock_guard lock{mutex_};
    for (Endpoint* endpoint : endpoints_) {
        const Entry entry{endpoint->gate()};
        visit(endpoint->engine());
    }
}

void CompletionQueue::progress() noexcept {
    visit([](transfer::Engine& engine) { engine.progress(); });
}

// Gives the completions in the application's format. The entries of all formats begin alike.
ssize_t CompletionQueue::take(void* buffer, size_t count, fi_addr_t* sources) noexcept {
    auto* out = static_cast<std::byte*>(buffer);
    const size_t n = sink_.take(count, [&](const transfer::Completion& c) {
        const fi_cq_tagged_entry entry{.op_context = c.context,
                                       .flags = c.flags,
                                       .len = c.length,
                                       .buf = c.buffer,
                                       .data = c.data,
                                       .tag = c.tag};
        size_t size = sizeof(fi_cq_entry);
        if (format_ == FI_CQ_FORMAT_MSG) size = sizeof(fi_cq_msg_entry);
        if (format_ == FI_CQ_FORMAT_DATA) size = sizeof(fi_cq_data_entry);
        if (format_ == FI_CQ_FORMAT_TAGGED) size = sizeof(fi_cq_tagged_entry);
        std::memcpy(out, &entry, size);
        out += size;
        if (sources) *sources++ = c.source;
    });
    if (n > 0) return static_cast<ssize_t>(n);
    return sink_.next() == transfer::CompletionSink::Next::error ? -FI_EAVAIL : -FI_EAGAIN;
}

ssize_t CompletionQueue::read(void* buffer, size_t count, fi_addr_t* sources) noexcept {
    if (domain_.one_thread()) {
        const Entry entry{domain_.gate()};
        progress();
        return take(buffer, count, sources);
    }
    progress();
    return take(buffer, count, sources);
}

ssize_t CompletionQueue::read_error(fi_cq_err_entry* buffer) noexcept {
    fi_cq_err_entry error;
    if (domain_.one_thread()) {
        const Entry entry{domain_.gate()};
        if (!sink_.take_error(error)) return -FI_EAGAIN;
    } else if (!sink_.take_error(error)) {
        return -FI_EAGAIN;
    }
    // The application's structure may be of any version: all of them have what 1.17 had. A
    // place it gives for provider data is left empty.
    error.err_data = buffer->err_data;
    error.err_data_size = 0;
    std::memcpy(buffer, &error, offsetof(fi_cq_err_entry, err_data_size) + sizeof(size_t));
    return 1;
}

ssize_t CompletionQueue::wait(void* buffer, size_t count, fi_addr_t* sources,
                              int timeout) noexcept {
    if (!wait_) return -FI_ENOSYS;
    const Time end = timeout < 0 ? kNever : Clock::now() + std::chrono::milliseconds{timeout};
    for (;;) {
        const ssize_t n = read(buffer, count, sources);
        if (n != -FI_EAGAIN) return n;
        if (signaled_.exchange(false)) return -FI_EAGAIN;
        if (trywait() != 0) continue;
        int left = -1;
        if (end != kNever) {
            const auto rest = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
            if (rest.count() <= 0) return -FI_EAGAIN;
            left = static_cast<int>(rest.count());
        }
        pollfd ready{.fd = wait_.get(), .events = POLLIN, .revents = 0};
        if (poll(&ready, 1, left) < 0) return -errno;
    }
}

void CompletionQueue::signal() noexcept {
    signaled_.store(true);
    sink_.signal();
}

// Arms everything that wakes a sleeper, and then looks once more.
int CompletionQueue::trywait() noexcept {
    if (!wait_) return -FI_ENOSYS;
    auto look = [this] {
        sink_.arm();
        visit([](transfer::Engine& engine) {
            engine.arm();
            engine.progress();
        });
        return sink_.next() == transfer::CompletionSink::Next::none && !signaled_.load()
                   ? 0
                   : -FI_EAGAIN;
    };
    if (!domain_.one_thread()) return look();
    const Entry entry{domain_.gate()};
    return look();
}

int CompletionQueue::wait_object(void* out) noexcept {
    if (!wait_) return -FI_ENOSYS;
    *static_cast<int*>(out) = wait_.get();
    return 0;
}

} // namespace odrc::ofi
