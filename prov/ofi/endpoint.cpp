// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/endpoint.hpp"

#include "base/log.hpp"
#include "ofi/address_format.hpp"
#include "ofi/attributes.hpp"
#include "ofi/auth_key.hpp"
#include "ofi/event_queue.hpp"
#include "ofi/fi_odrc.h"
#include "ofi/hints.hpp"
#include "ofi/multicast_group.hpp"
#include "ofi/operations.hpp"
#include "ofi/profile.hpp"

#include <cstring>
#include <rdma/fi_cm.h>

namespace odrc::ofi {
namespace {

Endpoint& of(fid* f) noexcept { return as<Endpoint>(f); }

int ep_bind(fid* f, fid* other, uint64_t flags) noexcept {
    return guarded([&] { return of(f).bind(*other, flags); });
}

int ep_control(fid* f, int command, void* argument) noexcept {
    switch (command) {
    case FI_ENABLE:
        return guarded([&] { return of(f).enable(); });
    case FI_GETOPSFLAG:
        return of(f).get_flags(*static_cast<uint64_t*>(argument));
    case FI_SETOPSFLAG:
        return of(f).set_flags(*static_cast<uint64_t*>(argument));
    default:
        return -FI_ENOSYS;
    }
}

ssize_t ep_cancel(fid* f, void* context) {
    Endpoint& ep = of(f);
    if (!ep.enabled()) return -FI_EOPBADSTATE;
    const Entry entry{ep.gate()};
    return ep.engine().cancel(context);
}

int ep_getopt(fid* f, int level, int name, void* value, size_t* length) {
    if (level != FI_OPT_ENDPOINT) return -FI_ENOPROTOOPT;
    return of(f).get_option(name, value, *length);
}
int ep_setopt(fid* f, int level, int name, const void* value, size_t length) {
    if (level != FI_OPT_ENDPOINT) return -FI_ENOPROTOOPT;
    return of(f).set_option(name, value, length);
}

int cm_setname(fid* f, void* address, size_t length) { return of(f).set_name(address, length); }
int cm_getname(fid* f, void* address, size_t* length) { return of(f).name(address, length); }

fi_ops ep_fid_ops = plain_ops<Endpoint>(ep_bind, ep_control, open_operations);
fi_ops_ep ep_ops = {.size = sizeof(fi_ops_ep),
                    .cancel = ep_cancel,
                    .getopt = ep_getopt,
                    .setopt = ep_setopt,
                    .tx_ctx = unsupported,
                    .rx_ctx = unsupported,
                    .rx_size_left = unsupported,
                    .tx_size_left = unsupported};
fi_ops_cm cm_ops = {.size = sizeof(fi_ops_cm),
                    .setname = cm_setname,
                    .getname = cm_getname,
                    .getpeer = unsupported,
                    .connect = unsupported,
                    .listen = unsupported,
                    .accept = unsupported,
                    .reject = unsupported,
                    .shutdown = unsupported,
                    .join = join_group};

ondemand::Address address_of(const fi_info& info) {
    const auto address = AnyAddress::from(info.src_addr, info.src_addr ? info.src_addrlen : 0);
    if (!address) {
        ODRC_WARN(FI_LOG_EP_CTRL, "the fi_info has no source address of a format of ours");
        throw Error{FI_EINVAL};
    }
    return address->socket;
}

const fi_info& checked(Domain& domain, const fi_info& info) {
    const verbs::Port& port = domain.adapter().port();
    if (const char* why = endpoint_mismatch(port, info)) {
        ODRC_WARN(FI_LOG_EP_CTRL, "{}: an endpoint cannot be as the fi_info asks: {}", port.name(),
                  why);
        throw Error{FI_EINVAL};
    }
    return info;
}

size_t size_or(size_t asked, size_t otherwise) noexcept { return asked ? asked : otherwise; }

} // namespace

Endpoint::Endpoint(Domain& domain, const fi_info& info, void* context)
    : fid_ep{}
    , on_domain_{domain.leaning}
    , domain_{domain}
    , caps_{checked(domain, info).caps}
    , transmit_size_{size_or(info.tx_attr ? info.tx_attr->size : 0, kTransmitSize)}
    , receive_size_{size_or(info.rx_attr ? info.rx_attr->size : 0, kReceiveSize)}
    , transmit_flags_{info.tx_attr ? info.tx_attr->op_flags : 0}
    , receive_flags_{info.rx_attr ? info.rx_attr->op_flags : 0}
    , address_{address_of(info)}
    , seal_{seal_of(info.ep_attr, domain.seal())}
    , native_format_{info.addr_format == FI_ODRC_ADDRESS}
    , gate_{Gate::Kind::many_threads} {
    fid = {.fclass = FI_CLASS_EP, .context = context, .ops = &ep_fid_ops};
    ops = &ep_ops;
    cm = &cm_ops;
    msg = &message_ops_before_enable;
    tagged = &tagged_ops_before_enable;
    rma = &rma_ops_before_enable;
    atomic = &atomic_ops_before_enable;
    collective = &collective_ops_before_enable;
}

Endpoint::~Endpoint() {
    if (!engine_) return;
    engine_->close();
    detach();
    report_profile(domain_.adapter().port(), *engine_);
}

int Endpoint::bind(struct fid& other, uint64_t flags) {
    if (enabled() && other.fclass != FI_CLASS_CNTR) return -FI_EOPBADSTATE;
    switch (other.fclass) {
    case FI_CLASS_AV:
        return bind_addresses(as<AddressVector>(&other), flags);
    case FI_CLASS_CQ:
        return bind_queue(as<CompletionQueue>(&other), flags);
    case FI_CLASS_CNTR:
        return bind_counter(as<Counter>(&other), flags);
    case FI_CLASS_EQ:
        return bind_events(as<EventQueue>(&other), flags);
    default:
        return -FI_EINVAL;
    }
}

int Endpoint::bind_addresses(AddressVector& addresses, uint64_t flags) {
    if (flags || addresses_ || &addresses.domain() != &domain_) return -FI_EINVAL;
    addresses_ = &addresses;
    on_addresses_.emplace(addresses.leaning);
    return 0;
}

int Endpoint::bind_queue(CompletionQueue& queue, uint64_t flags) {
    if (flags & ~(FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION) ||
        !(flags & (FI_TRANSMIT | FI_RECV)) || &queue.domain() != &domain_)
        return -FI_EINVAL;
    if ((flags & FI_TRANSMIT && transmit_) || (flags & FI_RECV && receive_)) return -FI_EINVAL;
    const bool selective = flags & FI_SELECTIVE_COMPLETION;
    if (flags & FI_TRANSMIT) {
        transmit_ = &queue;
        transmit_selective_ = selective;
        on_transmit_.emplace(queue.leaning);
    }
    if (flags & FI_RECV) {
        receive_ = &queue;
        receive_selective_ = selective;
        on_receive_.emplace(queue.leaning);
    }
    return 0;
}

int Endpoint::bind_counter(Counter& counter, uint64_t flags) {
    if (&counter.domain() != &domain_) return -FI_EINVAL;
    // Programs bind one counter to endpoints of all capabilities, for all that comes in: without
    // RMA events it counts the receives. One that would count nothing is a mistake.
    if (!offers(FI_RMA_EVENT)) flags &= ~kRemoteModifiers;
    if (const int error = counters_.check(flags)) return error;
    if (!enabled()) {
        counters_.bind(counter, flags);
        return 0;
    }
    // fi_endpoint(3) has them bound before, but other providers take them later, and programs know
    // that. Who sleeps was to be known.
    if (counter.waitable() && !engine_->wakes_program()) {
        ODRC_WARN(FI_LOG_EP_CTRL,
                  "{}: an endpoint was enabled that wakes nobody, and now gets a "
                  "counter to sleep on",
                  domain_.adapter().port().name());
        return -FI_EOPBADSTATE;
    }
    counter.attach(*this);
    const Entry entry{gate()};
    counters_.bind(counter, flags);
    engine_->count_in(counters_.tallies());
    return 0;
}

int Endpoint::bind_events(EventQueue& events, uint64_t flags) {
    if (flags || events_) return -FI_EINVAL;
    events_ = &events;
    on_events_.emplace(events.leaning);
    return 0;
}

int Endpoint::enable() {
    if (enabled()) return 0;
    if (!addresses_) return -FI_ENOAV;
    // What the program begins has to be seen somewhere, by entries or by counts. Many an endpoint
    // that may receive is opened to be written to: its receives are refused, if they come.
    const bool transmits = caps_ & (FI_SEND | FI_READ | FI_WRITE | FI_COLLECTIVE);
    const transfer::Tallies tallies = counters_.tallies();
    if (transmits && !transmit_ && !tallies.sent && !tallies.read && !tallies.written)
        return -FI_ENOCQ;
    // Somebody may sleep on a counter of a region that is yet to come.
    const bool events = offers(FI_RMA_EVENT);
    const bool joins = offers(FI_COLLECTIVE) && events_;
    const bool waitable = (transmit_ && transmit_->waitable()) ||
                          (receive_ && receive_->waitable()) || counters_.waitable() || events ||
                          (joins && events_->waitable());
    engine_.emplace(domain_.adapter(),
                    ondemand::Stations::Others{domain_.soft(), domain_.datagrams()},
                    addresses_->table(), domain_.watchdog(), gate(),
                    transfer::Engine::Settings{
                        .transmit = transmit_ ? &transmit_->sink() : nullptr,
                        .receive = receive_ ? &receive_->sink() : nullptr,
                        .tallies = tallies,
                        .transmit_size = transmit_size_,
                        .receive_size = receive_size_,
                        .directed = (caps_ & FI_DIRECTED_RECV) != 0,
                        .sources = (caps_ & FI_SOURCE) != 0,
                        .waitable = waitable,
                        .automatic = domain_.automatic(),
                        .regions = events ? &domain_.region_counters().tallies() : nullptr,
                        .address = address_,
                        .seal = seal_,
                        .atomics = domain_.device_atomics(),
                        .native_format = native_format_,
                        .place = native_format_ && !place_.known() ? next_place_in_job() : place_,
                        .lists = lists_,
                        .crossovers = domain_.crossovers(),
                    });
    {
        const Entry entry{gate()};
        collectives_.emplace(*engine_, domain_.adapter().port(), addresses_->table(),
                             transfer::Collectives::Settings{
                                 .completions = transmit_ ? &transmit_->sink() : nullptr,
                                 .size = transmit_size_,
                             });
    }
    try {
        addresses_->attach(*this);
        if (transmit_) transmit_->attach(*this);
        if (receive_) receive_->attach(*this);
        counters_.attach(*this);
        if (events) domain_.region_counters().add(*this);
        if (joins) events_->attach(*this);
    } catch (...) {
        detach();
        engine_.reset();
        throw;
    }
    if (native_format_) meet_those_known();
    if (!domain_.one_thread()) looker_.emplace();
    msg = &message_ops;
    tagged = &tagged_ops;
    rma = &rma_ops;
    atomic = &atomic_ops;
    collective = &collective_ops;
    return 0;
}

void Endpoint::detach() noexcept {
    addresses_->detach(*this);
    if (transmit_) transmit_->detach(*this);
    if (receive_) receive_->detach(*this);
    counters_.detach(*this);
    domain_.region_counters().remove(*this);
    if (events_) events_->detach(*this);
}

void Endpoint::forget(fi_addr_t number) noexcept {
    const Entry entry{gate()};
    engine_->forget(number);
}

void Endpoint::introduce(const ondemand::NativeAddress& peer) noexcept {
    const Entry entry{gate()};
    engine_->introduce(peer);
}

// The addresses that were there before us. What comes meanwhile is told twice, which is no harm.
void Endpoint::meet_those_known() noexcept {
    const ondemand::AddressTable& table = addresses_->table();
    for (fi_addr_t number = 0; number < table.end(); ++number)
        if (const auto peer = table.native_at(number)) introduce(*peer);
}

int Endpoint::set_name(const void* raw, size_t length) noexcept {
    if (enabled()) return -FI_EOPBADSTATE;
    const auto address = AnyAddress::from(raw, length);
    if (!address) return -FI_EINVAL;
    address_ = address->socket;
    return 0;
}

int Endpoint::name(void* out, size_t* length) noexcept {
    if (native_format_) {
        const auto native =
            enabled() ? engine_->native_address() : ondemand::NativeAddress{.socket = address_};
        const auto bytes = native.encode();
        const size_t room = std::exchange(*length, bytes.size());
        if (room > 0) std::memcpy(out, bytes.data(), std::min(room, *length));
        return room < *length ? -FI_ETOOSMALL : 0;
    }
    const ondemand::Address& address = enabled() ? engine_->address() : address_;
    const size_t room = std::exchange(*length, address.length());
    if (room > 0) std::memcpy(out, address.get(), std::min(room, *length));
    return room < *length ? -FI_ETOOSMALL : 0;
}

} // namespace odrc::ofi
