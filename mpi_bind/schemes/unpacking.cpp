// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The receiver's side of BC-SPUP and RWG-UP: segments are unpacked as they come.

#include "schemes/incoming.hpp"

namespace odrc::mpi {
namespace {

class Unpacking final : public Way {
public:
    Unpacking(Incoming& message, bool at_the_end)
        : message_{message}
        , at_the_end_{at_the_end} {}

    // The sender hears of room when half of what it has is free.
    Next go_on() noexcept override {
        const uint64_t room = message_.answer().room;
        const uint64_t segments = message_.segments();
        const uint64_t may_be_written = std::min(come_ + room, segments);
        const bool is_due =
            may_be_written == segments || may_be_written >= message_.granted() + (room + 1) / 2;
        if (is_due && !message_.grant(may_be_written)) return Next::again;
        return come_ == segments ? Next::over : Next::wait;
    }
    // They come in order, as the provider keeps that of writes.
    void on_written(uint64_t segment) noexcept override {
        if (!at_the_end_) unpack(segment);
        if (++come_ == message_.segments() && at_the_end_)
            for (uint64_t i = 0; i < come_; ++i) unpack(i);
    }

private:
    void unpack(uint64_t segment) const noexcept {
        message_.unpack(message_.segment_begin(segment),
                        {message_.segment(segment), message_.bytes_of(segment)});
    }

    Incoming& message_;
    const bool at_the_end_;
    uint64_t come_{0};
};

} // namespace

std::unique_ptr<Way> unpacking_way(Incoming& message, bool at_the_end) {
    return std::make_unique<Unpacking>(message, at_the_end);
}

} // namespace odrc::mpi
