// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "schemes/transfers.hpp"

#include "process.hpp"
#include "schemes/incoming.hpp"
#include "schemes/outgoing.hpp"
#include "schemes/shape.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>

namespace odrc::mpi {
namespace {

// What is shorter goes in one message of the provider's, or takes no longer for being announced.
// Where processes share processors, who waits for an answer waits until others have computed.
constexpr size_t kLeastOffered = size_t{12} << 10, kLeastOfferedSharing = size_t{16} << 10;

// How a message that might be offered goes. Expectations are rough: it is offered, or its receiver
// wishes that it is, only if it would be so many times as quick.
constexpr size_t kAsItIsWay = 0, kOfferedWay = 1;
constexpr double kGainOffered = 1.1, kGainWished = 1.25;

MessageKind departure_of(uint64_t bytes, const Shape& shape) noexcept {
    return MessageKind::of(bytes, shape, {});
}

// Two thirds of the last cache: what is copied on the way is there, too.
// (What sysconf() says of it, glibc makes up on some processors.)
size_t cache_of_this_host() {
    std::ifstream file{"/sys/devices/system/cpu/cpu0/cache/index3/size"};
    size_t kib = 0;
    if (!(file >> kib)) kib = 32 << 10; // it is not told
    return (kib << 10) / 3 * 2;
}

} // namespace

// Where processes share processors, what a burst takes tells of the others: nothing is learned.
Transfers::Transfers(Fabric& fabric, size_t sharing)
    : fabric_{fabric}
    , sharing_{sharing}
    , cache_{cache_of_this_host()}
    , costs_{fabric}
    , experience_{overlaps() ? Experience::Of::all : Experience::Of::none, now}
    , departures_{overlaps() ? Experience::Of::many_at_once : Experience::Of::none, now}
    , rhythm_{now}
    , wishes_{fabric}
    , packed_{fabric}
    , unpacked_{fabric} {
    fabric.set_listener(on_written);
}

Transfers::Start Transfers::start(const Data& data, fi_addr_t to, uint64_t tag,
                                  const WantedScheme& wanted) noexcept {
    constexpr size_t kLeast = 4096; // what is shorter is sent at once
    constexpr Start kAsItIs{};
    const size_t bytes = data.bytes();
    if (bytes <= kLeast || wanted.scheme == Scheme::generic) return kAsItIs;
    if (!wanted.scheme && steady_.begin(data)) return {.ticket = Steady::ticket()};
    stop_steady();
    const bool in_one = data.is_contiguous();
    if (in_one && !wishes_.heard(to, tag, bytes)) return kAsItIs;
    if (!in_one && !wanted.scheme && bytes < least_offered()) return kAsItIs;
    if (!can_offer()) return kAsItIs;
    touched(data, bytes);
    if (wanted.scheme) return {.is_offered = true, .ticket = {}};
    // Its receiver, it is supposed, has the same, or has said that it gains.
    const Shape shape = shape_of(data);
    Expected expected{};
    expected.fill(kNever);
    expected[kOfferedWay] = kGainOffered;
    expected[kAsItIsWay] = in_one ? kGainWished : gain(sending_, shape, shape, bytes);
    // Then nothing but what is found of many at once changes that.
    const bool is_expected_so = expected[kAsItIsWay] <= expected[kOfferedWay];
    const MessageKind kind = departure_of(bytes, shape);
    const auto begun = departures_.begin(kind, bytes, expected);
    const bool is_offered = static_cast<size_t>(begun.way) == kOfferedWay;
    if (begun.ticket) rhythm_.begin(kind, is_offered);
    if (begun.ticket && !is_offered && !in_one && departures_.go_alone(kind)) {
        const uint32_t untold = rhythm_.untold(kind);
        const uint32_t alike =
            is_expected_so ? untold : std::min(untold, departures_.settled(kind));
        if (alike > 0) steady_.allow(data, kind, alike);
    }
    return {.is_offered = is_offered, .is_trial = begun.is_trial, .ticket = begun.ticket};
}

void Transfers::end(const Experience::Ticket& start, uint64_t bytes) noexcept {
    if (steady_.end(start)) return;
    departures_.end(start, bytes);
    rhythm_.end(start.place);
}

// What is known of their kind goes on as if they had been looked at.
void Transfers::stop_steady() noexcept {
    const auto [kind, messages] = steady_.stop();
    if (messages == 0) return;
    departures_.went(kind, messages);
    rhythm_.went(kind, messages);
}

Pace Transfers::pace_of(uint64_t bytes, const Shape& shape) const noexcept {
    return rhythm_.pace(departure_of(bytes, shape));
}

void Transfers::goes_by_generic(uint64_t bytes, const Shape& shape) noexcept {
    rhythm_.generic(departure_of(bytes, shape));
}

void Transfers::came(uint64_t bytes, const Shape& shape) noexcept {
    rhythm_.came(departure_of(bytes, shape));
}

// Most of the quickest: others wait for their receives.
void Transfers::answered_after(double nanoseconds) noexcept {
    constexpr double kRise = 256, kLate = 2;
    if (asking_ == 0 || nanoseconds < asking_)
        asking_ = nanoseconds;
    else
        asking_ += (std::min(nanoseconds, kLate * asking_) - asking_) / kRise;
}

double Transfers::now() noexcept {
    using Nanoseconds = std::chrono::duration<double, std::nano>;
    return Nanoseconds{std::chrono::steady_clock::now().time_since_epoch()}.count();
}

size_t Transfers::least_offered() const noexcept {
    return overlaps() ? kLeastOffered : kLeastOfferedSharing;
}

// Short words are injected.
bool Transfers::can_offer() noexcept {
    constexpr size_t kWord = 64;
    return fabric_.reaches_memory() && fabric_.inject_size() >= kWord && packed_.open();
}

// How many times as quick a message is expected to be if it is offered.
double Transfers::gain(Asked& last, const Shape& sender, const Shape& receiver,
                       uint64_t bytes) noexcept {
    const Asked now{bytes, sender.piece, receiver.piece, are_cached(), are_near(), last.gain};
    if (now == last) return last.gain;
    Offer as_if{};
    as_if.shape = sender;
    as_if.wanted = kAnyScheme;
    const Means means{.unpacks = true,
                      .exposes = true,
                      .overlaps = overlaps(),
                      .caches = now.are_cached,
                      .near = now.are_near};
    const WantedScheme any;
    Choice choice{costs_.known(), as_if, receiver, bytes, means, any};
    last = now;
    last.gain = choice.not_offered() / *std::ranges::min_element(choice.expected());
    return last.gain;
}

void Transfers::learn_costs(fi_addr_t peer, const TrialMemory& trial) {
    if (!costs_.learn(peer, trial)) return;
    sending_ = receiving_ = {};
    came_ = {};
}

void Transfers::came_as_it_is(const Data& data, uint64_t bytes, fi_addr_t from, uint64_t tag,
                              const WantedScheme& wanted) noexcept {
    const bool is_short = bytes < least_offered(), is_unwanted = wanted.scheme == Scheme::generic;
    profile_.count_as_it_is(data, bytes,
                            is_short      ? "it is short"
                            : is_unwanted ? "generic is asked for"
                                          : "its sender did not offer it");
    if (is_short || is_unwanted) return;
    const bool is_known = !wanted.scheme && came_.bytes == bytes && came_.from == from &&
                          came_.tag == tag && came_.data.is(data);
    if (!is_known) look_at_what_came(data, bytes, from, tag, wanted);
    experience_.came(came_.kind, Scheme::generic);
    rhythm_.came(came_.departure);
}

void Transfers::look_at_what_came(const Data& data, uint64_t bytes, fi_addr_t from, uint64_t tag,
                                  const WantedScheme& wanted) noexcept {
    const Shape shape = shape_of(data);
    const bool stays_so = overlaps(); // or what is gained depends on what else is under way
    came_ = {.data = SameData{data},
             .bytes = stays_so ? bytes : 0,
             .from = from,
             .tag = tag,
             .kind = MessageKind::of(bytes, shape, shape),
             .departure = departure_of(bytes, shape)};
    if (wishes_.told(from, tag, bytes)) return;
    const Shape in_one{.piece = bytes, .median = bytes, .extent = bytes};
    if (!wanted.scheme && gain(receiving_, in_one, shape, bytes) <= kGainWished) return;
    wishes_.tell(from, tag, bytes);
    came_.bytes = 0; // it is asked again whether that has been told
}

void Transfers::leave_alone(uint64_t bytes, const Shape& shape, uint32_t messages) noexcept {
    departures_.settle(departure_of(bytes, shape), static_cast<Scheme>(kAsItIsWay), messages);
}

void Transfers::tells_nothing(uint64_t bytes, const Shape& shape) noexcept {
    departures_.put_off(departure_of(bytes, shape));
}

void Transfers::forget_written(uint32_t number) noexcept {
    std::erase_if(written_, [=](uint64_t bits) { return number_in_written(bits) == number; });
}

void Transfers::adopt(std::unique_ptr<Transfer> transfer) { wake(*transfer.release()); }

void Transfers::wake(Transfer& transfer) noexcept {
    if (std::exchange(transfer.awake_, true)) return;
    awake_.push_back(&transfer);
}

// Who is woken meanwhile goes on with the next look.
void Transfers::go_on_all() noexcept {
    going_on_.swap(awake_);
    for (Transfer* transfer : going_on_) {
        transfer->awake_ = false;
        const Next next = transfer->go_on();
        if (next == Next::again) wake(*transfer);
        if (next == Next::over) remove(*transfer);
    }
    going_on_.clear();
}

void Transfers::remove(Transfer& transfer) noexcept {
    std::erase(awake_, &transfer);
    transfer.end();
    delete &transfer;
}

void Transfers::on_written(uint64_t bits) noexcept {
    Process::get().transfers().written_.push_back(bits);
}

// Not all that has come at once: senders wait for what is said when that is unpacked, and would
// pack while we wait for them, and wait while we unpack.
void Transfers::take_written() noexcept {
    constexpr size_t kAtOnce = size_t{64} << 10; // bytes
    for (size_t bytes = 0; bytes < kAtOnce && !written_.empty(); written_.pop_front()) {
        const uint64_t bits = written_.front(), segment = segment_in_written(bits);
        Incoming* const message = incoming_.find(number_in_written(bits));
        if (!message) continue; // it has failed
        message->on_written(segment);
        bytes += message->bytes_of(segment);
    }
}

} // namespace odrc::mpi
