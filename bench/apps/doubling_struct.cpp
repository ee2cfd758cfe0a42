// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI_Alltoall of a struct whose blocks double, from one int to so many, with a gap of one int
// between any two of them: until the last rank has all. bench/datatypes puts the ways side by side.

#include "bench/apps/contenders.hpp"

namespace {

using namespace bench;

struct Options {
    std::vector<std::string> ways{"datatype"};
    Rounds rounds{.seconds = 0.2};
    std::vector<size_t> last_blocks{2048, 4096, 8192, 16'384, 32'768, 65'536, 131'072};
};

struct Doubling {
    // Where a block begins: behind those before it and a gap for each of them.
    template <class Visit>
    void walk_ints(Visit&& visit) const {
        for (size_t ints = 1, begin = 0; ints <= last_block; begin += ints + 1, ints *= 2)
            visit(begin, ints);
    }
    template <class Visit>
    void walk(Visit&& visit) const {
        walk_ints(
            [&](size_t begin, size_t ints) { visit(begin * sizeof(int), ints * sizeof(int)); });
    }
    size_t extent() const {
        size_t end = 0;
        walk([&](size_t offset, size_t bytes) { end = offset + bytes; });
        return end;
    }
    Type type() const {
        std::vector<int> lengths;
        std::vector<MPI_Aint> displacements;
        walk_ints([&](size_t begin, size_t ints) {
            lengths.push_back(int(ints));
            displacements.push_back(MPI_Aint(begin * sizeof(int)));
        });
        const std::vector<MPI_Datatype> types(lengths.size(), MPI_INT);
        return Type{[&](MPI_Datatype* made) {
            MPI_Type_create_struct(int(lengths.size()), lengths.data(), displacements.data(),
                                   types.data(), made);
        }};
    }

    size_t last_block;
};

class Everybody {
public:
    Everybody(const Contender& contender, const Layout& layout)
        : ranks_{contender.comm()}
        , way_{contender.way()}
        , layout_{layout} {
        if (way_ != Way::kDatatype && way_ != Way::kManual)
            give_up("all to all goes a datatype, or what is packed by hand");
    }

    void check() {
        constexpr std::byte kUntouched{0xee};
        std::vector<std::byte> content(layout_.bytes), expected(in_.size(), kUntouched);
        std::memset(in_.data(), int(kUntouched), in_.size());
        for (int peer = 0; peer < ranks_.size; ++peer) {
            fabtests_ext::fill(content.data(), content.size(), id(ranks_.rank, peer));
            layout_.unpack(part(out_.data(), peer), content.data());
            fabtests_ext::fill(content.data(), content.size(), id(peer, ranks_.rank));
            layout_.unpack(part(expected.data(), peer), content.data());
        }
        exchange();
        if (std::memcmp(in_.data(), expected.data(), in_.size()) != 0)
            give_up("others than were sent");
    }

    // Of the slowest.
    double time() {
        MPI_Barrier(ranks_.comm);
        const double begin = now();
        exchange();
        const double mine = now() - begin;
        double slowest = 0;
        MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, ranks_.comm);
        return slowest;
    }

private:
    uint64_t id(int from, int to) const noexcept { return uint64_t(from * ranks_.size + to); }
    std::byte* part(std::byte* memory, int peer) const {
        return memory + layout_.extent * size_t(peer);
    }
    void exchange() {
        if (way_ == Way::kDatatype) {
            MPI_Alltoall(out_.data(), 1, layout_.type, in_.data(), 1, layout_.type, ranks_.comm);
            return;
        }
        const int bytes = int(layout_.bytes);
        for (int peer = 0; peer < ranks_.size; ++peer)
            layout_.pack(part(out_.data(), peer), packed_out_.data() + bytes * peer);
        MPI_Alltoall(packed_out_.data(), bytes, MPI_BYTE, packed_in_.data(), bytes, MPI_BYTE,
                     ranks_.comm);
        for (int peer = 0; peer < ranks_.size; ++peer)
            layout_.unpack(part(in_.data(), peer), packed_in_.data() + bytes * peer);
    }

    const Ranks ranks_;
    const Way way_;
    const Layout& layout_;
    Pages out_{layout_.extent * size_t(ranks_.size)}, in_{out_.size()};
    Pages packed_out_{layout_.bytes * size_t(ranks_.size)}, packed_in_{packed_out_.size()};
};

} // namespace

int main(int argc, char** argv) {
    const Mpi mpi{argc, argv};
    Options options;
    CommandLine command{"MPI_Alltoall of a struct of blocks of 1, 2, 4 ... ints."};
    command.option("-x,--last", options.last_blocks, "ints of the last block").with_commas();
    command
        .option("-w,--ways", options.ways,
                "a datatype, one packed by hand (manual), or a datatype in a way of odrc_mpi's "
                "(its hint odrc_datatype)")
        .with_commas();
    options.rounds.add_options(command);
    if (!command.read(argc, argv)) return command.status();
    const Contenders contenders = make_contenders(options.ways);
    for (const size_t last : options.last_blocks) {
        const Layout layout{Doubling{last}};
        std::vector<Everybody> everybody;
        for (const Contender& contender : contenders)
            everybody.emplace_back(contender, layout).check();
        options.rounds.measure_us(contenders, "alltoall", std::to_string(last), layout.bytes,
                                  [&](size_t i) { return everybody[i].time(); });
    }
    return 0;
}
