// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "command_line.hpp"
#include "fabric.hpp"
#include "prov/ofi/fi_odrc.h"

namespace fabtests_ext {

// The options by which every program here chooses what it runs on.
inline void add_choice(CommandLine& command, Choice& choice) {
    command.option("-p,--provider", choice.provider, "libfabric provider");
    command.option("-d,--domain", choice.domain, "its domain (default: the first)");
}

// The format of addresses.
struct AddressFormat {
    bool odrcs{false};
    uint32_t value() const noexcept { return odrcs ? FI_ODRC_ADDRESS : uint32_t{FI_FORMAT_UNSPEC}; }
};
inline void add_format(CommandLine& command, AddressFormat& format) {
    command.flag("-a,--odrc-addresses", format.odrcs,
                 "addresses of odrc's own format, which say more");
}

// How long and how often is measured.
struct Effort {
    int batches;
    int iterations;
    double seconds{10};
};
inline void add_effort(CommandLine& command, Effort& effort, const char* iterations) {
    command.option("-b,--batches", effort.batches, "of each figure, after a short one").positive();
    command.option("-i,--iterations", effort.iterations, iterations).positive();
    command.option("-T,--time", effort.seconds,
                   "seconds after which no other batch of a figure begins");
}

// Those of a program whose processes can be on two hosts.
inline void add_halves(CommandLine& command, Halves& halves) {
    command.flag("--listen", halves.listens,
                 "half of the processes are on another host, which connects");
    command.option("--connect", halves.connects_to, "the host that has the other half, and listens")
        .excludes("--listen");
}

} // namespace fabtests_ext
