// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Generic: packed as a whole, sent, unpacked as a whole. What an offered message falls back on.
// Data that is in one piece is not packed.

#include "packed.hpp"
#include "schemes/incoming.hpp"
#include "schemes/outgoing.hpp"

namespace odrc::mpi {
namespace {

// The program's request is over with the send, as that of a message which is not offered: if the
// packed bytes were let go of before, the next receive would take other memory, and packing would
// write to what the peer has read last.
class Sender final : public Way {
public:
    explicit Sender(Outgoing& message)
        : message_{message} {
        const Data& data = message.data();
        if (data.is_contiguous()) {
            bytes_ = {data.begin(), message.bytes()};
            return;
        }
        bytes_ = {packed_.make(message.bytes()), message.bytes()};
        message.pack(0, bytes_);
    }
    Next go_on() noexcept override {
        if (sent_) return Next::over;
        Transfer::Step& step = *message_.step();
        sent_ = message_.begun(
            step, message_.fabric().try_send(message_.peer(), to_receiver(message_.answer().number),
                                             bytes_, step));
        if (!sent_) return Next::again;
        return Next::over;
    }

private:
    Outgoing& message_;
    Packed packed_;
    std::span<std::byte> bytes_;
    bool sent_{false};
};

class Receiver final : public Way {
public:
    explicit Receiver(Incoming& message)
        : message_{message}
        , bytes_{message.data().is_contiguous() ? message.data().begin()
                                                : packed_.make(message.bytes()),
                 message.bytes()} {}
    Next go_on() noexcept override {
        if (posted_) return Next::over;
        Transfer::Step& step = *message_.step();
        posted_ = message_.begun(step, message_.fabric().try_receive(
                                           to_receiver(message_.answer().number), bytes_, step));
        return posted_ ? Next::over : Next::again;
    }
    void on_step(uint64_t) noexcept override {
        if (packed_) message_.unpack(0, bytes_);
    }

private:
    Incoming& message_;
    Packed packed_;
    const std::span<std::byte> bytes_;
    bool posted_{false};
};

} // namespace

std::unique_ptr<Way> generic_way(Outgoing& message) { return std::make_unique<Sender>(message); }
std::unique_ptr<Way> generic_way(Incoming& message) { return std::make_unique<Receiver>(message); }

} // namespace odrc::mpi
