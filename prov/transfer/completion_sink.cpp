// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/completion_sink.hpp"

#include "base/log.hpp"

#include <algorithm>
#include <bit>

namespace odrc::transfer {
namespace {

// A program that wants a huge queue pays for what it puts there.
constexpr size_t kFirstRing = 4096;

} // namespace

CompletionSink::CompletionSink(size_t size, bool many_threads, bool waitable)
    : lock_{many_threads}
    , size_{size}
    , ring_(std::bit_ceil(std::min(size, kFirstRing)))
    , bell_{waitable} {}

void CompletionSink::push_error(const fi_cq_err_entry& error) noexcept {
    const std::lock_guard guard{lock_};
    try {
        errors_.push_back(error);
        put({}, true);
    } catch (const std::bad_alloc&) {
        overrun_ = true;
    }
    look_for_errors();
}

bool CompletionSink::make_room(bool for_error) noexcept {
    try {
        std::vector<Slot> bigger(2 * ring_.size());
        for (size_t i = 0; i < count(); ++i) bigger[i] = ring_[(head_ + i) & last_];
        ring_.swap(bigger);
        last_ = ring_.size() - 1;
        head_ = 0;
        return true;
    } catch (const std::bad_alloc&) {
        ODRC_WARN(FI_LOG_CQ, "no memory for a completion queue of more than {} entries", count());
        if (for_error) errors_.pop_back();
        overrun_ = true;
        look_for_errors();
        return false;
    }
}

CompletionSink::Next CompletionSink::next() const noexcept {
    const std::lock_guard guard{lock_};
    if (overrun_) return Next::error;
    if (count() == 0) return Next::none;
    return ring_[head_].is_error ? Next::error : Next::completion;
}

bool CompletionSink::take_error(fi_cq_err_entry& error) noexcept {
    const std::lock_guard guard{lock_};
    if (overrun_) {
        error = {};
        error.err = FI_EOVERRUN;
        overrun_ = false;
        look_for_errors();
        return true;
    }
    if (count() == 0 || !ring_[head_].is_error) return false;
    error = errors_.front();
    errors_.pop_front();
    look_for_errors();
    drop(1);
    return true;
}

void CompletionSink::arm() noexcept {
    const std::lock_guard guard{lock_};
    bell_.arm();
}

void CompletionSink::signal() noexcept {
    const std::lock_guard guard{lock_};
    bell_.ring_anyway();
}

} // namespace odrc::transfer
