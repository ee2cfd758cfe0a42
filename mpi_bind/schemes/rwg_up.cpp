// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// RDMA write gather with unpack (Wu, Wyckoff, Panda 2003, section 5.1): nothing is packed; the
// device gathers each of the receiver's segments out of the sender's data, as many pieces at a time
// as it takes.

#include "schemes/outgoing.hpp"

namespace odrc::mpi {
namespace {

class Sender final : public Way {
public:
    explicit Sender(Outgoing& message)
        : message_{message}
        , pieces_(message.fabric().most_pieces()) {}

    Next go_on() noexcept override {
        while (begun_ < message_.bytes()) {
            if (segment() >= message_.granted()) return Next::wait;
            Transfer::Step* step = message_.step();
            if (!step) return Next::wait; // until one is over
            if (!write(*step)) return Next::again;
        }
        return message_.steps_are_over() ? Next::over : Next::wait;
    }

private:
    uint64_t segment() const noexcept { return begun_ / message_.answer().segment; }

    bool write(Transfer::Step& step) noexcept {
        const Answer& answer = message_.answer();
        const uint64_t number = segment();
        const Pieces found =
            message_.data().pieces(begun_, message_.segment_end(number) - begun_, pieces_);
        const fi_rma_iov there = message_.among_segments(answer.memory, begun_, found.bytes);
        const bool fills = begun_ + found.bytes == message_.segment_end(number);
        const Fabric::Access access{.peer = message_.peer(),
                                    .here = {pieces_.data(), found.count},
                                    .there = {&there, 1},
                                    .more = !fills};
        Fabric& fabric = message_.fabric();
        const bool taken = message_.begun(
            step, fills ? fabric.write(access, written_bits(answer.number, number), step)
                        : fabric.write(access, step));
        if (taken) begun_ += found.bytes;
        return taken;
    }

    Outgoing& message_;
    std::vector<iovec> pieces_;
    size_t begun_{0}; // bytes
};

} // namespace

std::unique_ptr<Way> rwg_up_way(Outgoing& message) { return std::make_unique<Sender>(message); }

} // namespace odrc::mpi
