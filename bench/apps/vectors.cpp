// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Columns of an array of ints between two ranks: half of what they take there and back, and how
// many bytes a second go one way. bench/datatypes puts the ways of an MPI to move them side by
// side.

#include "bench/apps/exchange.hpp"

namespace {

using namespace bench;

constexpr int kRows = 128;
constexpr int kRow = 4096; // ints
constexpr int kWindow = 100;
// Of the messages under way, so that those that a program packs beforehand find room.
constexpr size_t kUnderWay = size_t{32} << 20;

struct Options {
    Way way{Way::kDatatype};
    bool contiguous_sender{false}, contiguous_receiver{false}, fresh{false};
    double seconds{0.05};
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

void measure(const Options& options, size_t x, const Layout& sent, const Layout& received) {
    const size_t bytes = sent.bytes;
    const int window = options.fresh ? 1 : int(std::min(size_t{kWindow}, kUnderWay / bytes));
    Exchange exchange{options.way, sent, received, window};
    exchange.check();
    if (options.fresh) {
        exchange.renew();
        exchange.check();
        const double seconds = median(MPI_COMM_WORLD, options.seconds, [&] {
            exchange.renew();
            return exchange.latency();
        });
        report("fresh", x, bytes, 1e6 * seconds, "us");
        return;
    }
    const double latency =
        median(MPI_COMM_WORLD, options.seconds, [&] { return exchange.latency(); });
    report("latency", x, bytes, 1e6 * latency, "us");
    exchange.check_stream(window);
    const double stream =
        median(MPI_COMM_WORLD, options.seconds, [&] { return exchange.stream(window); });
    report("bandwidth", x, bytes, double(bytes) * window / stream / 1e6, "MB/s");
}

} // namespace

int main(int argc, char** argv) {
    const Mpi mpi{argc, argv};
    Options options;
    CLI::App app{"Columns of an array of 128 x 4096 ints, between two ranks."};
    app.add_option(
           "-w,--way", options.way,
           "described by a datatype, packed by hand, as many contiguous bytes, or a message "
           "for each row")
        ->transform(CLI::CheckedTransformer(kWays));
    auto* const receiver = app.add_flag("--receiver-only", options.contiguous_sender,
                                        "only where they are received they are columns");
    app.add_flag("--sender-only", options.contiguous_receiver, "only where they are sent from")
        ->excludes(receiver);
    app.add_flag("--fresh", options.fresh,
                 "each message from and to memory that had none before, one at a time");
    app.add_option("-x,--columns", options.columns, "how many")->delimiter(',');
    app.add_option("-t,--time", options.seconds, "seconds for each figure")->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    for (const int columns : options.columns) {
        if (columns < 1 || columns > kRow) give_up("there are 1 to 4096 columns");
        const Layout layout{Columns{columns}}, row{Contiguous{layout.bytes, MPI_INT}};
        measure(options, size_t(columns), options.contiguous_sender ? row : layout,
                options.contiguous_receiver ? row : layout);
    }
    return 0;
}
