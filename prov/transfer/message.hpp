// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/copy_few.hpp"
#include "base/list.hpp"
#include "base/short_list.hpp"
#include "ondemand/peer.hpp"
#include "srq/buffer_pool.hpp"
#include "transfer/wire.hpp"
#include "verbs_rc/group_registration.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <rdma/fi_rma.h>
#include <span>
#include <sys/uio.h>

namespace odrc::transfer {

using ondemand::Peer;

inline size_t length_of(const iovec& piece) noexcept { return piece.iov_len; }
inline size_t length_of(const fi_rma_iov& piece) noexcept { return piece.len; }

// Of all pieces; if that is more than can be said, the most that can.
template <class Piece>
size_t length_of(std::span<const Piece> pieces) noexcept {
    if (pieces.size() == 1) [[likely]]
        return length_of(pieces[0]);
    size_t length = 0;
    for (const Piece& v : pieces)
        if (__builtin_add_overflow(length, length_of(v), &length)) return SIZE_MAX;
    return length;
}

// So many pieces of memory lie within an operation, more in a pool.
inline constexpr size_t kFewPieces = 4;
using Iovs = ShortList<iovec, kFewPieces, wire::kIovLimit>;
// Registrations for one transfer of user memory, piece by piece.
using Registrations = ShortList<verbs::Registration, kFewPieces, wire::kIovLimit>;
static_assert(wire::kIovLimit <= verbs::kMostPieces);
// The peer's memory.
using RemoteSegments = ShortList<wire::RemoteSegment, kFewPieces, wire::kIovLimit>;

// Where those of an endpoint's operations lie that are long.
struct LongLists {
    Pool<Iovs::Long> iovs;
    Pool<Registrations::Long> registrations;
    Pool<RemoteSegments::Long> segments;
};

// The memory of one side of a message, in pieces.
struct Pieces {
    Iovs iov;
    size_t bytes{0};

    // False when memory is out.
    bool assign(std::span<const iovec> list, LongLists& longs) noexcept {
        if (list.size() == 1) [[likely]] {
            iov.make_one() = list[0];
            bytes = list[0].iov_len;
            return true;
        }
        if (!iov.make(list.size(), longs.iovs)) return false;
        std::ranges::copy(list, iov.list().begin());
        bytes = length_of(list);
        return true;
    }
    std::span<const iovec> list() const noexcept { return iov.list(); }
    size_t count() const noexcept { return iov.size(); }
    void* first() const noexcept { return count() > 0 ? iov[0].iov_base : nullptr; }

    // Fills what is behind so many bytes with others, as far as there is room.
    void fill_behind(size_t before, std::span<const std::byte> from) const noexcept {
        for (const iovec& v : list()) {
            const size_t skipped = std::min(v.iov_len, before);
            const size_t n = std::min(v.iov_len - skipped, from.size());
            copy_few(static_cast<std::byte*>(v.iov_base) + skipped, from.data(), n);
            before -= skipped;
            from = from.subspan(n);
        }
    }
    // Fills the pieces with the bytes, as far as they go. Gives how many.
    size_t fill(std::span<const std::byte> from) const noexcept {
        size_t done = 0;
        for (const iovec& v : list()) {
            const size_t n = std::min(v.iov_len, from.size() - done);
            copy_few(v.iov_base, from.data() + done, n);
            done += n;
        }
        return done;
    }
};

using Moment = verbs::RegistrationCache::Moment;

// A frame on its way out, with the operation of the application's that it carries, if it does.
struct Send : ondemand::Job {
    explicit Send(Peer& p) noexcept
        : Job{ondemand::JobKind::send}
        , peer{&p} {}

    Peer* peer;
    wire::FrameHeader header{};
    alignas(8) std::byte
        header_bytes[wire::kMaxMessageHeader]; // the header as it goes out, if gathered
    srq::Buffer* header_buffer{nullptr};       // or where it lies, if the device has to know that
    uint64_t data{0};                          // remote CQ data
    uint64_t kind{0};   // flags of the operation's completion; an answer has none
    bool wanted{false}; // its completion
    void* context{nullptr};
    Pieces pieces;                  // the message in user memory; atomic: where results go
    srq::Buffer* buffer{nullptr};   // or our copy of the frame's payload, behind kMaxHeader bytes
    srq::BufferPool* pool{nullptr}; // where the buffer goes back to
    size_t length{0};               // of the message; atomic: of what it changes
    size_t built{0};                // bytes of a payload that was made in the buffer
    // The message's memory, while the device gathers it, or the peer may read it.
    Registrations* registered{nullptr};
    uint32_t error{0};              // finish: what the peer is told
    bool report_errors{false};      // to the application
    bool posted{false};             // the lane still works on it
    bool numbered{false};           // it has its number in the session
    bool by_ring{false};            // it went into the peer's ring
    bool begun{false};              // slices of it have gone out, and the peer waits for the rest
    int failure{0};                 // it is lost, but the lane still works on it
    bool for_device{false};         // an atomic that the device can carry out
    bool again{false};              // a part: if it is lost, it is sent once more
    bool told{false};               // the program was told long ago that it is over
    bool given{false};              // the keys of its memory are the program's
    struct Parcel* parcel{nullptr}; // a packet of a group, or a word
};

// What an atomic of a peer's gives back, on its way into the frame that answers it.
struct Results {
    srq::BufferPool* pool;
    srq::Buffer* buffer; // null: nothing
    size_t bytes;

    std::byte* begin() const noexcept {
        return buffer ? buffer->data + wire::kMaxHeader + sizeof(wire::Finish) : nullptr;
    }
};

// What a frame says of a message.
struct Message {
    Peer* peer;
    uint32_t session; // of the lane it came over
    uint8_t flags;    // wire::FrameFlags
    bool announced;   // the message is still in its sender's memory
    uint64_t tag;
    uint64_t data;
    uint64_t handle;
    size_t length;
    std::span<const std::byte> payload; // the message, or the announcement's segments

    bool tagged() const noexcept { return flags & wire::kTagged; }
    bool collective() const noexcept { return flags & wire::kCollective; } // a part of one
    bool has_data() const noexcept { return flags & wire::kData; }
    bool confirm() const noexcept { return flags & wire::kConfirm; } // a finish for the handle
    bool wants_finish() const noexcept { return announced || confirm(); }
    // The sender has not been told that it failed: what it said of its memory still holds.
    bool in_session() const noexcept { return peer->in_session(session); }
};

// What a receive for many messages (FI_MULTI_RECV) keeps besides. Each message is given a receive
// of its own for its part of the buffer.
struct Many {
    size_t least{0};      // room below which the buffer takes no more messages
    size_t used{0};       // bytes of the buffer, from its front
    uint32_t parts{0};    // messages on their way into it
    bool full{false};     // it takes no more, and goes back to the application after the last part
    bool canceled{false}; // likewise; the application is told by itself
};

// What is left of something injected that went out at once, until its lane is done with it: this in
// front of a buffer, and the bytes behind kMaxHeader, with the header of a frame before them.
struct Kept {
    uint64_t address;   // write: in the peer's memory
    uint32_t rkey;      // likewise
    uint32_t soft_rkey; // likewise
    uint16_t length;
    uint8_t header; // message: bytes of it
    bool write;
};
static_assert(sizeof(Kept) + wire::kMaxMessageHeader <= wire::kMaxHeader);

// What a receive is for.
struct Selector {
    const Peer* source; // null: anyone
    uint64_t tag;
    uint64_t ignore; // bits of it that do not count
};
inline bool matches(const Selector& wanted, const Peer* peer, uint64_t tag) noexcept {
    return ((wanted.tag ^ tag) & ~wanted.ignore) == 0 && (!wanted.source || wanted.source == peer);
}

struct Matching {}; // a list of receives that a message may match
struct Posting {};  // a list of posted receives, in order

// A receive that the application has posted.
struct Receive : ListNode<Matching>, ListNode<Posting> {
    Peer* source{nullptr}; // null: from anyone
    uint64_t tag{0};
    uint64_t ignore{0};
    uint64_t order{0};                // of posting
    struct Pattern* pattern{nullptr}; // under which it is hashed, if it is
    void* context{nullptr};
    uint64_t kind{0};      // FI_RECV and FI_MSG or FI_TAGGED; 0: a part, not the program's
    bool wanted{false};    // its completion
    Moment handed_over{0}; // its memory
    Pieces pieces;
    std::optional<Many> many;
    Receive* whole{nullptr}; // the receive of whose buffer this is a part

    // A message of that peer's.
    bool matches(const Peer* peer, uint64_t its_tag) const noexcept {
        return transfer::matches({source, tag, ignore}, peer, its_tag);
    }
    // With its completion the whole buffer goes back to the application.
    bool is_last_part() const noexcept {
        return whole && whole->many->full && whole->many->parts == 1;
    }
};

struct ArrivalOrder {};

// A message that came before its receive.
struct Arrived : ListNode<ArrivalOrder> {
    static constexpr size_t kInside = 256;

    Message message;
    void* claimed_by{nullptr}; // the context of a peek that claimed it
    struct IndexEntry* entries{nullptr};
    std::unique_ptr<std::byte[]> outside; // where a longer payload is
    alignas(8) std::byte inside[kInside];

    std::byte* room() noexcept { return outside ? outside.get() : inside; }
};

// A message that comes in slices, as long as it is not whole.
struct Assembly : ListNode<> {
    Message message;  // without what it carries
    Receive* receive; // where that goes, or
    Arrived* arrived; // where it is kept, if nobody had posted a receive when it began
    size_t done{0};
};

} // namespace odrc::transfer
