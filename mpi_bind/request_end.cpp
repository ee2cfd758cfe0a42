// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// How requests end, and what their programs hear of it.

#include "bsend_buffer.hpp"
#include "process.hpp"
#include "request.hpp"
#include "schemes/incoming.hpp"

#include <rdma/fi_errno.h>

namespace odrc::mpi {
namespace {

// Of the message, which may have been but offered.
size_t length_of(const Outcome& outcome) noexcept {
    return outcome.tag & kOffered ? length_in_offer(outcome.data) : outcome.length;
}

int class_of(int error) noexcept {
    return error == 0 ? MPI_SUCCESS : error == FI_ETRUNC ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER;
}

} // namespace

void Request::on_done(Operation& op, const Outcome& outcome) noexcept {
    auto& request = static_cast<Request&>(op);
    if (request.looking_) {
        --request.under_way_;
        request.found_ = outcome.error == 0;
        request.status_.MPI_SOURCE = source_in(outcome.tag);
        request.status_.MPI_TAG = tag_in(outcome.tag);
        request.status_.odrc_bytes = static_cast<MPI_Count>(length_of(outcome));
        return;
    }
    if (request.receives_)
        request.received(outcome);
    else if (outcome.error)
        request.status_.MPI_ERROR = class_of(outcome.error);
    request.one_is_over();
}

void Request::on_acknowledged(Operation& op, const Outcome&) noexcept {
    static_cast<Answer&>(op).request->one_is_over();
}

void Request::received(const Outcome& outcome) noexcept {
    if (outcome.error == FI_ECANCELED) {
        status_.odrc_cancelled = 1;
        return;
    }
    status_.MPI_SOURCE = source_in(outcome.tag);
    status_.MPI_TAG = tag_in(outcome.tag);
    const size_t length = length_of(outcome);
    status_.MPI_ERROR = class_of(length > data_.bytes() ? FI_ETRUNC : outcome.error);
    status_.odrc_bytes = static_cast<MPI_Count>(std::min(length, data_.bytes()));
    if (outcome.tag & kOffered) return accept(outcome);
    if (packed_) unpack(outcome);
    if (outcome.tag & kSynchronous)
        Process::get().acknowledge(Process::get().address_of(*communicator_, status_.MPI_SOURCE),
                                   outcome.data);
}

void Request::unpack(const Outcome& outcome) noexcept {
    const auto bytes = static_cast<size_t>(status_.odrc_bytes);
    data_.unpack(0, {packed_.get(), bytes});
    Process& process = Process::get();
    process.transfers().came_as_it_is(data_, bytes,
                                      process.address_of(*communicator_, status_.MPI_SOURCE),
                                      outcome.tag & ~kSynchronous, communicator_->hints.scheme());
}

// The offer lies where the first bytes of the data belong.
void Request::accept(const Outcome& outcome) {
    Process& process = Process::get();
    const fi_addr_t from = process.address_of(*communicator_, status_.MPI_SOURCE);
    const std::byte* place = packed_ ? packed_.get() : data_.begin();
    const Offer offer = process.transfers().offers().read({place, data_.bytes()}, outcome.data);
    packed_.drop();
    ++under_way_;
    Incoming::begin(process.transfers(), data_, from, offer, *this);
}

void Request::transferred(int error) noexcept {
    if (error) status_.MPI_ERROR = class_of(error);
    one_is_over();
}

void Request::one_is_over() noexcept {
    if (--under_way_ > 0) return;
    packed_.drop();
    if (ticket_) {
        const bool is_sent = status_.MPI_ERROR == MPI_SUCCESS;
        Process::get().transfers().end(*std::exchange(ticket_, std::nullopt),
                                       is_sent ? data_.bytes() : 0);
    }
    if (buffered_) BsendBuffer::give_back(std::exchange(buffered_, 0));
    if (!left_) return;
    Process::get().left_alone(-1);
    recycle();
}

int Request::finish(MPI_Status* status) noexcept {
    const int error = status_.MPI_ERROR;
    tell(status);
    active_ = false;
    if (persistent_)
        status_ = empty_status();
    else
        recycle();
    return error;
}

void Request::tell(MPI_Status* status) const noexcept {
    if (status == MPI_STATUS_IGNORE) return;
    const int error = status->MPI_ERROR; // is for calls with many to set (MPI 3.2.5)
    *status = status_;
    status->MPI_ERROR = error;
}

void Request::leave() noexcept {
    if (under_way_ == 0) return recycle();
    left_ = true;
    Process::get().left_alone(1);
}

void Request::cancel() noexcept {
    if (receives_ && under_way_ > 0) Process::get().fabric().cancel(*this);
}

} // namespace odrc::mpi
