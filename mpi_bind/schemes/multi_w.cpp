// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Multiple RDMA writes (Wu, Wyckoff, Panda 2003, section 5.3): from where the data lies to where it
// belongs. The sender goes through both layouts at once.

#include "schemes/incoming.hpp"
#include "schemes/outgoing.hpp"

#include <algorithm>

namespace odrc::mpi {
namespace {

class Sender final : public Way {
public:
    explicit Sender(Outgoing& message)
        : message_{message}
        , type_{message.receiver_layout(), 0, message.answer().extent, 1}
        , theirs_{reinterpret_cast<const void*>(message.answer().memory.address),
                  message.answer().count, type_}
        , here_(message.answer().single ? 1 : message.fabric().most_pieces())
        , places_(here_.size())
        , there_(here_.size()) {}

    Next go_on() noexcept override {
        while (begun_ < message_.bytes()) {
            Transfer::Step* step = message_.step();
            if (!step) return Next::wait; // until one is over
            if (!write(*step)) return Next::again;
        }
        return message_.steps_are_over() ? Next::over : Next::wait;
    }

private:
    bool write(Transfer::Step& step) noexcept {
        const Answer& answer = message_.answer();
        const size_t left = message_.bytes() - begun_;
        const Pieces mine = message_.data().pieces(begun_, left, here_);
        const Pieces theirs = theirs_.pieces(begun_, mine.bytes, places_);
        for (size_t i = 0; i < theirs.count; ++i)
            there_[i] = {.addr = reinterpret_cast<uint64_t>(places_[i].iov_base),
                         .len = places_[i].iov_len,
                         .key = answer.memory.key};
        const bool is_last = theirs.bytes == left;
        const Fabric::Access access{.peer = message_.peer(),
                                    .here = first_bytes(mine, theirs.bytes),
                                    .there = {there_.data(), theirs.count},
                                    .more = !is_last && !answer.single};
        Fabric& fabric = message_.fabric();
        const bool taken = message_.begun(
            step, is_last ? fabric.write(access, written_bits(answer.number, 0), step)
                          : fabric.write(access, step));
        if (taken) begun_ += theirs.bytes;
        return taken;
    }
    // Of our pieces, as much as there are places for.
    std::span<const iovec> first_bytes(const Pieces& mine, size_t bytes) noexcept {
        size_t count = mine.count, beyond = mine.bytes - bytes;
        while (beyond >= here_[count - 1].iov_len) beyond -= here_[--count].iov_len;
        here_[count - 1].iov_len -= beyond;
        return {here_.data(), count};
    }

    Outgoing& message_;
    const Datatype type_;
    const Data theirs_;
    std::vector<iovec> here_;
    std::vector<iovec> places_;
    std::vector<fi_rma_iov> there_;
    size_t begun_{0}; // bytes
};

class Receiver final : public Way {
public:
    Next go_on() noexcept override { return is_there_ ? Next::over : Next::wait; }
    void on_written(uint64_t) noexcept override { is_there_ = true; }

private:
    bool is_there_{false};
};

} // namespace

std::unique_ptr<Way> multi_w_way(Outgoing& message) { return std::make_unique<Sender>(message); }
std::unique_ptr<Way> multi_w_way(Incoming&) { return std::make_unique<Receiver>(); }

} // namespace odrc::mpi
