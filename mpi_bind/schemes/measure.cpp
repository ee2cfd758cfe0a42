// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What reading, writing and copying take on this device.

#include "datatype.hpp"
#include "schemes/costs.hpp"
#include "types.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <vector>

namespace odrc::mpi {
namespace {

constexpr size_t kShort = 64, kLong = 2048; // bytes of a piece
constexpr uint64_t kNobody = ~uint64_t{0};  // hears of what is written

double now() noexcept {
    using namespace std::chrono;
    return duration<double, std::nano>(steady_clock::now().time_since_epoch()).count();
}

constexpr int kRuns = 100;

// The shortest time that one of a few runs takes: whatever else a processor does only adds to it.
template <class F>
double shortest(F&& run) {
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kRuns; ++i) least = std::min(least, run());
    return least;
}

// Reads and writes between memory here and a peer's.
class Trial {
public:
    Trial(Fabric& fabric, fi_addr_t peer)
        : fabric_{fabric}
        , peer_{peer}
        , here_(kTrialBytes)
        , most_{std::min<size_t>(fabric.most_pieces(), 32)} {}

    struct What {
        RemoteMemory memory;
        bool reads;
        bool is_heard;        // the peer hears of it
        size_t here{1};       // pieces
        size_t there{1};      // pieces
        size_t bytes{kShort}; // of a piece here
        size_t requests{1};   // one behind the other

        What times(size_t n) const {
            What what = *this;
            what.requests = n;
            return what;
        }
        What of(size_t pieces_here, size_t pieces_there) const {
            What what = *this;
            what.here = pieces_here;
            what.there = pieces_there;
            return what;
        }
        What bytes_each(size_t n) const {
            What what = *this;
            what.bytes = n;
            return what;
        }
    };
    // Nanoseconds from the first call to the last completion, and of the calls alone.
    struct Time {
        double whole{std::numeric_limits<double>::infinity()}, calls{0};
    };

    // The shortest of each in turns: a processor or a device that is slower for a while is so for
    // all, and those that are compared stay in proportion.
    template <size_t N>
    std::array<Time, N> times(const std::array<What, N>& whats) {
        std::array<Time, N> least{};
        for (int run = 0; run < kRuns; ++run)
            for (size_t i = 0; i < N; ++i)
                if (const Time t = time(whats[i]); t.whole < least[i].whole) least[i] = t;
        return least;
    }
    size_t most_pieces() const noexcept { return most_; }
    bool has_failed() const noexcept { return failed_; }

private:
    struct Step : Operation {
        Trial* trial{nullptr};
        Step() noexcept
            : Operation{[](Operation& op, const Outcome& outcome) noexcept {
                Trial& owner = *static_cast<Step&>(op).trial;
                owner.failed_ |= outcome.error != 0;
                --owner.under_way_;
            }} {}
    };
    static constexpr size_t kSteps = 16;

    Time time(const What& what) {
        const double begin = now();
        for (size_t i = 0; i < what.requests; ++i)
            post(what, !what.is_heard && i + 1 < what.requests);
        const double posted = now();
        while (under_way_ > 0) fabric_.progress();
        return {now() - begin, posted - begin};
    }

    void post(const What& what, bool more) {
        std::array<iovec, 32> pieces;
        std::array<fi_rma_iov, 32> places;
        const size_t apart = kTrialBytes / what.here;
        for (size_t i = 0; i < what.here; ++i) pieces[i] = {here_.data() + i * apart, what.bytes};
        const size_t length = what.bytes * what.here / what.there;
        for (size_t i = 0; i < what.there; ++i)
            places[i] = {.addr = what.memory.address + i * (kTrialBytes / what.there),
                         .len = length,
                         .key = what.memory.key};
        const Fabric::Access access{
            peer_, {pieces.data(), what.here}, {places.data(), what.there}, more};
        while (under_way_ == kSteps) fabric_.progress();
        Step& step = steps_[next_++ % kSteps];
        step.trial = this;
        ++under_way_;
        while (!(what.reads      ? fabric_.read(access, step)
                 : what.is_heard ? fabric_.write(access, kNobody, step)
                                 : fabric_.write(access, step)))
            fabric_.progress();
    }

    Fabric& fabric_;
    const fi_addr_t peer_;
    std::vector<std::byte> here_;
    const size_t most_;
    std::array<Step, kSteps> steps_;
    size_t next_{0};
    size_t under_way_{0};
    bool failed_{false};
};

double packing(size_t pieces, size_t bytes) {
    const std::unique_ptr<Datatype> type{
        make_vector(pieces, bytes, static_cast<ptrdiff_t>(2 * bytes), *Datatype::of(MPI_BYTE))};
    std::vector<std::byte> from(2 * pieces * bytes), to(pieces * bytes);
    const Data data{from.data(), 1, *type};
    return shortest([&] {
        const double begin = now();
        data.pack(0, to);
        return now() - begin;
    });
}

// A byte that is in no cache, from a place like that to another one: every other page.
double copying_far() {
    constexpr size_t kAll = size_t{32} << 20, kPage = 4096;
    const std::unique_ptr<std::byte[]> from{new (std::nothrow) std::byte[kAll]{}},
        to{new (std::nothrow) std::byte[kAll]{}};
    if (!from || !to) return kUsualCosts.copied_byte + kUsualCosts.fetched_byte;
    const auto copy = [&] {
        const double begin = now();
        for (size_t at = 0; at < kAll; at += 2 * kPage) std::memcpy(&to[at], &from[at], kPage);
        return (now() - begin) / (kAll / 2);
    };
    return std::min(copy(), copy());
}

double exposing(Fabric& fabric, size_t bytes) {
    std::vector<std::byte> memory(bytes);
    return shortest([&] {
        const double begin = now();
        fabric.expose(memory.data(), bytes);
        return now() - begin;
    });
}

// What one more of them takes, of two times.
double slope(double less, double more, size_t steps) noexcept {
    return std::max((more - less) / static_cast<double>(steps), 0.001);
}

using What = Trial::What;

// What a byte more takes is told by long pieces: whether a short one crosses into another page
// depends on where the memory lies, and pages have to be looked up.
void measure_device(Trial& trial, const TrialMemory& with, SchemeCosts& costs) {
    constexpr size_t kMany = 8;
    const size_t pieces = trial.most_pieces();
    const What write{.memory = with.staging, .reads = false, .is_heard = true};
    const What read{.memory = with.staging, .reads = true, .is_heard = false};
    const What plain{.memory = with.plain, .reads = true, .is_heard = false};
    const What place{.memory = with.plain, .reads = false, .is_heard = false};
    // Connects, fills caches, and has the peer's provider see that much comes.
    trial.times(std::array{write});
    const auto [one_write, writes, gathered, written, one_read, reads, scattered, long_read,
                one_plain, long_plain, two_places, places, long_places] = trial.times(std::array{
        write, write.times(kMany), write.of(pieces, 1), write.bytes_each(kTrialBytes), //
        read, read.times(kMany), read.of(pieces, 1), read.bytes_each(kTrialBytes),     //
        plain, plain.bytes_each(kTrialBytes),                                          //
        place.of(2, 2), place.of(pieces, pieces), place.of(2, 2).bytes_each(kTrialBytes / 4)});
    constexpr size_t kMoreBytes = kTrialBytes - kShort;
    costs.word = one_write.whole / 2;
    costs.write = slope(one_write.whole, writes.whole, kMany - 1);
    costs.gathered = slope(one_write.whole, gathered.whole, pieces - 1);
    costs.written_byte = slope(one_write.whole, written.whole, kMoreBytes);
    costs.by_processor = std::min(written.calls / written.whole, 1.0);
    costs.read = slope(one_read.whole, reads.whole, kMany - 1);
    costs.scattered = slope(one_read.whole, scattered.whole, pieces - 1);
    costs.read_byte = slope(one_read.whole, long_read.whole, kMoreBytes);
    costs.plain_byte = slope(one_plain.whole, long_plain.whole, kMoreBytes);
    costs.placed = slope(two_places.whole, places.whole, pieces - 2);
    costs.placed_byte = slope(two_places.whole, long_places.whole, 2 * (kTrialBytes / 4 - kShort));
}

void measure_processor(Fabric& fabric, SchemeCosts& costs) {
    constexpr size_t kPieces = 64;
    const double small = packing(kPieces, kShort), large = packing(kPieces, kLong);
    costs.copied_byte = slope(small, large, kPieces * (kLong - kShort));
    costs.fetched_byte = std::max(copying_far() - costs.copied_byte, 0.0);
    costs.copied_piece = slope(kShort * costs.copied_byte, small / kPieces, 1);
    costs.exposed = exposing(fabric, kLong);
    costs.exposed_byte = slope(costs.exposed, exposing(fabric, kTrialBytes), kTrialBytes - kLong);
}

} // namespace

std::optional<SchemeCosts> measure_costs(Fabric& fabric, fi_addr_t peer, const TrialMemory& with) {
    Trial trial{fabric, peer};
    SchemeCosts costs{};
    measure_device(trial, with, costs);
    if (trial.has_failed()) return std::nullopt;
    measure_processor(fabric, costs);
    return costs;
}

} // namespace odrc::mpi
