// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace odrc::mpi {

// How long data that is not in one piece goes to its receiver (Wu, Wyckoff, Panda 2003, sections 4
// and 5).
enum class Scheme : uint8_t {
    generic, // packed as a whole, sent, unpacked as a whole
    bc_spup, // packed by segments, written to the receiver's segments, unpacked from there
    rwg_up,  // written to these out of where it lies, unpacked from there
    p_rrs,   // packed by segments, read from there into where it belongs
    multi_w, // written out of where it lies into where it belongs
};
inline constexpr size_t kSchemes = 5;

std::string_view name_of(Scheme scheme) noexcept;

// What a program's user wants of them (ODRC_MPI_DATATYPE).
struct WantedScheme {
    std::optional<Scheme> scheme; // none: the one that is expected to be quickest
    size_t segment{0};            // bytes; 0: as many as are expected to be best
    bool whole{false};            // unpacked when all has come, and not by segments
    bool single{false};           // writes are posted one by one, and not as lists
};

// auto, or the name of a scheme; behind a colon the bytes of a segment, "whole" (rwg-up) or
// "single" (multi-w). None for all else.
std::optional<WantedScheme> scheme_of(std::string_view text) noexcept;

// That of the environment, which is looked at once; who does not understand it says so.
const WantedScheme& wanted_scheme() noexcept;

} // namespace odrc::mpi
