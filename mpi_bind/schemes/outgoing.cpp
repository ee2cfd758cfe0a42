// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "schemes/outgoing.hpp"

#include "fatal.hpp"
#include "layout_wire.hpp"
#include "process.hpp"
#include "request.hpp"
#include "schemes/shape.hpp"
#include "schemes/transfers.hpp"

#include <cstring>

namespace odrc::mpi {

Outgoing::Outgoing(Transfers& transfers, const Data& data, fi_addr_t to, Request& request)
    : Transfer{transfers, data, to, request}
    , number_{transfers.outgoing().add(*this)} {}

Outgoing::~Outgoing() {
    transfers_.packed().wait_no_more(*this); // before memory is given back: it wakes who is first
    way_.reset();                            // which knows of this
    transfers_.outgoing().remove(number_);
}

void Outgoing::begin(Transfers& transfers, const Data& data, fi_addr_t to, uint64_t tag,
                     bool is_trial, Request& request) {
    const double begin = Transfers::now();
    std::unique_ptr<Outgoing> message{new Outgoing{transfers, data, to, request}};
    const auto in_offer = [](const std::optional<Scheme>& scheme) {
        return scheme ? static_cast<uint8_t>(*scheme) : kAnyScheme;
    };
    const Shape shape = shape_of(data);
    const auto news = transfers.experience().news(MessageKind::of(data.bytes(), shape, shape));
    message->offer_ = {.bytes = data.bytes(),
                       .shape = shape,
                       .number = message->number_,
                       .wanted = in_offer(request.communicator().hints.scheme().scheme),
                       .way = news ? static_cast<uint8_t>(news->way) : kAnyScheme,
                       .copies_slowly = !transfers.are_near(),
                       .is_trial = is_trial,
                       .unasked = news ? news->unasked : 0,
                       .asking = transfers.asking(),
                       .pace = transfers.pace_of(data.bytes(), shape),
                       .trial = transfers.costs().trial_memory()};
    message->begin_ = begin;
    Outgoing& adopted = *message;
    transfers.adopt(std::move(message));
    adopted.own_step_.busy = true;
    adopted.fabric().send(to, tag | kOffered, offer_bits(adopted.number_, data.bytes()),
                          &adopted.offer_, sizeof adopted.offer_, adopted.own_step_);
}

Next Outgoing::go_on() noexcept {
    if (error_) return fail();
    if (!is_listening() && expects_words()) {
        const std::span<std::byte> into =
            answered_ && !layout_bytes_.empty() ? std::span{layout_bytes_} : std::span{word_};
        if (!listen(to_sender(number_), into)) return Next::again;
    }
    if (!answered_ || !layout_bytes_.empty()) return Next::wait;
    if (answer_.bytes > 0) {
        if (!knows_layout()) return Next::again;
        if (!way_) way_ = make_way();
        const Next next = way_->go_on();
        if (next != Next::over) return next;
    }
    return is_busy() ? Next::wait : Next::over;
}

// The answer, the layout behind it, and grants as long as there is something to grant.
bool Outgoing::expects_words() const noexcept {
    if (!answered_ || !layout_bytes_.empty()) return true;
    switch (answer_.scheme) {
    case Scheme::bc_spup:
    case Scheme::rwg_up:
    case Scheme::p_rrs:
        return answer_.bytes > 0 && granted_ < segments();
    case Scheme::generic:
    case Scheme::multi_w:
        break;
    }
    return false;
}

void Outgoing::on_heard() noexcept {
    if (!answered_) return take_answer();
    if (!layout_bytes_.empty()) return take_layout();
    Granted granted;
    std::memcpy(&granted, word_.data(), sizeof granted);
    granted_ = granted.segments;
}

void Outgoing::take_answer() noexcept {
    std::memcpy(&answer_, word_.data(), sizeof answer_);
    answered_ = true;
    transfers_.answered_after(Transfers::now() - begin_);
    if (answer_.unasked > 0) transfers_.leave_alone(offer_.bytes, offer_.shape, answer_.unasked);
    if (answer_.is_trial) transfers_.tells_nothing(offer_.bytes, offer_.shape);
    if (answer_.scheme == Scheme::generic) transfers_.goes_by_generic(offer_.bytes, offer_.shape);
    if (answer_.bytes == 0) return;
    if (answer_.scheme == Scheme::bc_spup || answer_.scheme == Scheme::rwg_up)
        granted_ = std::min<uint64_t>(answer_.room, segments());
    layout_bytes_.resize(answer_.layout_bytes);
}

void Outgoing::take_layout() noexcept {
    layout_ = decode(layout_bytes_);
    if (!layout_) fatal("a layout of {} bytes that is none", layout_bytes_.size());
    layout_bytes_.clear();
    transfers_.known_layouts().keep(peer_, answer_.type, answer_.version, layout_);
}

// What is not told with this message was told with another one, which may still be on its way.
bool Outgoing::knows_layout() noexcept {
    if (answer_.scheme == Scheme::multi_w && !layout_)
        layout_ = transfers_.known_layouts().find(peer_, answer_.type, answer_.version);
    return answer_.scheme != Scheme::multi_w || layout_;
}

std::unique_ptr<Way> Outgoing::make_way() {
    switch (answer_.scheme) {
    case Scheme::bc_spup:
        return bc_spup_way(*this);
    case Scheme::rwg_up:
        return rwg_up_way(*this);
    case Scheme::p_rrs:
        return p_rrs_way(*this);
    case Scheme::multi_w:
        return multi_w_way(*this);
    case Scheme::generic:
        break;
    }
    return generic_way(*this);
}

} // namespace odrc::mpi
