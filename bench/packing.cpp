// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What it takes our MPI to pack and unpack datatypes, for a block and for a byte: of data that
// stays in a cache (near), and of data that does not (far).

#include "mpi_bind/types.hpp"

#include <benchmark/benchmark.h>
#include <cstring>
#include <numeric>
#include <random>

namespace {

using namespace odrc::mpi;

constexpr size_t kNear = size_t{256} << 10;
constexpr size_t kFar = size_t{64} << 20;

enum class Way { pack, unpack };

const Datatype& bytes() { return *Datatype::of(MPI_BYTE); }

void report(benchmark::State& state, size_t bytes_each, size_t blocks) {
    const auto times = static_cast<double>(state.iterations());
    state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes_each));
    state.counters["block"] =
        benchmark::Counter(times * static_cast<double>(blocks),
                           benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void measure(benchmark::State& state, Way way, const Datatype& type, size_t blocks) {
    std::vector<std::byte> memory(static_cast<size_t>(type.extent()), std::byte{1});
    std::vector<std::byte> packed(type.size(), std::byte{2});
    const Data data{memory.data(), 1, type};
    for (auto _ : state) {
        if (way == Way::pack)
            data.pack(0, packed);
        else
            data.unpack(0, packed);
        benchmark::ClobberMemory();
    }
    report(state, type.size(), blocks);
}

// Every other block.
void vector(benchmark::State& state, Way way, size_t memory) {
    const auto length = static_cast<size_t>(state.range(0));
    const size_t count = memory / length;
    const Ref<Datatype> type{*make_vector(count, length, 2 * state.range(0), bytes())};
    measure(state, way, *type, count);
}

// Columns of an array of 128 rows, which begin in the same places of a cache: packed and unpacked
// in turns, from one such array to another.
void columns(benchmark::State& state) {
    constexpr size_t kRows = 128;
    constexpr ptrdiff_t kRow = 16 << 10;
    const auto length = static_cast<size_t>(state.range(0));
    const Ref<Datatype> type{*make_vector(kRows, length, kRow, bytes())};
    const auto extent = static_cast<size_t>(kRow) * kRows;
    std::vector<std::byte> from(extent, std::byte{1}), to(extent), packed(type->size());
    for (auto _ : state) {
        Data{from.data(), 1, *type}.pack(0, packed);
        Data{to.data(), 1, *type}.unpack(0, packed);
        benchmark::ClobberMemory();
    }
    report(state, type->size(), kRows);
}

// Blocks in any order, of as many lengths as are asked for, in turn.
void list(benchmark::State& state, Way way) {
    constexpr size_t kBlocks = 10'000;
    std::vector<size_t> places(kBlocks);
    std::iota(places.begin(), places.end(), 0);
    std::ranges::shuffle(places, std::mt19937{});
    std::vector<Block> blocks;
    for (size_t i = 0; i < kBlocks; ++i)
        blocks.push_back({static_cast<ptrdiff_t>(places[i] * 64),
                          8 * (1 + i % static_cast<size_t>(state.range(0))), &bytes()});
    const Ref<Datatype> type{*make_blocks(blocks)};
    measure(state, way, *type, kBlocks);
}

// Structs of two members, which do not touch.
void structs(benchmark::State& state, Way way) {
    constexpr size_t kCount = 5'000;
    const Block members[] = {{0, 4, &bytes()}, {8, 8, &bytes()}};
    const Ref<Datatype> member{*make_blocks(members)};
    const Ref<Datatype> padded{*make_resized(*member, 0, 24)};
    const Ref<Datatype> type{*make_contiguous(kCount, *padded)};
    measure(state, way, *type, 2 * kCount);
}

// A face of a cube of points, across its rows; and what a program's own loops take for it.
constexpr size_t kSide = 64, kEdge = kSide + 2, kPoint = 8;

void face(benchmark::State& state, Way way) {
    const Share planes{kEdge, {{1, kSide}}}, rows{kEdge, {{1, kSide}}}, points{kEdge, {{1, 1}}};
    const Ref<Datatype> type{
        *make_array_part(std::vector{planes, rows, points}, *Datatype::of(MPI_DOUBLE))};
    measure(state, way, *type, kSide * kSide);
}
void face_by_hand(benchmark::State& state, Way way) {
    std::vector<std::byte> memory(kEdge * kEdge * kEdge * kPoint, std::byte{1});
    std::vector<std::byte> packed(kSide * kSide * kPoint, std::byte{2});
    for (auto _ : state) {
        std::byte* out = packed.data();
        for (size_t plane = 1; plane <= kSide; ++plane)
            for (size_t row = 1; row <= kSide; ++row, out += kPoint) {
                std::byte* const point =
                    memory.data() + ((plane * kEdge + row) * kEdge + 1) * kPoint;
                if (way == Way::pack)
                    std::memcpy(out, point, kPoint);
                else
                    std::memcpy(point, out, kPoint);
            }
        benchmark::ClobberMemory();
    }
    report(state, packed.size(), kSide * kSide);
}

// One of five numbers on average, some of which are neighbours.
void chosen(benchmark::State& state, Way way) {
    std::vector<Block> blocks;
    std::mt19937 random;
    for (size_t i = 0; i < 50'000; ++i)
        if (random() % 5 == 0)
            blocks.push_back({static_cast<ptrdiff_t>(i * 8), 1, Datatype::of(MPI_DOUBLE)});
    const Ref<Datatype> type{*make_blocks(blocks)};
    measure(state, way, *type, blocks.size());
}

void near(benchmark::internal::Benchmark* vector) {
    for (const int length : {12, 24, 40}) vector->Arg(length);
    vector->RangeMultiplier(2)->Range(4, 8192);
}
void far(benchmark::internal::Benchmark* vector) {
    vector->RangeMultiplier(4)->Range(8, 8192)->Arg(1000);
}

BENCHMARK_CAPTURE(vector, pack_near, Way::pack, kNear)->Apply(near);
BENCHMARK_CAPTURE(vector, unpack_near, Way::unpack, kNear)->Apply(near);
BENCHMARK_CAPTURE(vector, pack_far, Way::pack, kFar)->Apply(far);
BENCHMARK_CAPTURE(vector, unpack_far, Way::unpack, kFar)->Apply(far);
BENCHMARK(columns)->RangeMultiplier(2)->Range(4, 256);
BENCHMARK_CAPTURE(list, pack, Way::pack)->Arg(1)->Arg(3);
BENCHMARK_CAPTURE(list, unpack, Way::unpack)->Arg(1)->Arg(3);
BENCHMARK_CAPTURE(structs, pack, Way::pack);
BENCHMARK_CAPTURE(structs, unpack, Way::unpack);
BENCHMARK_CAPTURE(face, pack, Way::pack);
BENCHMARK_CAPTURE(face, unpack, Way::unpack);
BENCHMARK_CAPTURE(face_by_hand, pack, Way::pack);
BENCHMARK_CAPTURE(face_by_hand, unpack, Way::unpack);
BENCHMARK_CAPTURE(chosen, pack, Way::pack);
BENCHMARK_CAPTURE(chosen, unpack, Way::unpack);

} // namespace

BENCHMARK_MAIN();
