// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "datatype.hpp"
#include "schemes/way.hpp"
#include "schemes/words.hpp"

#include <array>

namespace odrc::mpi {

class Request;
class Transfers;

// One side of an offered message: what both have in common. When it is over, the request is told,
// if that was not let go before.
class Transfer {
public:
    virtual ~Transfer() = default;

    // Something that is with the provider.
    struct Step : Operation {
        explicit Step() noexcept
            : Operation{&Transfer::on_done} {}
        Transfer* transfer{nullptr};
        uint64_t what{0}; // the way knows
        bool busy{false};
    };
    static constexpr size_t kSteps = 16; // at a time

    // ---- for the schemes ----
    Transfers& transfers() const noexcept { return transfers_; }
    Fabric& fabric() const noexcept;
    fi_addr_t peer() const noexcept { return peer_; }
    const Data& data() const noexcept { return data_; }
    // Packs bytes of the data, or unpacks them, from that one on.
    void pack(size_t from, std::span<std::byte> out) const noexcept;
    void unpack(size_t from, std::span<const std::byte> in) const noexcept;
    size_t bytes() const noexcept { return answer_.bytes; }
    const Answer& answer() const noexcept { return answer_; }
    uint64_t segments() const noexcept {
        return (answer_.bytes + answer_.segment - 1) / answer_.segment;
    }
    size_t segment_begin(uint64_t segment) const noexcept { return segment * answer_.segment; }
    size_t segment_end(uint64_t segment) const noexcept {
        return std::min<size_t>(segment_begin(segment) + answer_.segment, answer_.bytes);
    }
    size_t bytes_of(uint64_t segment) const noexcept {
        return segment_end(segment) - segment_begin(segment);
    }
    // Where bytes from there on lie among segments, of which there is room for some at a time.
    fi_rma_iov among_segments(const RemoteMemory& memory, size_t at, size_t bytes) const noexcept {
        const uint64_t segment = at / answer_.segment;
        return {.addr = memory.address + segment % answer_.room * answer_.segment +
                        (at - segment_begin(segment)),
                .len = bytes,
                .key = memory.key};
    }
    // One that is free, or null: one is over before the way goes on, which then hears what it was.
    Step* step(uint64_t what = 0) noexcept;
    // The provider has it. (What is not taken is free again.)
    bool begun(Step& step, bool taken) noexcept {
        step.busy = taken;
        return taken;
    }
    bool steps_are_over() const noexcept;
    bool is_busy() const noexcept { return !steps_are_over() || own_step_.busy || listening_.busy; }
    void wake() noexcept;
    // All of the data is in memory of ours, and the peer needs nothing more to get it: the
    // program's request is over.
    void let_go() noexcept;

protected:
    Transfer(Transfers& transfers, const Data& data, fi_addr_t peer, Request& request) noexcept;

    friend class Transfers;
    // Does what can be done now.
    virtual Next go_on() noexcept = 0;
    // What is listened to has come.
    virtual void on_heard() noexcept = 0;
    Next fail() noexcept;
    void end() noexcept;

    // One at a time of each; false: there is no room now.
    bool listen(uint64_t tag, std::span<std::byte> into) noexcept;
    bool say(uint64_t tag, std::span<const std::byte> bytes) noexcept;
    bool is_listening() const noexcept { return listening_.busy; }

    Transfers& transfers_;
    Data data_;
    const fi_addr_t peer_;
    Request* request_; // null: it was let go
    Answer answer_{};
    Step own_step_; // what is said, other than by injected words
    std::unique_ptr<Way> way_;
    int error_{0}; // a fi_errno value

private:
    static void on_done(Operation& op, const Outcome& outcome) noexcept;

    bool awake_{false};
    Step listening_;
    std::array<Step, kSteps> steps_;
};

} // namespace odrc::mpi
