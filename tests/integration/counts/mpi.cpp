// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What messages of our MPI take that a process sends to itself, in steady state. Each step of them
// is a function of its own.

#include "options.hpp"

#include <array>
#include <cstdlib>
#include <mpi.h>

namespace counts {
namespace {

struct Message {
    const char* name;
    MPI_Datatype type;
    std::array<char, 8192> out{};
    std::array<char, 8192> in{};
    MPI_Request request{MPI_REQUEST_NULL};
};

} // namespace

// The steps that are counted, under names that can be asked for.
extern "C" {

[[gnu::noinline]] void step_post_receive(Message& m) {
    MPI_Irecv(m.in.data(), 1, m.type, 0, 0, MPI_COMM_WORLD, &m.request);
}
[[gnu::noinline]] void step_post(Message& m) {
    MPI_Send(m.out.data(), 1, m.type, 0, 0, MPI_COMM_WORLD);
}
[[gnu::noinline]] void step_complete_receive(Message& m) {
    MPI_Wait(&m.request, MPI_STATUS_IGNORE);
}

} // extern "C"

namespace {

// A column of a matrix of doubles.
constexpr int kRows = 16;
constexpr int kColumns = 4;

int run(const Settings& settings, Measurement& measurement) {
    // Under this name MPI takes it for any provider, and does not ask for automatic progress: whose
    // thread steps in for a program that callgrind makes slow, and then calls take what time makes
    // of them. libfabric finds it under either name.
    setenv("ODRC_MPI_PROVIDER", "ODRC", 1);
    MPI_Init(nullptr, nullptr);
    MPI_Datatype column;
    MPI_Type_vector(kRows, 1, kColumns, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    Message messages[] = {{.name = "mpi_8", .type = MPI_DOUBLE},
                          {.name = "mpi_vector", .type = column}};
    const auto send = [](Message& m) {
        step_post_receive(m);
        step_post(m);
        step_complete_receive(m);
    };
    for (int i = 0; i < 1000; ++i) send(messages[0]); // a ring is earned
    for (Message& m : messages)
        if (settings.wants(m.name)) measurement.measure(m.name, 128, [&] { send(m); });
    MPI_Type_free(&column);
    MPI_Finalize();
    return 0;
}

} // namespace
} // namespace counts

int main(int argc, char** argv) {
    using namespace counts;
    Settings settings;
    fabtests_ext::CommandLine command{"Messages of MPI, step by step."};
    add_settings(command, settings, {"mpi_8", "mpi_vector"});
    if (!command.read(argc, argv)) return command.status();
    return Measurement::run(settings, false, [&](Measurement& m) { return run(settings, m); });
}
