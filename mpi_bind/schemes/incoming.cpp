// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "schemes/incoming.hpp"

#include "layout_wire.hpp"
#include "process.hpp"
#include "request.hpp"
#include "schemes/shape.hpp"
#include "schemes/transfers.hpp"

#include <algorithm>
#include <utility>

namespace odrc::mpi {

Incoming::Incoming(Transfers& transfers, const Data& data, fi_addr_t from, const Offer& offer,
                   Request& request)
    : Transfer{transfers, data, from, request}
    , number_{transfers.incoming().add(*this)}
    , offer_{offer} {
    answer_.number = number_;
    answer_.bytes = std::min<uint64_t>(offer.bytes, data.bytes());
    answer_.segment = 1;
}

Incoming::~Incoming() {
    way_.reset(); // which knows of this
    learn(0);
    transfers_.unpacked().wait_no_more(*this);
    transfers_.unpacked().give_back(staging_);
    if (error_) transfers_.forget_written(number_);
    transfers_.incoming().remove(number_);
}

void Incoming::begin(Transfers& transfers, const Data& data, fi_addr_t from, const Offer& offer,
                     Request& request) {
    transfers.adopt(std::unique_ptr<Transfer>{new Incoming{transfers, data, from, offer, request}});
}

Next Incoming::go_on() noexcept {
    if (error_) return fail();
    if (answer_.bytes > 0) {
        if (!plan_) choose();
        if (is_staged() && !staging_ && !take_staging()) return Next::wait;
        if (!way_) way_ = make_way();
    }
    if (answer_.scheme == Scheme::p_rrs && !is_listening() && ready_.segments < segments() &&
        !listen(to_receiver(number_), {reinterpret_cast<std::byte*>(&heard_), sizeof heard_}))
        return Next::again;
    if (!tell_sender()) return own_step_.busy ? Next::wait : Next::again;
    if (way_) {
        const Next next = way_->go_on();
        if (next != Next::over) return next;
    }
    if (is_busy()) return Next::wait;
    learn(answer_.bytes);
    return Next::over;
}

void Incoming::choose() {
    transfers_.learn_costs(peer_, offer_.trial);
    transfers_.touched(data_, answer_.bytes);
    transfers_.pace().chosen();
    const Shape shape = shape_of(data_);
    transfers_.came(answer_.bytes, shape);
    plan_ = choose_with(shape, true);
    if (plan_->scheme == Scheme::multi_w && !(expose_data() && name_layout()))
        plan_ = choose_with(shape, false);
    answer_.scheme = plan_->scheme;
    answer_.single = plan_->single;
    answer_.segment = static_cast<uint32_t>(plan_->segment);
    answer_.room = static_cast<uint32_t>(plan_->room);
    transfers_.profile().count(offer_, shape, answer_.bytes, *plan_);
}

bool Incoming::is_staged() const noexcept {
    return answer_.scheme == Scheme::bc_spup || answer_.scheme == Scheme::rwg_up;
}

bool Incoming::take_staging() {
    const size_t bytes = std::min<size_t>(size_t{answer_.room} * answer_.segment, answer_.bytes);
    staging_ = transfers_.unpacked().take(bytes, *this);
    if (!staging_) return false;
    answer_.memory = staging_.remote;
    granted_ = answer_.room;
    return true;
}

Plan Incoming::choose_with(const Shape& shape, bool exposes) {
    Choice choice{transfers_.costs().known(),
                  offer_,
                  shape,
                  answer_.bytes,
                  {.unpacks = transfers_.unpacked().open(),
                   .exposes = exposes,
                   .overlaps = transfers_.overlaps(),
                   .caches = transfers_.are_cached(),
                   .near = transfers_.are_near() && !offer_.copies_slowly},
                  request_->communicator().hints.scheme()};
    if (const auto scheme = choice.asked_for()) return choice.plan(*scheme);
    learn(0); // of what could not be done after all
    Experience& experience = transfers_.experience();
    const auto kind = MessageKind::of(answer_.bytes, offer_.shape, shape);
    const auto begun =
        experience.begin(kind, answer_.bytes, choice.expected(), leaders_way(), choice.spared());
    ticket_ = begun.ticket;
    answer_.unasked = begun.unasked;
    answer_.is_trial = begun.is_trial;
    if (begun.unasked > 0)
        experience.pause(kind, begun.unasked);
    else // that it is offered says to the other side which way this one took
        transfers_.leave_alone(data_.bytes(), shape, 0);
    return choice.plan(begun.way);
}

// Of two that exchange messages which are alike, the one of the lower rank leads.
std::optional<Experience::News> Incoming::leaders_way() const noexcept {
    const Communicator& c = request_->communicator();
    if (offer_.way >= kSchemes ||
        c.group().world_rank(request_->source()) > c.group().world_rank(c.rank()))
        return std::nullopt;
    return Experience::News{static_cast<Scheme>(offer_.way), offer_.unasked};
}

void Incoming::learn(uint64_t bytes) noexcept {
    if (ticket_) transfers_.experience().end(*std::exchange(ticket_, std::nullopt), bytes);
}

bool Incoming::expose_data() {
    const auto all = extent_of(data_);
    region_ = fabric().expose(all.data(), all.size());
    if (!region_) return false;
    answer_.memory = region_->remote();
    answer_.memory.address += static_cast<uint64_t>(data_.address - all.data());
    return true;
}

// False: it is one that cannot be told.
bool Incoming::name_layout() {
    TypeNumbers& numbers = transfers_.type_numbers();
    const auto [index, version] = numbers.of(*data_.type);
    answer_.count = data_.count;
    answer_.extent = data_.type->extent();
    answer_.type = index;
    answer_.version = version;
    if (numbers.is_told(index, peer_)) return true;
    layout_ = encode(*data_.type->layout());
    if (layout_.empty()) return false;
    answer_.layout_bytes = layout_.size();
    numbers.tell(index, peer_);
    return true;
}

bool Incoming::tell_sender() noexcept {
    const uint64_t tag = to_sender(offer_.number);
    if (!answer_said_) {
        if (!say(tag, std::as_bytes(std::span{&answer_, 1}))) return false;
        answer_said_ = true;
    }
    if (layout_.empty() || layout_said_) return true;
    return layout_said_ = !own_step_.busy && say(tag, layout_);
}

bool Incoming::grant(uint64_t segments) noexcept {
    if (segments <= granted_) return true;
    const Granted granted{.segments = segments};
    if (!fabric().inject(peer_, to_sender(offer_.number), &granted, sizeof granted)) return false;
    granted_ = segments;
    return true;
}

void Incoming::on_heard() noexcept { ready_ = heard_; }

void Incoming::on_written(uint64_t segment) noexcept {
    way_->on_written(segment);
    wake();
}

std::unique_ptr<Way> Incoming::make_way() {
    switch (answer_.scheme) {
    case Scheme::bc_spup:
    case Scheme::rwg_up:
        return unpacking_way(*this, plan_->whole);
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
