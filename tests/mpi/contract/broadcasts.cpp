// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// MPI 5.4: broadcasts.

#include "contract.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <random>
#include <string_view>
#include <unistd.h>

using contract::rank;
using contract::size;

namespace {

// Those of our provider go on while programs compute, if nobody wants them otherwise.
bool is_passed_on() {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(version, &length);
    return std::string_view{version}.find("over odrc") != std::string_view::npos &&
           !std::getenv("ODRC_MPI_BCAST");
}

// A file that all of a host know of.
std::filesystem::path common_file(MPI_Comm host) {
    char name[] = "/tmp/odrc_contract.XXXXXX";
    if (contract::rank_in(host) == 0) close(mkstemp(name));
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, host);
    return name;
}

} // namespace

TEST("a broadcast is what its root has, of any length and layout") {
    for (const int count : {1, 1000, 8192, 8193, 100'000}) {
        for (int root = 0; root < size(); root += 2) {
            std::vector<int> data(static_cast<size_t>(count), -1);
            if (rank() == root) std::iota(data.begin(), data.end(), root);
            MPI_Bcast(data.data(), count, MPI_INT, root, MPI_COMM_WORLD);
            bool right = true;
            for (int i = 0; i < count; ++i)
                right = right && data[static_cast<size_t>(i)] == root + i;
            CHECK(right);
        }
    }
    MPI_Datatype column;
    MPI_Type_vector(10'000, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    std::vector<int> data(20'000, -1);
    if (rank() == 0) std::iota(data.begin(), data.end(), 0);
    MPI_Bcast(data.data(), 1, column, 0, MPI_COMM_WORLD);
    bool right = true;
    for (int i = 0; i < 20'000; ++i)
        right = right && data[static_cast<size_t>(i)] == (rank() == 0 || i % 2 == 0 ? i : -1);
    CHECK(right);
    MPI_Type_free(&column);
}

TEST("what is broadcast comes to those behind one that computes") {
    if (!is_passed_on()) return;
    using Clock = std::chrono::steady_clock;
    MPI_Comm host;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    const int last = contract::size_of(host) - 1, self = contract::rank_in(host);
    for (const int count : {1, 2000, 8000}) { // more than that members need not have room for
        const auto file = common_file(host);
        std::vector<int> data(static_cast<size_t>(count), self);
        // All but the root and the last one call nothing until the last one has it.
        const auto end = Clock::now() + std::chrono::seconds{20};
        if (self > 0 && self < last)
            while (std::filesystem::exists(file) && Clock::now() < end) usleep(1000);
        MPI_Bcast(data.data(), count, MPI_INT, 0, host);
        CHECK(data == std::vector<int>(static_cast<size_t>(count), 0));
        if (self == last) std::filesystem::remove(file);
        CHECK(Clock::now() < end);
        MPI_Barrier(host);
    }
    MPI_Comm_free(&host);
}

TEST("broadcasts to groups that overlap end") {
    std::mt19937 random{7}; // the same for all
    std::vector<MPI_Comm> comms;
    for (int i = 0; i < 6; ++i) {
        MPI_Comm comm = MPI_COMM_NULL;
        const unsigned members = random();
        MPI_Comm_split(MPI_COMM_WORLD, members >> rank() & 1 ? 0 : MPI_UNDEFINED, rank(), &comm);
        comms.push_back(comm);
    }
    std::vector<int> data;
    for (int round = 0; round < 300; ++round) {
        MPI_Comm comm = comms[random() % comms.size()];
        const size_t count = random() % 8 ? random() % 100 : random() % 30'000;
        const unsigned from = random() % 64;
        if (comm == MPI_COMM_NULL) continue;
        const int root = static_cast<int>(from % static_cast<unsigned>(contract::size_of(comm)));
        data.assign(count, contract::rank_in(comm) == root ? round : -1);
        MPI_Bcast(data.data(), static_cast<int>(count), MPI_INT, root, comm);
        CHECK(data == std::vector<int>(count, round));
    }
    for (MPI_Comm& comm : comms)
        if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}
