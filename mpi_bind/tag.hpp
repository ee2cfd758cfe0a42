// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstdint>

// What messages are told apart by, in the 64 bits of a tag (fi_tagged(3)): the communicator's
// context, the sender's rank in it, whether it waits until it is received (MPI_Ssend), whether this
// is but the offer of a message (schemes/), and MPI's tag. So a receive from anybody, or of any
// tag, is one that ignores some bits.
namespace odrc::mpi {

inline constexpr int kTagBits = 26;
inline constexpr int kSourceBits = 20;
inline constexpr int kContextBits = 16;
inline constexpr int kMostTag = (1 << kTagBits) - 1; // MPI_TAG_UB
inline constexpr int kMostRanks = 1 << kSourceBits;

inline constexpr uint64_t kOffered = uint64_t{1} << kTagBits;
inline constexpr uint64_t kSynchronous = uint64_t{1} << (kTagBits + 1);
inline constexpr int kSourceShift = kTagBits + 2;
inline constexpr int kContextShift = kSourceShift + kSourceBits;
static_assert(kContextShift + kContextBits == 64);

inline constexpr uint64_t kAnyTag = kMostTag;
inline constexpr uint64_t kAnySource = uint64_t{kMostRanks - 1} << kSourceShift;

// Nobody's context: tags in it are what a synchronous send waits for, by its number.
inline constexpr uint64_t kAcknowledgements = uint64_t{(1 << kContextBits) - 1} << kContextShift;

// Nobody's either: what the two sides of an offered message tell each other, by the number that the
// one who is told has for it (schemes/words.hpp).
inline constexpr uint64_t kWordsOfSchemes = uint64_t{(1 << kContextBits) - 2} << kContextShift;

constexpr uint64_t full_tag(uint32_t context, int source, int tag) noexcept {
    return uint64_t{context} << kContextShift | static_cast<uint64_t>(source) << kSourceShift |
           static_cast<uint64_t>(tag);
}
constexpr int source_in(uint64_t tag) noexcept {
    return static_cast<int>((tag & kAnySource) >> kSourceShift);
}
constexpr int tag_in(uint64_t tag) noexcept { return static_cast<int>(tag & kAnyTag); }

} // namespace odrc::mpi
