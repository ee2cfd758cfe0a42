// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Generic: packed as a whole, sent, unpacked as a whole. What an offered message falls back on.

#include "schemes/incoming.hpp"
#include "schemes/outgoing.hpp"

namespace odrc::mpi {
namespace {

class Sender final : public Way {
public:
    explicit Sender(Outgoing& message)
        : message_{message}
        , bytes_{new std::byte[message.bytes()]} {
        message.data().pack(0, {bytes_.get(), message.bytes()});
    }
    Next go_on() noexcept override {
        if (sent_) return Next::over;
        Transfer::Step& step = *message_.step();
        sent_ = message_.begun(
            step, message_.fabric().try_send(message_.peer(), to_receiver(message_.answer().number),
                                             {bytes_.get(), message_.bytes()}, step));
        return sent_ ? Next::over : Next::again;
    }

private:
    Outgoing& message_;
    std::unique_ptr<std::byte[]> bytes_;
    bool sent_{false};
};

class Receiver final : public Way {
public:
    explicit Receiver(Incoming& message)
        : message_{message}
        , bytes_{new std::byte[message.bytes()]} {}
    Next go_on() noexcept override {
        if (posted_) return Next::over;
        Transfer::Step& step = *message_.step();
        posted_ = message_.begun(
            step, message_.fabric().try_receive(to_receiver(message_.answer().number),
                                                {bytes_.get(), message_.bytes()}, step));
        return posted_ ? Next::over : Next::again;
    }
    void on_step(uint64_t) noexcept override {
        message_.data().unpack(0, {bytes_.get(), message_.bytes()});
    }

private:
    Incoming& message_;
    std::unique_ptr<std::byte[]> bytes_;
    bool posted_{false};
};

} // namespace

std::unique_ptr<Way> generic_way(Outgoing& message) { return std::make_unique<Sender>(message); }
std::unique_ptr<Way> generic_way(Incoming& message) { return std::make_unique<Receiver>(message); }

} // namespace odrc::mpi
