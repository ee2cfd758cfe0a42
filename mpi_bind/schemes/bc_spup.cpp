// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Buffer-centric segment pack and unpack (Wu, Wyckoff, Panda 2003, section 4.2): while a segment is
// on its way, the sender packs the next one, and the receiver unpacks the one before.

#include "schemes/outgoing.hpp"
#include "schemes/transfers.hpp"

#include <algorithm>

namespace odrc::mpi {
namespace {

class Sender final : public Way {
public:
    explicit Sender(Outgoing& message)
        : message_{message}
        , places_{std::min<uint64_t>(kPlaces, message.segments())} {}
    ~Sender() override { message_.transfers().packed().give_back(staging_); }

    Next go_on() noexcept override {
        if (!staging_ && !take_staging()) return Next::wait;
        while (next_ < std::min(message_.granted(), message_.segments())) {
            if (is_taken_[next_ % places_]) return Next::wait; // until that is written
            if (!write()) return Next::again;
            ++next_;
        }
        if (next_ == message_.segments()) message_.let_go();
        return written_ == message_.segments() ? Next::over : Next::wait;
    }
    // Not all providers end them in order.
    void on_step(uint64_t segment) noexcept override {
        is_taken_[segment % places_] = false;
        ++written_;
    }

private:
    static constexpr uint64_t kPlaces = 4; // that are packed or under way

    bool take_staging() noexcept {
        staging_ =
            message_.transfers().packed().take(places_ * message_.answer().segment, message_);
        return static_cast<bool>(staging_);
    }
    bool write() noexcept {
        const Answer& answer = message_.answer();
        const size_t bytes = message_.bytes_of(next_);
        std::byte* const packed = staging_.address + next_ % places_ * answer.segment;
        if (packed_ == next_) {
            message_.pack(message_.segment_begin(next_), {packed, bytes});
            ++packed_;
        }
        Transfer::Step& step = *message_.step(next_);
        const iovec here{packed, bytes};
        const fi_rma_iov there =
            message_.among_segments(answer.memory, message_.segment_begin(next_), bytes);
        return is_taken_[next_ % places_] = message_.begun(
                   step, message_.fabric().write({message_.peer(), {&here, 1}, {&there, 1}},
                                                 written_bits(answer.number, next_), step));
    }

    Outgoing& message_;
    const uint64_t places_;
    Staging::Stretch staging_;
    std::array<bool, kPlaces> is_taken_{};
    uint64_t packed_{0};
    uint64_t next_{0}; // to be written
    uint64_t written_{0};
};

} // namespace

std::unique_ptr<Way> bc_spup_way(Outgoing& message) { return std::make_unique<Sender>(message); }

} // namespace odrc::mpi
