// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Pack with RDMA read scatter (Wu, Wyckoff, Panda 2003, section 5.2): nothing is unpacked; the
// device reads each of the sender's segments into the receiver's data.

#include "schemes/incoming.hpp"
#include "schemes/outgoing.hpp"
#include "schemes/transfers.hpp"

#include <algorithm>

namespace odrc::mpi {
namespace {

class Sender final : public Way {
public:
    explicit Sender(Outgoing& message)
        : message_{message} {}
    ~Sender() override { message_.transfers().packed().give_back(staging_); }

    Next go_on() noexcept override {
        if (!staging_ && !take_staging()) return Next::wait;
        const Answer& answer = message_.answer();
        const uint64_t segments = message_.segments();
        while (told_ < std::min(message_.granted() + answer.room, segments)) {
            if (packed_ == told_) pack();
            if (!tell()) return Next::again;
        }
        if (told_ == segments) message_.let_go();
        return message_.granted() == segments ? Next::over : Next::wait;
    }

private:
    bool take_staging() noexcept {
        const Answer& answer = message_.answer();
        staging_ = message_.transfers().packed().take(
            std::min<size_t>(size_t{answer.room} * answer.segment, answer.bytes), message_);
        return static_cast<bool>(staging_);
    }
    void pack() noexcept {
        const Answer& answer = message_.answer();
        std::byte* const place = staging_.address + packed_ % answer.room * answer.segment;
        message_.pack(message_.segment_begin(packed_), {place, message_.bytes_of(packed_)});
        ++packed_;
    }
    bool tell() noexcept {
        const Ready ready{.memory = staging_.remote, .segments = packed_};
        if (!message_.fabric().inject(message_.peer(), to_receiver(message_.answer().number),
                                      &ready, sizeof ready))
            return false;
        told_ = packed_;
        return true;
    }

    Outgoing& message_;
    Staging::Stretch staging_;
    uint64_t packed_{0};
    uint64_t told_{0};
};

class Receiver final : public Way {
public:
    explicit Receiver(Incoming& message)
        : message_{message}
        , pieces_(message.fabric().most_pieces()) {}

    Next go_on() noexcept override {
        while (begun_ < message_.bytes() && segment() < message_.ready().segments) {
            Transfer::Step* step = message_.step();
            if (!step) return Next::wait; // until one is over
            if (!read(*step)) return Next::again;
        }
        if (!message_.steps_are_over()) return Next::wait; // what is read is known when all is
        const bool is_all = begun_ == message_.bytes();
        const uint64_t read = is_all ? message_.segments() : segment();
        const uint64_t room = message_.answer().room;
        const bool is_due = is_all || read >= message_.granted() + (room + 1) / 2;
        if (is_due && !message_.grant(read)) return Next::again;
        return is_all ? Next::over : Next::wait;
    }

private:
    uint64_t segment() const noexcept { return begun_ / message_.answer().segment; }

    bool read(Transfer::Step& step) noexcept {
        const size_t end = message_.segment_end(segment());
        const Pieces found = message_.data().pieces(begun_, end - begun_, pieces_);
        const fi_rma_iov there =
            message_.among_segments(message_.ready().memory, begun_, found.bytes);
        const bool taken =
            message_.begun(step, message_.fabric().read({.peer = message_.peer(),
                                                         .here = {pieces_.data(), found.count},
                                                         .there = {&there, 1},
                                                         .more = begun_ + found.bytes < end},
                                                        step));
        if (taken) begun_ += found.bytes;
        return taken;
    }

    Incoming& message_;
    std::vector<iovec> pieces_;
    size_t begun_{0}; // bytes
};

} // namespace

std::unique_ptr<Way> p_rrs_way(Outgoing& message) { return std::make_unique<Sender>(message); }
std::unique_ptr<Way> p_rrs_way(Incoming& message) { return std::make_unique<Receiver>(message); }

} // namespace odrc::mpi
