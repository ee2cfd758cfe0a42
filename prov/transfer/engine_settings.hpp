// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ondemand/wireup.hpp"
#include "transfer/completion_sink.hpp"
#include "transfer/crossovers.hpp"
#include "transfer/region_tallies.hpp"
#include "transfer/tally.hpp"

namespace odrc::transfer {

// What an endpoint's engine is told of the endpoint.
struct EngineSettings {
    CompletionSink* transmit; // null: nobody wants to know
    CompletionSink* receive;
    Tallies tallies;
    size_t transmit_size; // operations at a time
    size_t receive_size;
    bool directed;  // receives name their source (FI_DIRECTED_RECV)
    bool sources;   // completions name it (FI_SOURCE)
    bool waitable;  // somebody may sleep until something happens
    bool automatic; // progress is made while the program does not (FI_PROGRESS_AUTO)
    // What peers read and write is counted, here and in the tallies (FI_RMA_EVENT); null: it is
    // not.
    RegionTallies* regions;
    ondemand::Address address;
    ondemand::Seal seal; // of what makes connections
    bool atomics;        // peers may have the device change words of this domain's regions
    bool native_format;  // of the address that peers get
    PlaceInJob place;    // in whose processes' ranges its queue pairs are
    bool lists;          // the program tells peers of those that the address has no room for
    CrossoversOfDomain crossovers;
};

} // namespace odrc::transfer
