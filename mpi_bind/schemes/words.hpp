// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "fabric.hpp"
#include "schemes/scheme.hpp"
#include "tag.hpp"

// What sender and receiver of an offered message tell each other. Both are of one job, and of one
// kind of machine.
//
//     sender                                              receiver
//       Offer, as a message of the program's  ----------->  meets its receive
//       <----------------------------------------  Answer: the scheme, and where to
//       segments, written; what they are by remote CQ data  ->   } BC-SPUP, RWG-UP
//       <---------------------------------  Granted: so many segments may be written }
//       Ready: so many segments may be read  -------------->   } P-RRS
//       <-------------------------------------  Granted: so many have been read      }
//       all of it, written; and that it is all, by remote CQ data ->  Multi-W
//       all of it, packed, as a message  ------------------>   Generic
namespace odrc::mpi {

// What there is to know of the pieces that data is in, for the choice of a scheme.
struct Shape {
    uint64_t piece;  // mean bytes of one
    uint64_t median; // and of that in the middle
    uint64_t extent; // bytes from the first to the last
};

// Where a receiver may find out what reading and writing take (costs.hpp). Keys of 0: nowhere.
struct TrialMemory {
    RemoteMemory staging; // as segments are in
    RemoteMemory plain;   // as programs have it
};

// How soon messages that are alike follow one another where they go by Generic, each alone, if they
// are offered and if they are not: nanoseconds. 0: not known.
struct Pace {
    uint32_t offered;
    uint32_t as_it_is;
};

struct Offer {
    uint64_t bytes;
    Shape shape;
    uint32_t number; // the sender's, for this message
    uint8_t wanted;  // a Scheme that it was told to take, or kAnyScheme
    uint8_t way; // by which the last one like it came to the sender, unless that was said before
    bool copies_slowly; // the sender, just now (copy_pace.hpp)
    bool is_trial;      // it tries whether any way is quicker than not offering: Generic never is
    uint32_t unasked;   // which was Generic: so many behind it are not offered
    uint32_t asking;    // nanoseconds until an offer of the sender's is answered, at least
    Pace pace;          // of the sender's messages that are like this one
    TrialMemory trial;
};
inline constexpr uint8_t kAnyScheme = 0xff;

struct Answer {
    uint64_t bytes; // that are wanted: as many as there is room for; of 0 there is nothing to do
    RemoteMemory memory; // segments, one behind the other, or Multi-W: the data's address
    uint32_t number;     // the receiver's
    uint32_t segment;    // bytes of one
    uint32_t room;       // for so many of them at a time
    Scheme scheme;
    bool single;      // Multi-W: no lists
    bool is_trial;    // the scheme is tried: the next ones may be quicker
    uint32_t unasked; // Generic: so many behind it, alone, would not be slower if not offered
    // Multi-W: where the data lies. Its layout, if the sender does not know it, comes behind the
    // answer in a message of its own.
    uint64_t count;
    int64_t extent;
    uint32_t type;
    uint32_t version;
    uint64_t layout_bytes; // 0: it knows it
};

struct Ready {
    RemoteMemory memory; // in which segments are packed, one behind the other
    uint64_t segments;   // since the message began
};

struct Granted {
    uint64_t segments; // since the message began
};

// ---- by what they are found --------------------------------------------------------------------

inline constexpr int kNumberBits = 24; // messages under way in each direction

constexpr uint64_t to_sender(uint32_t number) noexcept { return kWordsOfSchemes | number; }
constexpr uint64_t to_receiver(uint32_t number) noexcept {
    return kWordsOfSchemes | uint64_t{1} << kNumberBits | number;
}

// For everybody at any time (wishes.hpp).
inline constexpr uint64_t kWishes = kWordsOfSchemes | uint64_t{1} << (kNumberBits + 1);

// With an offer: what has to be known of it in any case.
inline constexpr int kLengthBits = 64 - kNumberBits;
constexpr uint64_t offer_bits(uint32_t number, uint64_t bytes) noexcept {
    return uint64_t{number} << kLengthBits | bytes;
}
constexpr uint32_t number_in_offer(uint64_t bits) noexcept {
    return static_cast<uint32_t>(bits >> kLengthBits);
}
constexpr uint64_t length_in_offer(uint64_t bits) noexcept {
    return bits & ((uint64_t{1} << kLengthBits) - 1);
}

// Offers that come into the memory of receives. Where that is too small, or other receives into the
// same memory have overwritten one, as programs that measure do (though MPI 3.7 does not allow it),
// it is one that leaves open what it can, and of the shape that the last one of as many bytes had.
class OffersRead {
public:
    Offer read(std::span<const std::byte> memory, uint64_t bits) noexcept;

private:
    uint64_t bytes_{0}; // of the last one that was whole
    Shape shape_{};
};

// With what was written: which segment, of which message.
constexpr uint64_t written_bits(uint32_t number, uint64_t segment) noexcept {
    return uint64_t{number} << kLengthBits | segment;
}
constexpr uint32_t number_in_written(uint64_t bits) noexcept { return number_in_offer(bits); }
constexpr uint64_t segment_in_written(uint64_t bits) noexcept { return length_in_offer(bits); }

} // namespace odrc::mpi
