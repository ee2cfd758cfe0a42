// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Columns of an array of ints between two ranks: half of what they take there and back, and how
// many bytes a second go one way. bench/datatypes puts the ways to move them side by side.

#include "bench/apps/exchange.hpp"

namespace {

using namespace bench;

constexpr int kRows = 128;
constexpr int kRow = 4096; // ints
constexpr int kWindow = 100;
// Of the messages under way, so that those that a program packs beforehand find room.
constexpr size_t kUnderWay = size_t{32} << 20;

struct Options {
    std::vector<std::string> ways{"datatype"};
    bool contiguous_sender{false}, contiguous_receiver{false}, fresh{false};
    Rounds rounds;
    std::vector<int> columns{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};
};

// The first columns of all.
struct Columns {
    size_t extent() const noexcept { return sizeof(int) * kRows * kRow; }
    Type type() const {
        return Type{
            [this](MPI_Datatype* made) { MPI_Type_vector(kRows, columns, kRow, MPI_INT, made); }};
    }
    template <class Visit>
    void walk(Visit&& visit) const {
        for (size_t row = 0; row < kRows; ++row)
            visit(row * kRow * sizeof(int), size_t(columns) * sizeof(int));
    }

    int columns;
};

void measure(const Options& options, const Contenders& contenders, int columns, const Layout& sent,
             const Layout& received) {
    const size_t bytes = sent.bytes;
    const std::string x = std::to_string(columns);
    const int window = options.fresh ? 1 : int(std::min(size_t{kWindow}, kUnderWay / bytes));
    ExchangedMemory memory{sent, received, window};
    auto exchanges = make_exchanges(contenders, sent, received, memory);
    if (options.fresh) {
        for (Exchange& exchange : exchanges) {
            exchange.renew();
            exchange.check();
        }
        return options.rounds.measure_us(contenders, "fresh", x, bytes, [&](size_t i) {
            exchanges[i].renew();
            return exchanges[i].latency();
        });
    }
    options.rounds.measure_us(contenders, "latency", x, bytes,
                              [&](size_t i) { return exchanges[i].latency(); });
    for (Exchange& exchange : exchanges) exchange.check_stream(window);
    options.rounds.measure(
        contenders, "bandwidth", x, bytes, "MB/s",
        [&](double seconds) { return double(bytes) * window / seconds / 1e6; },
        [&](size_t i) { return exchanges[i].stream(window); });
}

} // namespace

int main(int argc, char** argv) {
    const Mpi mpi{argc, argv};
    Options options;
    CommandLine command{"Columns of an array of 128 x 4096 ints, between two ranks."};
    command
        .option("-w,--ways", options.ways,
                "described by a datatype, packed by hand (manual; manual:apart: into other memory "
                "than what comes in), as many contiguous bytes, a "
                "message for each row (multiple), or a datatype in a way of odrc_mpi's (its hint "
                "odrc_datatype)")
        .with_commas();
    command.flag("--receiver-only", options.contiguous_sender,
                 "only where they are received they are columns");
    command.flag("--sender-only", options.contiguous_receiver, "only where they are sent from")
        .excludes("--receiver-only");
    command.flag("--fresh", options.fresh,
                 "each message from and to memory that had none before, one at a time");
    command.option("-x,--columns", options.columns, "how many").with_commas();
    options.rounds.add_options(command);
    if (!command.read(argc, argv)) return command.status();
    const Contenders contenders = make_contenders(options.ways);
    for (const int columns : options.columns) {
        if (columns < 1 || columns > kRow) give_up("there are 1 to 4096 columns");
        const Layout layout{Columns{columns}}, row{Contiguous{layout.bytes, MPI_INT}};
        measure(options, contenders, columns, options.contiguous_sender ? row : layout,
                options.contiguous_receiver ? row : layout);
    }
    return 0;
}
