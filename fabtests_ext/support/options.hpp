// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "fabric.hpp"
#include "prov/ofi/fi_odrc.h"

#include <CLI/CLI.hpp>

namespace fabtests_ext {

// The options by which every program here chooses what it runs on.
inline void add_choice(CLI::App& app, Choice& choice) {
    app.add_option("-p,--provider", choice.provider, "libfabric provider")->capture_default_str();
    app.add_option("-d,--domain", choice.domain, "its domain (default: the first)");
}

// The format of addresses, FI_FORMAT_UNSPEC or odrc's own.
inline void add_format(CLI::App& app, uint32_t& format) {
    app.add_flag_callback(
        "-a,--odrc-addresses", [&format] { format = FI_ODRC_ADDRESS; },
        "addresses of odrc's own format, which say more");
}

// How long and how often is measured.
struct Effort {
    int batches;
    int iterations;
    double seconds{10};
};
inline void add_effort(CLI::App& app, Effort& effort, const char* iterations) {
    app.add_option("-b,--batches", effort.batches, "of each figure, after a short one")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("-i,--iterations", effort.iterations, iterations)
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("-T,--time", effort.seconds,
                   "seconds after which no other batch of a figure begins")
        ->capture_default_str();
}

// Those of a program whose processes can be on two hosts.
inline void add_halves(CLI::App& app, Halves& halves) {
    auto* listen = app.add_flag("--listen", halves.listens,
                                "half of the processes are on another host, which connects");
    app.add_option("--connect", halves.connects_to, "the host that has the other half, and listens")
        ->excludes(listen);
}

} // namespace fabtests_ext
