// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "schemes/transfer.hpp"

#include "process.hpp"
#include "request.hpp"
#include "schemes/transfers.hpp"

#include <algorithm>
#include <utility>

namespace odrc::mpi {

Transfer::Transfer(Transfers& transfers, const Data& data, fi_addr_t peer,
                   Request& request) noexcept
    : transfers_{transfers}
    , data_{data}
    , peer_{peer}
    , request_{&request} {
    for (Step& step : steps_) step.transfer = this;
    own_step_.transfer = listening_.transfer = this;
}

Fabric& Transfer::fabric() const noexcept { return transfers_.fabric(); }

void Transfer::pack(size_t from, std::span<std::byte> out) const noexcept {
    transfers_.copy(data_, out.size(), [&] { data_.pack(from, out); });
}

void Transfer::unpack(size_t from, std::span<const std::byte> in) const noexcept {
    transfers_.copy(data_, in.size(), [&] { data_.unpack(from, in); });
}

void Transfer::wake() noexcept { transfers_.wake(*this); }

Transfer::Step* Transfer::step(uint64_t what) noexcept {
    const auto free = std::ranges::find(steps_, false, &Step::busy);
    if (free == steps_.end()) return nullptr;
    free->what = what;
    return &*free;
}

bool Transfer::steps_are_over() const noexcept { return std::ranges::none_of(steps_, &Step::busy); }

bool Transfer::listen(uint64_t tag, std::span<std::byte> into) noexcept {
    return begun(listening_, fabric().try_receive(tag, into, listening_));
}

bool Transfer::say(uint64_t tag, std::span<const std::byte> bytes) noexcept {
    return begun(own_step_, fabric().try_send(peer_, tag, bytes, own_step_));
}

void Transfer::on_done(Operation& op, const Outcome& outcome) noexcept {
    auto& step = static_cast<Step&>(op);
    Transfer& transfer = *step.transfer;
    step.busy = false;
    if (outcome.error && !transfer.error_) transfer.error_ = outcome.error;
    if (&step == &transfer.listening_) {
        if (!outcome.error) transfer.on_heard();
    } else if (&step != &transfer.own_step_ && transfer.way_) {
        transfer.way_->on_step(step.what);
    }
    transfer.wake();
}

// What has failed ends when the provider has nothing of it any more.
Next Transfer::fail() noexcept {
    if (listening_.busy) fabric().cancel(listening_);
    return is_busy() ? Next::wait : Next::over;
}

void Transfer::let_go() noexcept {
    if (!request_) return;
    Process::get().left_alone(1);
    std::exchange(request_, nullptr)->transferred(0);
}

void Transfer::end() noexcept {
    if (request_) return request_->transferred(error_);
    Process::get().left_alone(-1);
    if (error_) fail_in_world(MPI_ERR_OTHER, "a message whose send is over");
}

} // namespace odrc::mpi
