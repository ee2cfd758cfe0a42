// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/completion_queue.hpp"

#include <algorithm>
#include <cstring>

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
ssize_t cq_sreadfrom(fid_cq* cq, void* buffer, size_t count, fi_addr_t* sources,
                     const void* condition, int timeout) {
    return of(cq).wait(buffer, count, sources, condition, timeout);
}
ssize_t cq_sread(fid_cq* cq, void* buffer, size_t count, const void* condition, int timeout) {
    return of(cq).wait(buffer, count, nullptr, condition, timeout);
}
int cq_signal(fid_cq* cq) { return of(cq).signal(); }
const char* cq_strerror(fid_cq*, int prov_errno, const void*, char* buffer, size_t length) {
    const char* text = fi_strerror(prov_errno);
    if (buffer && length > 0) std::snprintf(buffer, length, "%s", text);
    return text;
}
int cq_control(fid* f, int command, void* argument) noexcept {
    return as<CompletionQueue>(f).control(command, argument);
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

using transfer::Completion;
static_assert(offsetof(Completion, context) == offsetof(fi_cq_tagged_entry, op_context));
static_assert(offsetof(Completion, flags) == offsetof(fi_cq_tagged_entry, flags));
static_assert(offsetof(Completion, length) == offsetof(fi_cq_tagged_entry, len));
static_assert(offsetof(Completion, buffer) == offsetof(fi_cq_tagged_entry, buf));
static_assert(offsetof(Completion, data) == offsetof(fi_cq_tagged_entry, data));
static_assert(offsetof(Completion, tag) == offsetof(fi_cq_tagged_entry, tag));

fi_cq_format format_of(const fi_cq_attr* attr) {
    const fi_cq_format format = attr ? attr->format : FI_CQ_FORMAT_UNSPEC;
    if (format > FI_CQ_FORMAT_TAGGED) throw Error{FI_ENOSYS};
    return format == FI_CQ_FORMAT_UNSPEC ? FI_CQ_FORMAT_CONTEXT : format;
}

fi_wait_obj wait_of(const fi_cq_attr* attr) {
    if (!attr) return FI_WAIT_NONE;
    // The processor of interrupts (FI_AFFINITY) is a hint, and there are none.
    if (attr->flags & ~FI_AFFINITY) throw Error{FI_EINVAL};
    return attr->wait_obj;
}

size_t size_of_entry(fi_cq_format format) noexcept {
    switch (format) {
    case FI_CQ_FORMAT_MSG:
        return sizeof(fi_cq_msg_entry);
    case FI_CQ_FORMAT_DATA:
        return sizeof(fi_cq_data_entry);
    case FI_CQ_FORMAT_TAGGED:
        return sizeof(fi_cq_tagged_entry);
    default:
        return sizeof(fi_cq_entry);
    }
}

} // namespace

CompletionQueue::CompletionQueue(Domain& domain, const fi_cq_attr* attr, void* context)
    : fid_cq{}
    , on_domain_{domain.leaning}
    , entry_size_{size_of_entry(format_of(attr))}
    , by_threshold_{attr && attr->wait_cond == FI_CQ_COND_THRESHOLD}
    , wait_{wait_of(attr), fid, attr ? attr->wait_set : nullptr}
    , sink_{size_of(attr), !domain.one_thread(), wait_.by_descriptor()}
    , progress_{domain} {
    if (wait_.by_descriptor()) wait_.watch(sink_.fd());
    fid = {.fclass = FI_CLASS_CQ, .context = context, .ops = &cq_fid_ops};
    ops = &cq_ops;
}

// Writes a completion in the application's format. The entries of all formats begin alike, and as a
// Completion does; that each has a length of its own here saves a call.
[[gnu::always_inline]] inline std::byte*
CompletionQueue::write(std::byte* out, const transfer::Completion& c) const noexcept {
    switch (entry_size_) {
    case sizeof(fi_cq_tagged_entry):
        std::memcpy(out, &c, sizeof(fi_cq_tagged_entry));
        break;
    case sizeof(fi_cq_data_entry):
        std::memcpy(out, &c, sizeof(fi_cq_data_entry));
        break;
    case sizeof(fi_cq_msg_entry):
        std::memcpy(out, &c, sizeof(fi_cq_msg_entry));
        break;
    default:
        std::memcpy(out, &c, sizeof(fi_cq_entry));
    }
    return out + entry_size_;
}

[[gnu::always_inline]] inline ssize_t CompletionQueue::take(void* buffer, size_t count,
                                                            fi_addr_t* sources) noexcept {
    auto* out = static_cast<std::byte*>(buffer);
    const size_t n = sink_.take(count, [&](const transfer::Completion& c) {
        out = write(out, c);
        if (sources) *sources++ = c.source;
    });
    if (n > 0) return static_cast<ssize_t>(n);
    return sink_.next() == transfer::CompletionSink::Next::error ? -FI_EAVAIL : -FI_EAGAIN;
}

// Gives nothing while there are fewer than threshold, and no error. Progress is made when there is
// nothing to give: what comes in before the program has taken what is there is rather one for which
// it has no receive yet. Where progress is made by itself, that the program looks has to be seen.
ssize_t CompletionQueue::read(void* buffer, size_t count, fi_addr_t* sources,
                              size_t threshold) noexcept {
    const ssize_t result = progress_.inside([&]() -> ssize_t {
        if (count == 0 || progress_.domain().automatic() || !sink_.holds(threshold)) {
            progress_.make();
            if (!sink_.holds(threshold)) return -FI_EAGAIN;
        }
        return take(buffer, count, sources);
    });
    if (result == -FI_EAGAIN)
        progress_.give_way();
    else
        progress_.found();
    return result;
}

ssize_t CompletionQueue::read_error(fi_cq_err_entry* buffer) noexcept {
    fi_cq_err_entry error;
    if (!progress_.inside([&] { return sink_.take_error(error); })) return -FI_EAGAIN;
    // The application's structure may be of any version: all of them have what 1.17 had. A
    // place it gives for provider data is left empty.
    error.err_data = buffer->err_data_size > 0 ? buffer->err_data : nullptr;
    error.err_data_size = 0;
    std::memcpy(buffer, &error, offsetof(fi_cq_err_entry, err_data_size) + sizeof(size_t));
    return 1;
}

// condition: the threshold itself, not where it is (fi_cq(3): FI_CQ_COND_THRESHOLD).
ssize_t CompletionQueue::wait(void* buffer, size_t count, fi_addr_t* sources, const void* condition,
                              int timeout) noexcept {
    const size_t wanted = by_threshold_ ? reinterpret_cast<size_t>(condition) : 1;
    const size_t threshold = std::max<size_t>(wanted, 1);
    const auto attempt = [&]() -> std::optional<ssize_t> {
        const ssize_t n = read(buffer, count, sources, threshold);
        if (n != -FI_EAGAIN) return n;
        if (signaled_.exchange(false)) return read(buffer, count, sources);
        return std::nullopt;
    };
    const ssize_t n = wait_.wait(timeout, attempt, [this] { arm(); });
    // When the time is over, fewer will do.
    return n == -FI_EAGAIN ? read(buffer, count, sources) : n;
}

int CompletionQueue::signal() noexcept {
    if (!wait_.may_sleep()) return -FI_ENOSYS;
    signaled_.store(true);
    progress_.inside([this] { sink_.signal(); });
    return 0;
}

void CompletionQueue::arm() noexcept {
    progress_.inside([this] {
        sink_.arm();
        progress_.arm();
    });
    wait_.arm();
}

// Arms everything that wakes a sleeper, and then looks once more.
int CompletionQueue::trywait() noexcept {
    if (!wait_.by_descriptor()) return -FI_ENOSYS;
    arm();
    return has_news() || signaled_.exchange(false) ? -FI_EAGAIN : 0;
}

bool CompletionQueue::has_news() noexcept {
    return progress_.inside([this] {
        progress_.make();
        return sink_.next() != transfer::CompletionSink::Next::none;
    });
}

} // namespace odrc::ofi
