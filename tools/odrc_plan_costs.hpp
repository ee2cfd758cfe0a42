// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <span>
#include <string_view>

namespace odrc::plan {

// What things take on some machine: seconds of one processor where nothing else is said. All are
// numbers with names, by which they are given (odrc-plan(1)).
struct Costs {
    // The launcher, and what a process does besides.
    double process{0};       // a process, until its endpoint is there
    double exchange_step{0}; // a step of an exchange among hosts, or within one
    double exchange_byte{0}; // a byte that reaches a host in an exchange of all with all
    double lookup{0};        // to ask the launcher for what one process has published
    // The device.
    double qp_create{0};
    double qp_connect{0};
    double qp_parallel{1}; // queue pairs that it makes or connects at a time
    double qp_bytes{0};    // of memory, each
    double qp_run{0};      // numbers in a row before it leaves one out; 0: it leaves out none
    double max_qp{0};      // it has no more: of a host
    // What is said.
    double meet{0};       // of two processes that reach each other's memory (soft0)
    double datagram{0};   // of the wireup: to send it, to take it in, and what it means
    double word{0};       // a message, likewise
    double turn{0};       // until another process has its turn, where they share processors
    double round_trip{0}; // seconds that pass
    // The host.
    double processors{1};
    double this_host_only{0}; // 1: the device is soft0; else peers of a host meet on that beside it
};

struct CostName {
    const char* name;
    double Costs::*value;
    const char* what;
};
std::span<const CostName> cost_names() noexcept;

// Those that are built in, by name: "soft0", "frontera". Null: none of that name.
const Costs* built_in(std::string_view name) noexcept;

// "name=value", or "name value". False if there is no such cost, or it cannot be that.
bool set_cost(Costs& costs, std::string_view text) noexcept;

} // namespace odrc::plan
