// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Who takes part in a benchmark of noncontiguous messages, in turns within one process: what one
// process measures differs from what the next one does by more than these do from each other.

#include "bench/apps/noncontiguous.hpp"

#include <map>
#include <numeric>
#include <random>

namespace bench {

enum class Way {
    kDatatype,   // described to MPI
    kManual,     // packed and unpacked by the program, in memory that it keeps
    kApart,      // the same, what is received in other memory than what is sent
    kContiguous, // as many bytes that are neither: the least that could be
    kMultiple,   // a message for each block
};

// One of these ways, or a datatype in a communicator of which MPI is asked something: how odrc_mpi
// moves what it describes (the hint odrc_datatype). Behind either, ":again": the same once more, to
// see how much two of the same differ.
class Contender {
public:
    explicit Contender(const std::string& name)
        : name_{name} {
        static const std::map<std::string, Way> ways{{"datatype", Way::kDatatype},
                                                     {"manual", Way::kManual},
                                                     {"manual:apart", Way::kApart},
                                                     {"contiguous", Way::kContiguous},
                                                     {"multiple", Way::kMultiple}};
        const std::string asked = name.substr(0, name.find(kAgain));
        const auto found = ways.find(asked);
        if (found != ways.end()) way_ = found->second;
        MPI_Info info;
        MPI_Info_create(&info);
        if (found == ways.end()) MPI_Info_set(info, "odrc_datatype", asked.c_str());
        MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm_);
        MPI_Info_free(&info);
        if (found == ways.end()) check_hint();
    }
    ~Contender() {
        if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
    }
    Contender(Contender&& other) noexcept
        : name_{std::move(other.name_)}
        , way_{other.way_}
        , comm_{std::exchange(other.comm_, MPI_COMM_NULL)} {}

    const std::string& name() const noexcept { return name_; }
    Way way() const noexcept { return way_; }
    MPI_Comm comm() const noexcept { return comm_; }

private:
    static constexpr std::string_view kAgain = ":again";

    void check_hint() const {
        MPI_Info used;
        MPI_Comm_get_info(comm_, &used);
        int length = 0, flag = 0;
        MPI_Info_get_valuelen(used, "odrc_datatype", &length, &flag);
        MPI_Info_free(&used);
        if (!flag) give_up("a way that this MPI does not know");
    }

    std::string name_;
    Way way_{Way::kDatatype};
    MPI_Comm comm_{MPI_COMM_NULL};
};

using Contenders = std::vector<Contender>;

inline Contenders make_contenders(const std::vector<std::string>& names) {
    Contenders all;
    for (const std::string& name : names) all.emplace_back(name);
    return all;
}

// What a repetition takes, by the median of as many as fit into so many seconds, three at least,
// going by the quicker one of two that are not counted. All ranks repeat it as often. The body says
// what it took, which need not be all that it does.
template <class Body>
double median(MPI_Comm comm, double seconds, Body&& body) {
    double each = seconds;
    for (int i = 0; i < 2; ++i) {
        const double begin = now();
        body();
        each = std::min(each, now() - begin);
    }
    int times = int(std::clamp(seconds / each, 3.0, 1e5));
    MPI_Bcast(&times, 1, MPI_INT, 0, comm);
    std::vector<double> taken;
    for (int i = 0; i < times; ++i) taken.push_back(body());
    std::ranges::nth_element(taken, taken.begin() + times / 2);
    return taken[size_t(times / 2)];
}

// Rounds in which everybody is measured once, in another order each time: what one leaves in
// caches, and where its processes come to lie, is felt by who comes next.
struct Rounds {
    int count{3};
    double seconds{0.05}; // for each figure

    // Reports "NAME CONTENDER X BYTES VALUE UNIT ROUND", where the body says how many seconds one
    // repetition of a contender, told by its number, took, and value_of() what that comes to.
    template <class Body, class ValueOf>
    void measure(const Contenders& contenders, const std::string& name, const std::string& x,
                 size_t bytes, const char* unit, ValueOf&& value_of, Body&& body) const {
        std::vector<size_t> order(contenders.size());
        std::iota(order.begin(), order.end(), size_t{0});
        std::mt19937 random; // the same on all ranks
        for (int round = 0; round < count; ++round) {
            std::ranges::shuffle(order, random);
            for (const size_t i : order) {
                const double each = median(contenders[i].comm(), seconds, [&] { return body(i); });
                if (Ranks{MPI_COMM_WORLD}.rank != 0) continue;
                std::printf("%s %s %s %zu %.4g %s %d\n", name.c_str(), contenders[i].name().c_str(),
                            x.c_str(), bytes, value_of(each), unit, round);
                std::fflush(stdout);
            }
        }
    }
    template <class Body>
    void measure_us(const Contenders& contenders, const std::string& name, const std::string& x,
                    size_t bytes, Body&& body) const {
        measure(
            contenders, name, x, bytes, "us", [](double s) { return 1e6 * s; }, body);
    }

    void add_options(CommandLine& command) {
        command.option("-r,--rounds", count);
        command.option("-t,--time", seconds, "seconds for each figure of a round");
    }
};

} // namespace bench
