// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "request.hpp"

#include "bsend_buffer.hpp"
#include "process.hpp"
#include "schemes/outgoing.hpp"

namespace odrc::mpi {
namespace {

Request* free_requests = nullptr;

uint32_t context_of(const Address& a) noexcept {
    return a.collective ? a.communicator->collective_context() : a.communicator->context();
}

} // namespace

MPI_Status empty_status() noexcept {
    return {.MPI_SOURCE = MPI_ANY_SOURCE,
            .MPI_TAG = MPI_ANY_TAG,
            .MPI_ERROR = MPI_SUCCESS,
            .odrc_cancelled = 0,
            .odrc_bytes = 0};
}

const Datatype& Request::none() noexcept { return *Datatype::of(MPI_BYTE); }

Request& Request::make(bool receives, const Data& data, const Address& to, SendMode mode) {
    Request* request = free_requests ? free_requests : new Request;
    free_requests = request->next_free_;
    request->receives_ = receives;
    request->mode_ = mode;
    request->data_ = data;
    request->type_ = Ref{const_cast<Datatype&>(*data.type)};
    request->communicator_ = Ref{*to.communicator};
    request->peer_ = to.peer;
    request->tag_ = to.tag;
    request->context_ = context_of(to);
    request->status_ = empty_status();
    request->persistent_ = request->left_ = false;
    request->active_ = true;
    return *request;
}

Request& Request::over() noexcept {
    static Request request; // nothing ever comes of it, and its status stays empty
    return request;
}

void Request::recycle() noexcept {
    if (this == &over()) return;
    type_ = {};
    communicator_ = {};
    packed_.drop();
    next_free_ = std::exchange(free_requests, this);
}

// ---- what it does ------------------------------------------------------------------------------

// Its status is empty, from the beginning or since it was finished.
void Request::start() {
    active_ = true;
    if (peer_ == MPI_PROC_NULL) {
        if (receives_) status_.MPI_SOURCE = MPI_PROC_NULL;
        return;
    }
    if (receives_)
        start_receive();
    else if (mode_ == SendMode::buffered && persistent_)
        status_.MPI_ERROR = send_buffered(
            data_, {&*communicator_, peer_, tag_, context_ != communicator_->context()});
    else
        start_send();
}

// Generic, which is there to be compared with, has its memory of the system.
std::byte* Request::make_packed() {
    const bool is_generic = communicator_->hints.scheme().scheme == Scheme::generic;
    return packed_.make(data_.bytes(), is_generic ? Packed::From::anew : Packed::From::kept);
}

std::byte* Request::pack() {
    std::byte* bytes = make_packed();
    data_.pack(0, {bytes, data_.bytes()});
    return bytes;
}

void Request::start_send() {
    Process& process = Process::get();
    const fi_addr_t to = process.address_of(*communicator_, peer_);
    uint64_t tag = full_tag(context_, communicator_->rank(), tag_);
    ++under_way_;
    if (mode_ != SendMode::buffered) {
        Transfers& transfers = process.transfers();
        const auto start = transfers.start(data_, to, tag, communicator_->hints.scheme());
        ticket_ = start.ticket;
        if (start.is_offered)
            return Outgoing::begin(transfers, data_, to, tag, start.is_trial, *this);
    }
    const bool copies = mode_ == SendMode::buffered || !data_.is_contiguous();
    const std::byte* bytes = copies ? pack() : data_.begin();
    const size_t size = data_.bytes();
    if (mode_ != SendMode::synchronous) return process.fabric().send(to, tag, bytes, size, *this);
    const uint64_t number = process.next_number() & 0xffffffff;
    ++under_way_;
    process.fabric().receive(kAcknowledgements | number, 0, nullptr, 0, answer_);
    process.fabric().send(to, tag | kSynchronous, number, bytes, size, *this);
}

Request::Pattern Request::pattern() const noexcept {
    const bool any_source = peer_ == MPI_ANY_SOURCE, any_tag = tag_ == MPI_ANY_TAG;
    return {full_tag(context_, any_source ? 0 : peer_, any_tag ? 0 : tag_),
            kSynchronous | kOffered | (any_source ? kAnySource : 0) | (any_tag ? kAnyTag : 0)};
}

std::byte* Request::place_for_data() {
    if (data_.is_contiguous()) return data_.begin();
    return make_packed();
}

void Request::start_receive() {
    const auto [tag, ignore] = pattern();
    ++under_way_;
    Process::get().fabric().receive(tag, ignore, place_for_data(), data_.bytes(), *this);
}

bool Request::look(bool claims) {
    const auto [tag, ignore] = pattern();
    found_ = false;
    looking_ = true;
    ++under_way_;
    Process& process = Process::get();
    process.fabric().look(tag, ignore, nullptr, 0, FI_PEEK | (claims ? FI_CLAIM : 0), *this);
    process.advance_until([&] { return is_over(); });
    looking_ = false;
    return found_;
}

void Request::start_claimed(const Data& data) {
    data_ = data;
    type_ = Ref{const_cast<Datatype&>(*data.type)};
    ++under_way_;
    Process::get().fabric().look(full_tag(context_, status_.MPI_SOURCE, status_.MPI_TAG),
                                 kSynchronous | kOffered, place_for_data(), data.bytes(), FI_CLAIM,
                                 *this);
}

// ---- most calls --------------------------------------------------------------------------------

namespace {

// What the provider takes at once is over with the call: its bytes are gathered here first, if they
// are not in one piece. False: it does not, and nothing was done.
bool send_at_once(const Data& data, const Address& to, SendMode mode) {
    constexpr size_t kMostGathered = 4096;
    if (to.peer == MPI_PROC_NULL) return true;
    Process& process = Process::get();
    const size_t bytes = data.bytes();
    if (mode == SendMode::synchronous || bytes > process.fabric().inject_size() ||
        bytes > kMostGathered)
        return false;
    std::byte gathered[kMostGathered];
    const std::byte* from = data.begin();
    if (!data.is_contiguous()) {
        data.pack(0, {gathered, bytes});
        from = gathered;
    }
    const Communicator& c = *to.communicator;
    const uint64_t tag = full_tag(context_of(to), c.rank(), to.tag);
    const fi_addr_t address = process.address_of(c, to.peer);
    while (!process.fabric().inject(address, tag, from, bytes)) process.advance();
    return true;
}

Request& begin_long_send(const Data& data, const Address& to, SendMode mode) {
    Request& request = Request::make(false, data, to, mode);
    request.start();
    return request;
}

} // namespace

Request& begin_send(const Data& data, const Address& to, SendMode mode) {
    return send_at_once(data, to, mode) ? Request::over() : begin_long_send(data, to, mode);
}

Request& begin_receive(const Data& data, const Address& from) {
    Request& request = Request::make(true, data, from, SendMode::standard);
    request.start();
    return request;
}

int wait(Request& request, MPI_Status* status) noexcept {
    Process::get().advance_until([&] { return request.is_over(); });
    return request.finish(status);
}

int send(const Data& data, const Address& to, SendMode mode) {
    return send_at_once(data, to, mode) ? MPI_SUCCESS : wait(begin_long_send(data, to, mode));
}

int exchange(const Data& out, const Address& to, const Data& in, const Address& from,
             MPI_Status* status) {
    Request& coming = begin_receive(in, from);
    const int sent = send(out, to);
    const int received = wait(coming, status);
    return sent ? sent : received;
}

int send_buffered(const Data& data, const Address& to) {
    if (to.peer == MPI_PROC_NULL) return MPI_SUCCESS;
    const size_t bytes = data.bytes() + MPI_BSEND_OVERHEAD;
    if (!BsendBuffer::take(bytes)) return MPI_ERR_BUFFER;
    Request& request = Request::make(false, data, to, SendMode::buffered);
    request.occupy(bytes);
    request.start();
    request.leave();
    return MPI_SUCCESS;
}

int receive(const Data& data, const Address& from, MPI_Status* status) {
    return wait(begin_receive(data, from), status);
}

} // namespace odrc::mpi
