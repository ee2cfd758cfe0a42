// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "tools/odrc_plan_costs.hpp"

#include "ondemand/connect_rule.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace odrc::plan {
namespace {

constexpr CostName kNames[] = {
    {"process", &Costs::process, "a process, until its endpoint is there, s"},
    {"exchange_step", &Costs::exchange_step, "a step of the launcher's exchange, s"},
    {"exchange_byte", &Costs::exchange_byte, "a byte that reaches a host by it, s"},
    {"lookup", &Costs::lookup, "to ask the launcher for what one process has published, s"},
    {"qp_create", &Costs::qp_create, "a queue pair, made, s"},
    {"qp_connect", &Costs::qp_connect, "a queue pair, connected, s"},
    {"qp_parallel", &Costs::qp_parallel, "queue pairs made or connected at a time"},
    {"qp_bytes", &Costs::qp_bytes, "memory of a queue pair, bytes"},
    {"qp_run", &Costs::qp_run, "numbers in a row before the device leaves one out; 0: none"},
    {"max_qp", &Costs::max_qp, "queue pairs of the device"},
    {"meet", &Costs::meet, "of two processes that reach each other's memory, s"},
    {"datagram", &Costs::datagram, "a datagram of the wireup, on both sides, s"},
    {"word", &Costs::word, "a message, on both sides, s"},
    {"turn", &Costs::turn, "until another one has its turn on a shared processor, s"},
    {"round_trip", &Costs::round_trip, "there and back, s"},
    {"processors", &Costs::processors, "of a host"},
    {"this_host_only", &Costs::this_host_only, "1: the device is soft0"},
};

// From the tables of bench/figures (connections.md, mpi.md), which are of two processors: what
// 1,024 endpoints take, divided by how many there were; meet, of what 16 and 64 take beyond that;
// process, lookup and turn, of MPI jobs of 16 and 64.
constexpr Costs kSoft0{.process = 0.1,
                       .exchange_step = 1e-3,
                       .exchange_byte = 1e-8,
                       .lookup = 35e-6,
                       .qp_create = 4e-6,
                       .qp_connect = 13e-6,
                       .qp_parallel = 1,
                       .qp_bytes = 1500,
                       .qp_run = 0,
                       .max_qp = 65536,
                       .meet = 47e-6,
                       .datagram = 31e-6,
                       .word = 4e-6,
                       .turn = 33e-6,
                       .round_trip = 0.1e-3,
                       .processors = 2,
                       .this_host_only = 1};

// A host of Frontera, with MVAPICH2, as Xu et al. (2024) describe it: 56 processors, and at most
// 131,072 queue pairs of its adapter. The paper's text has shares and ratios, and no times, so that
// all of these hold but for one factor: that a queue pair takes 0.1 ms is assumed. With 16 hosts of
// 56 processes, 78 % of the start go then into making queue pairs by one thread in each turn, a
// quarter of that into making them by many, and the exchange of all numbers is 83.5 % of twenty
// times the rest. What the processors do for a word, a datagram and a look-up is as measured here.
constexpr Costs kFrontera{.process = 0.125,
                          .exchange_step = 0,
                          .exchange_byte = 13.6e-6,
                          .lookup = 35e-6,
                          .qp_create = 100e-6,
                          .qp_connect = 20e-6,
                          .qp_parallel = 4,
                          .qp_bytes = ondemand::kBytesOfQueuePair,
                          .qp_run = 0,
                          .max_qp = 131072,
                          .meet = 0,
                          .datagram = 31e-6,
                          .word = 4e-6,
                          .turn = 33e-6,
                          .round_trip = 0.1e-3,
                          .processors = 56,
                          .this_host_only = 0};

} // namespace

std::span<const CostName> cost_names() noexcept { return kNames; }

const Costs* built_in(std::string_view name) noexcept {
    if (name == "soft0") return &kSoft0;
    return name == "frontera" ? &kFrontera : nullptr;
}

bool set_cost(Costs& costs, std::string_view text) noexcept {
    const size_t end = text.find_first_of("= ");
    const size_t begin = text.find_first_not_of(' ', end == text.npos ? end : end + 1);
    const auto cost = std::ranges::find_if(
        kNames, [&](const CostName& named) { return text.substr(0, end) == named.name; });
    if (cost == std::end(kNames) || begin == text.npos) return false;
    double value = 0;
    const char* const last = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + begin, last, value);
    const double least = cost->value == &Costs::qp_parallel || cost->value == &Costs::processors ||
                                 cost->value == &Costs::max_qp
                             ? 1
                             : 0;
    if (error != std::errc{} || stop != last || !std::isfinite(value) || value < least)
        return false;
    costs.*cost->value = value;
    return true;
}

} // namespace odrc::plan
