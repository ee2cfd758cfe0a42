// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Radix sort in shared memory: each pass moves the keys of everybody's part to where they belong,
// most of which is in another part, region by region.

#include "bench/patterns/program.hpp"
#include "bench/patterns/regions.hpp"
#include "bench/problems/keys.hpp"

#include <algorithm>

namespace bench {
namespace {

struct Options : Setting {
    size_t keys{32768};
};

constexpr size_t kRegionBytes = 1024, kKeys = kRegionBytes / sizeof(Key);
static_assert(sizeof(Histogram) <= kRegionBytes);

// Two arrays, one of which a pass reads and the other it writes, and a histogram for each process.
class Sorter {
public:
    Sorter(Process& process, size_t keys)
        : process_{process}
        , keys_{keys}
        , in_array_{static_cast<Regions::Id>((keys + kKeys - 1) / kKeys)}
        , first_{process.first_of(in_array_)}
        , end_{process.end_of(in_array_)}
        , regions_{process.messenger, 2 * in_array_ + Regions::Id(process.size()), kRegionBytes,
                   [this](Regions::Id id) { return home(id); }} {}

    void put(const std::vector<Key>& keys) {
        for (size_t i = first_key(); i < end_key(); ++i) key_to_write(from_, i) = keys[i];
        process_.agreement.barrier();
    }

    void sort() {
        for (unsigned pass = 0; pass < kPasses; ++pass) {
            permute(pass * kDigitBits);
            process_.agreement.barrier();
            std::swap(from_, to_);
        }
        for (size_t i = first_; i < end_; ++i) regions_.read(region(from_, i * kKeys));
    }

    bool is(const std::vector<Key>& sorted) {
        for (size_t i = first_key(); i < end_key(); ++i)
            if (key(from_, i) != sorted[i]) return false;
        return true;
    }

    const Regions::Counts& counts() const noexcept { return regions_.counts(); }

private:
    size_t first_key() const noexcept { return first_ * kKeys; }
    size_t end_key() const noexcept { return std::min(end_ * kKeys, keys_); }

    Regions::Id region(int array, size_t key) const noexcept {
        return Regions::Id(array) * in_array_ + Regions::Id(key / kKeys);
    }
    Regions::Id histogram(int rank) const noexcept { return 2 * in_array_ + Regions::Id(rank); }

    int home(Regions::Id id) const noexcept {
        if (id >= 2 * in_array_) return int(id - 2 * in_array_);
        // That of a part: the inverse of Process::first_of().
        const size_t size = size_t(process_.size());
        return int(((id % in_array_ + 1) * size - 1) / in_array_);
    }

    Key key(int array, size_t i) {
        return regions_.read_as<std::array<Key, kKeys>>(region(array, i))[i % kKeys];
    }
    Key& key_to_write(int array, size_t i) {
        return regions_.write_as<std::array<Key, kKeys>>(region(array, i))[i % kKeys];
    }

    // Where the first of this process's keys with each digit goes.
    Histogram places(unsigned shift) {
        Histogram& mine = regions_.write_as<Histogram>(histogram(process_.rank()));
        mine.fill(0);
        Histogram counted{};
        for (size_t i = first_key(); i < end_key(); ++i)
            ++counted[key(from_, i) >> shift & (kDigits - 1)];
        regions_.write_as<Histogram>(histogram(process_.rank())) = counted;
        process_.agreement.barrier();
        Histogram smaller{}, earlier{};
        for (int rank = 0; rank < process_.size(); ++rank) {
            const auto& other = regions_.read_as<Histogram>(histogram(rank));
            for (size_t d = 0; d < kDigits; ++d) {
                smaller[d] += other[d];
                if (rank < process_.rank()) earlier[d] += other[d];
            }
        }
        uint32_t place = 0;
        for (size_t d = 0; d < kDigits; ++d) {
            const uint32_t all = std::exchange(smaller[d], place);
            smaller[d] += earlier[d];
            place += all;
        }
        return smaller;
    }

    void permute(unsigned shift) {
        Histogram next = places(shift);
        for (size_t i = first_key(); i < end_key(); ++i) {
            const Key moved = key(from_, i);
            key_to_write(to_, next[moved >> shift & (kDigits - 1)]++) = moved;
            if (i % kKeys == 0) process_.messenger.poll();
        }
    }

    Process& process_;
    size_t keys_;
    Regions::Id in_array_;
    size_t first_, end_; // this process's regions of an array
    Regions regions_;
    int from_{0}, to_{1};
};

int run(fabtests_ext::Team& team, const Options& options) {
    Process process{team, options};
    std::vector<Key> keys = make_keys(options.keys, options.seed);
    Sorter sorter{process, options.keys};
    sorter.put(keys);
    process.measure([&] { sorter.sort(); });
    process.report("read_misses", sorter.counts().read_misses);
    process.report("write_misses", sorter.counts().write_misses);
    process.report("recalls", sorter.counts().recalls);
    std::ranges::sort(keys);
    return process.conclude(sorter.is(keys));
}

} // namespace
} // namespace bench

int main(int argc, char** argv) {
    bench::Options options;
    fabtests_ext::CommandLine command{"Radix sort in shared memory."};
    bench::add_setting(command, options);
    command.option("-k,--keys", options.keys).positive();
    if (!command.read(argc, argv)) return command.status();
    return fabtests_ext::run_team(options.processes,
                                  [&](auto& team) { return bench::run(team, options); });
}
