// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What reading, writing and copying take on this device.

#include "datatype.hpp"
#include "schemes/costs.hpp"
#include "types.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <vector>

namespace odrc::mpi {
namespace {

constexpr size_t kShort = 64, kLong = 4096; // bytes of a piece
constexpr uint64_t kNobody = ~uint64_t{0};  // hears of what is written

double now() noexcept {
    using namespace std::chrono;
    return duration<double, std::nano>(steady_clock::now().time_since_epoch()).count();
}

// The shortest time that one of a few runs takes: whatever else a processor does only adds to it.
template <class F>
double shortest(F&& run) {
    constexpr int kRuns = 7;
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
        bool is_heard;   // the peer hears of it
        size_t here;     // pieces
        size_t there;    // pieces
        size_t bytes;    // of a piece here
        size_t requests; // one behind the other
    };
    // Nanoseconds from the first call to the last completion, and of the calls alone.
    struct Time {
        double whole, calls;
    };

    Time time(const What& what) {
        Time least{std::numeric_limits<double>::infinity(), 0};
        shortest([&] {
            const double begin = now();
            for (size_t i = 0; i < what.requests; ++i) post(what, i + 1 < what.requests);
            const double posted = now();
            while (under_way_ > 0) fabric_.progress();
            const Time t{now() - begin, posted - begin};
            if (t.whole < least.whole) least = t;
            return t.whole;
        });
        return least;
    }
    size_t most_pieces() const noexcept { return most_; }
    bool has_failed() const noexcept { return failed_; }

private:
    struct Step : Operation {
        Trial* trial{nullptr};
        Step() noexcept
            : Operation{[](Operation& op, const Outcome& outcome) noexcept {
                Trial& trial = *static_cast<Step&>(op).trial;
                trial.failed_ |= outcome.error != 0;
                --trial.under_way_;
            }} {}
    };
    static constexpr size_t kSteps = 16;

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

// What one more of them takes, of two times.
double slope(double less, double more, size_t steps) noexcept {
    return std::max((more - less) / static_cast<double>(steps), 0.001);
}

} // namespace

std::optional<SchemeCosts> measure_costs(Fabric& fabric, fi_addr_t peer, const TrialMemory& with) {
    Trial trial{fabric, peer};
    const size_t pieces = trial.most_pieces();
    constexpr size_t kMany = 8;
    SchemeCosts costs{};
    // The first one connects, and fills caches.
    trial.time({with.staging, false, true, 1, 1, kShort, 1});
    const double one = trial.time({with.staging, false, true, 1, 1, kShort, 1}).whole;
    costs.word = one / 2;
    costs.write =
        slope(one, trial.time({with.staging, false, true, 1, 1, kShort, kMany}).whole, kMany - 1);
    const auto gathered = trial.time({with.staging, false, true, pieces, 1, kShort, 1});
    costs.gathered = slope(one, gathered.whole, pieces - 1);
    const auto much = trial.time({with.staging, false, true, 1, 1, kTrialBytes, 1});
    costs.written_byte = slope(one, much.whole, kTrialBytes - kShort);
    costs.by_processor = std::min(much.calls / much.whole, 1.0);

    const double read = trial.time({with.staging, true, false, 1, 1, kShort, 1}).whole;
    costs.read =
        slope(read, trial.time({with.staging, true, false, 1, 1, kShort, kMany}).whole, kMany - 1);
    costs.scattered = slope(
        read, trial.time({with.staging, true, false, pieces, 1, kShort, 1}).whole, pieces - 1);
    costs.read_byte = slope(
        read, trial.time({with.staging, true, false, 1, 1, kTrialBytes, 1}).whole, kTrialBytes);

    const double few = trial.time({with.plain, false, false, pieces, pieces, kShort, 1}).whole;
    const double some = trial.time({with.plain, false, false, 2, 2, kShort, 1}).whole;
    costs.placed = slope(some, few, pieces - 2);
    const double large = trial.time({with.plain, false, false, pieces, pieces, kLong, 1}).whole;
    costs.placed_byte = slope(few, large, pieces * (kLong - kShort));
    if (trial.has_failed()) return std::nullopt;

    const double begin = now();
    std::vector<std::byte> memory(kTrialBytes);
    fabric.expose(memory.data(), memory.size());
    costs.exposed = now() - begin;

    constexpr size_t kPieces = 64;
    const double small = packing(kPieces, kShort), long_ones = packing(kPieces, kLong);
    costs.copied_byte = slope(small, long_ones, kPieces * (kLong - kShort));
    costs.copied_piece =
        std::max(small / kPieces - static_cast<double>(kShort) * costs.copied_byte, 0.1);
    return costs;
}

} // namespace odrc::mpi
