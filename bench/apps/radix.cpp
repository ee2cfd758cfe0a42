// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Radix sort: in each pass all learn how many keys everybody has of each digit, and send each key
// to the rank in whose part it belongs.

#include "bench/apps/app.hpp"
#include "bench/problems/keys.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace {

using namespace bench;

class Sorter {
public:
    Sorter(const Ranks& ranks, const std::vector<Key>& keys)
        : ranks_{ranks}
        , count_{int(keys.size())}
        , keys_(keys.begin() + ranks.first_of(count_), keys.begin() + ranks.end_of(count_)) {}

    std::vector<Key> sort() {
        for (unsigned pass = 0; pass < kPasses; ++pass) permute(pass * kDigitBits);
        return keys_;
    }

private:
    // A key, and which of all it is to be.
    struct Moved {
        uint32_t place;
        Key key;
    };

    // Where the first of this rank's keys with each digit goes.
    Histogram places(unsigned shift) const {
        Histogram mine{};
        for (const Key key : keys_) ++mine[key >> shift & (kDigits - 1)];
        std::vector<Histogram> all(size_t(ranks_.size));
        MPI_Allgather(mine.data(), kDigits, MPI_UINT32_T, all.data(), kDigits, MPI_UINT32_T,
                      ranks_.comm);
        uint32_t place = 0;
        Histogram first{};
        for (size_t digit = 0; digit < kDigits; ++digit) {
            for (int rank = 0; rank < ranks_.size; ++rank) {
                if (rank == ranks_.rank) first[digit] = place;
                place += all[size_t(rank)][digit];
            }
        }
        return first;
    }

    void permute(unsigned shift) {
        Histogram next = places(shift);
        std::vector<std::vector<Moved>> to(size_t(ranks_.size));
        for (const Key key : keys_) {
            const uint32_t place = next[key >> shift & (kDigits - 1)]++;
            to[size_t(ranks_.owner_of(count_, int(place)))].push_back({place, key});
        }
        const uint32_t first = uint32_t(ranks_.first_of(count_));
        for (const Moved& moved : exchange(to)) keys_[moved.place - first] = moved.key;
    }

    std::vector<Moved> exchange(const std::vector<std::vector<Moved>>& to) const {
        std::vector<Moved> out, in(keys_.size());
        std::vector<int> sent, received(to.size()), out_at, in_at;
        for (const auto& keys : to) {
            out_at.push_back(int(out.size()));
            sent.push_back(int(keys.size()));
            out.insert(out.end(), keys.begin(), keys.end());
        }
        MPI_Alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, ranks_.comm);
        int at = 0;
        for (const int count : received) in_at.push_back(std::exchange(at, at + count));
        MPI_Datatype pair;
        MPI_Type_contiguous(2, MPI_UINT32_T, &pair);
        MPI_Type_commit(&pair);
        MPI_Alltoallv(out.data(), sent.data(), out_at.data(), pair, in.data(), received.data(),
                      in_at.data(), pair, ranks_.comm);
        MPI_Type_free(&pair);
        return in;
    }

    const Ranks& ranks_;
    const int count_;
    std::vector<Key> keys_; // this rank's part
};

} // namespace

int main(int argc, char** argv) {
    const Mpi mpi{argc, argv};
    size_t count = 262'144;
    CommandLine command{"Radix sort."};
    command.option("-s,--size", count, "keys").positive();
    if (!command.read(argc, argv)) return command.status();
    const Ranks ranks{MPI_COMM_WORLD};
    std::vector<Key> keys = make_keys(count, 1);
    Sorter sorter{ranks, keys};
    const auto together = measure([&] { return sorter.sort(); });
    std::ranges::sort(keys);
    const auto first = keys.begin() + ranks.first_of(int(count));
    return conclude(std::equal(together.begin(), together.end(), first));
}
