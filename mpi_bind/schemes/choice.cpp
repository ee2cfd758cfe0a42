// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "schemes/choice.hpp"

#include "schemes/staging.hpp"

#include <algorithm>

namespace odrc::mpi {
namespace {

constexpr std::array<size_t, 6> kSegments{8 << 10,  16 << 10,  32 << 10,
                                          64 << 10, 128 << 10, 256 << 10};
// What one message has of the segments' memory. It stays in a processor's cache.
constexpr size_t kStaged = size_t{1} << 20;
constexpr size_t kMostSegment = kStaged / 2;
constexpr double kPiecesAtOnce = 32; // of a work request
// Times what it takes when one processor alone wants the memory.
constexpr double kCrowdedMemory = 2;
constexpr double kLookedUp = 1024; // bytes, for a piece that is placed: pages, and who has them

// Telling the other side something: where processes share processors, others compute until it
// answers, and nothing is lost but what the processor does in the device's stead. Short words are
// not felt among all else that happens there.
double word_of(const SchemeCosts& costs, const Means& means) noexcept {
    constexpr double kFelt = 1000; // nanoseconds
    if (means.overlaps) return costs.word;
    const double said = costs.word * costs.by_processor;
    return said < kFelt ? 0 : said;
}

// An offer and its answer, with what both sides do for them: as the sender has seen, by messages
// of both kinds, or by the answer alone. More than so many words was waiting for a receive, or for
// what a program computes.
double spared_by(const Offer& offer, double word) noexcept {
    constexpr double kMostWords = 8, kMostSeen = 32;
    const Pace& pace = offer.pace;
    if (pace.offered > 0 && pace.as_it_is > 0)
        return std::clamp(static_cast<double>(pace.offered) - pace.as_it_is, 0.0, kMostSeen * word);
    return offer.asking > 0 ? std::min<double>(offer.asking, kMostWords * word) : 2 * word;
}

// One message, as the schemes see it.
struct Message {
    const SchemeCosts& costs;
    double bytes;
    double out;    // pieces that the sender has
    double in;     // and the receiver
    double extent; // bytes from the receiver's first to its last
    const Means& means;

    // What it takes to have bytes in a cache, each time that they are copied, where others' data
    // have taken their place, or who copies them is far from it, and all fetch at the same time.
    double fetching(double of) const noexcept {
        return means.caches && means.near ? 0 : of * costs.fetched_byte * kCrowdedMemory;
    }
    double word() const noexcept { return word_of(costs, means); }
    // By the device, or by the processor in its stead.
    double moving(double byte) const noexcept {
        return bytes * byte + costs.by_processor * fetching(bytes);
    }
    // Into segments: past caches that are far.
    double into_segments() const noexcept {
        return bytes * costs.written_byte +
               (means.caches ? 0 : costs.by_processor * fetching(bytes));
    }
    double copying(double pieces) const noexcept {
        return pieces * costs.copied_piece + bytes * costs.copied_byte + fetching(bytes);
    }
    // Stages that work at the same time, each on a segment of its own.
    double pipelined(double segments, std::initializer_list<double> stages) const noexcept {
        double sum = 0, longest = 0;
        for (const double stage : stages) {
            sum += stage;
            longest = std::max(longest, stage);
        }
        return means.overlaps ? sum / segments + longest * (segments - 1) / segments : sum;
    }
    // Packing (or what the processor does instead), the device, unpacking.
    double written(double packing, double writing, double unpacking,
                   double segments) const noexcept {
        const double by_processor = writing * costs.by_processor;
        return pipelined(segments, {packing + by_processor, writing - by_processor, unpacking});
    }

    // Data in one piece is not packed.
    double generic() const noexcept {
        return (out > 1 ? copying(out) : 0) + (in > 1 ? copying(in) : 0) + costs.read + 4 * word() +
               moving(costs.plain_byte);
    }
    double bc_spup(double segments) const noexcept {
        const double writing = segments * costs.write + into_segments();
        return 2 * word() + written(copying(out), writing, copying(in), segments);
    }
    double rwg_up(double segments) const noexcept {
        const double requests = std::max(segments, out / kPiecesAtOnce);
        const double writing = requests * costs.write + out * costs.gathered + into_segments();
        return 2 * word() + written(0, writing, copying(in), segments);
    }
    double p_rrs(double segments) const noexcept {
        const double requests = std::max(segments, in / kPiecesAtOnce);
        const double reading =
            requests * costs.read + in * costs.scattered + moving(costs.read_byte);
        // Where a reader who is far had the lines last.
        const double taking_back = means.near ? 0 : fetching(bytes);
        const double packing = copying(out) + taking_back + segments * word();
        return 4 * word() + pipelined(segments, {packing, reading});
    }
    double multi_w() const noexcept {
        const double exposing = costs.exposed + extent * costs.exposed_byte;
        const double placing = costs.placed + costs.by_processor * fetching(kLookedUp);
        return 2 * word() + exposing + costs.write + std::max(out, in) * placing +
               moving(costs.placed_byte);
    }
};

double pieces_of(const Shape& shape, double bytes) noexcept {
    return std::max(1.0, bytes / static_cast<double>(std::max<uint64_t>(shape.piece, 1)));
}

// The segment with which it takes least.
template <class F>
double least(size_t bytes, size_t& segment, F&& time) noexcept {
    double best = kNever;
    for (const size_t candidate : kSegments) {
        const double t = time(static_cast<double>((bytes + candidate - 1) / candidate));
        if (t < best) segment = candidate;
        best = std::min(best, t);
        if (candidate >= bytes) break;
    }
    return best;
}

} // namespace

Choice::Choice(const SchemeCosts& costs, const Offer& offer, const Shape& receiver, uint64_t bytes,
               const Means& means, const WantedScheme& wanted) noexcept
    : bytes_{bytes}
    , wanted_{wanted}
    , word_{word_of(costs, means)}
    , spared_{spared_by(offer, word_)}
    , asked_for_{wanted.scheme ? static_cast<size_t>(*wanted.scheme) : offer.wanted} {
    const auto all = static_cast<double>(bytes);
    const Message message{.costs = costs,
                          .bytes = all,
                          .out = pieces_of(offer.shape, all),
                          .in = pieces_of(receiver, all),
                          .extent = static_cast<double>(receiver.extent),
                          .means = means};
    expected_.fill(kNever);
    const auto expect = [&](Scheme scheme, auto&& time) {
        const auto i = static_cast<size_t>(scheme);
        expected_[i] = least(bytes, segments_[i], time);
    };
    expect(Scheme::generic, [&](double) { return message.generic(); });
    if (means.unpacks) expect(Scheme::bc_spup, [&](double n) { return message.bc_spup(n); });
    if (means.unpacks) expect(Scheme::rwg_up, [&](double n) { return message.rwg_up(n); });
    expect(Scheme::p_rrs, [&](double n) { return message.p_rrs(n); });
    if (means.exposes) expect(Scheme::multi_w, [&](double) { return message.multi_w(); });
    if (offer.is_trial) expected_[static_cast<size_t>(Scheme::generic)] = kNever;
}

double Choice::not_offered() const noexcept {
    return expected_[static_cast<size_t>(Scheme::generic)] - 2 * word_;
}

std::optional<Scheme> Choice::asked_for() const noexcept {
    if (asked_for_ >= kSchemes) return std::nullopt;
    return expected_[asked_for_] < kNever ? static_cast<Scheme>(asked_for_) : Scheme::generic;
}

Plan Choice::plan(Scheme scheme) const noexcept {
    const size_t segment = wanted_.segment > 0 ? std::min(wanted_.segment, kMostSegment)
                                               : segments_[static_cast<size_t>(scheme)];
    const size_t count = (bytes_ + segment - 1) / segment;
    const bool whole = wanted_.whole && bytes_ <= Staging::kBytes / 2;
    return {.scheme = scheme,
            .segment = segment,
            .room = whole ? count : std::min(count, std::max<size_t>(kStaged / segment, 2)),
            .whole = whole,
            .single = wanted_.single,
            .expected = expected_};
}

} // namespace odrc::mpi
