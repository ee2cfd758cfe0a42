// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "schemes/choice.hpp"

#include "schemes/staging.hpp"

#include <algorithm>
#include <limits>

namespace odrc::mpi {
namespace {

constexpr std::array<size_t, 6> kSegments{8 << 10,  16 << 10,  32 << 10,
                                          64 << 10, 128 << 10, 256 << 10};
// What one message has of the segments' memory. It stays in a processor's cache.
constexpr size_t kStaged = size_t{1} << 20;
constexpr size_t kMostSegment = kStaged / 2;
constexpr double kPiecesAtOnce = 32; // of a work request

// One message, as the schemes see it.
struct Message {
    const SchemeCosts& costs;
    double bytes;
    double out;    // pieces that the sender has
    double in;     // and the receiver
    double extent; // bytes from the receiver's first to its last
    bool overlaps;

    double copying(double pieces) const noexcept {
        return pieces * costs.copied_piece + bytes * costs.copied_byte;
    }
    // Stages that work at the same time, each on a segment of its own.
    double pipelined(double segments, std::initializer_list<double> stages) const noexcept {
        double sum = 0, longest = 0;
        for (const double stage : stages) {
            sum += stage;
            longest = std::max(longest, stage);
        }
        return overlaps ? sum / segments + longest * (segments - 1) / segments : sum;
    }
    // Packing (or what the processor does instead), the device, unpacking.
    double written(double packing, double writing, double unpacking,
                   double segments) const noexcept {
        const double by_processor = writing * costs.by_processor;
        return pipelined(segments, {packing + by_processor, writing - by_processor, unpacking});
    }

    double generic() const noexcept {
        return copying(out) + copying(in) + costs.read + 2 * costs.word +
               bytes * (costs.plain_byte + 2 * costs.fresh_byte);
    }
    double bc_spup(double segments) const noexcept {
        const double writing = segments * costs.write + bytes * costs.written_byte;
        return 2 * costs.word + written(copying(out), writing, copying(in), segments);
    }
    double rwg_up(double segments) const noexcept {
        const double requests = std::max(segments, out / kPiecesAtOnce);
        const double writing =
            requests * costs.write + out * costs.gathered + bytes * costs.written_byte;
        return 2 * costs.word + written(0, writing, copying(in), segments);
    }
    double p_rrs(double segments) const noexcept {
        const double requests = std::max(segments, in / kPiecesAtOnce);
        const double reading =
            requests * costs.read + in * costs.scattered + bytes * costs.read_byte;
        const double packing = copying(out) + segments * costs.word;
        return 4 * costs.word + pipelined(segments, {packing, reading});
    }
    double multi_w() const noexcept {
        const double exposing = costs.exposed + extent * costs.exposed_byte;
        return 2 * costs.word + exposing + costs.write + std::max(out, in) * costs.placed +
               bytes * costs.placed_byte;
    }
};

double pieces_of(const Shape& shape, double bytes) noexcept {
    return std::max(1.0, bytes / static_cast<double>(std::max<uint64_t>(shape.piece, 1)));
}

// The segment with which it takes least.
template <class F>
double least(size_t bytes, size_t& segment, F&& time) noexcept {
    double best = std::numeric_limits<double>::infinity();
    for (const size_t candidate : kSegments) {
        const double t = time(static_cast<double>((bytes + candidate - 1) / candidate));
        if (t < best) segment = candidate;
        best = std::min(best, t);
        if (candidate >= bytes) break;
    }
    return best;
}

} // namespace

Plan choose_scheme(const SchemeCosts& costs, const Offer& offer, const Shape& receiver,
                   uint64_t bytes, const Means& means, const WantedScheme& wanted) noexcept {
    const auto all = static_cast<double>(bytes);
    const Message message{.costs = costs,
                          .bytes = all,
                          .out = pieces_of(offer.shape, all),
                          .in = pieces_of(receiver, all),
                          .extent = static_cast<double>(receiver.extent),
                          .overlaps = means.overlaps};
    std::array<size_t, kSchemes> segments{};
    std::array<double, kSchemes> expected;
    expected.fill(std::numeric_limits<double>::infinity());
    const auto expect = [&](Scheme scheme, auto&& time) {
        const auto i = static_cast<size_t>(scheme);
        expected[i] = least(bytes, segments[i], time);
    };
    expect(Scheme::generic, [&](double) { return message.generic(); });
    if (means.unpacks) expect(Scheme::bc_spup, [&](double n) { return message.bc_spup(n); });
    if (means.unpacks) expect(Scheme::rwg_up, [&](double n) { return message.rwg_up(n); });
    expect(Scheme::p_rrs, [&](double n) { return message.p_rrs(n); });
    if (means.exposes) expect(Scheme::multi_w, [&](double) { return message.multi_w(); });

    auto scheme = static_cast<size_t>(std::ranges::min_element(expected) - expected.begin());
    const size_t forced = wanted.scheme ? static_cast<size_t>(*wanted.scheme) : offer.wanted;
    if (forced < kSchemes) {
        const bool can_be = expected[forced] < std::numeric_limits<double>::infinity();
        scheme = can_be ? forced : static_cast<size_t>(Scheme::generic);
    }
    const size_t segment =
        wanted.segment > 0 ? std::min(wanted.segment, kMostSegment) : segments[scheme];
    const size_t count = (bytes + segment - 1) / segment;
    const bool whole = wanted.whole && bytes <= Staging::kBytes / 2;
    return {.scheme = static_cast<Scheme>(scheme),
            .segment = segment,
            .room = whole ? count : std::min(count, std::max<size_t>(kStaged / segment, 2)),
            .whole = whole,
            .single = wanted.single,
            .expected = expected};
}

} // namespace odrc::mpi
