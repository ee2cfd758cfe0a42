// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// What a member of a group has of multicasts.

#include "base/list.hpp"
#include "transfer/multicast_credit.hpp"
#include "transfer/multicast_parcel.hpp"
#include "transfer/multicast_tree.hpp"

#include <memory>
#include <unordered_map>

namespace odrc::transfer {

struct CollectiveOperation;
struct Stream;

// The number of messages that have none.
inline constexpr uint64_t kUnordered = UINT64_MAX;

// A message at its root, from the call until the devices are done with it.
struct OutgoingMulticast : ListNode<> {
    wire::Multicast what;
    const std::byte* data{nullptr};
    size_t gone{0};        // bytes that have gone out
    uint32_t under_way{0}; // packets that are not over
    bool ordered{false};
    bool unnumbered{false}; // it waits for its number
    bool whole{false};      // all of it has gone out, or no more will
    int error{0};
    CollectiveOperation* operation{nullptr}; // a broadcast's; or
    void* context{nullptr};                  // the program's own message
    bool wanted{false};                      // its completion
};

// A message at any other member. Its packets are kept where they are, but for those of a message
// that has several, which the program is to have in one piece.
struct IncomingMulticast : ListNode<> {
    Stream* stream{nullptr};
    wire::Multicast what;
    size_t come{0};                          // bytes that have come
    uint64_t cost{0};                        // of what is kept
    CollectiveOperation* operation{nullptr}; // that it is for; null: it is early
    bool unwanted{false};                    // nothing of it is kept
    Parcel* first{nullptr};                  // packets that are kept
    Parcel* last{nullptr};
    std::unique_ptr<std::byte[]> together;

    // Of a whole one that is for the program.
    const std::byte* bytes() const noexcept { return together ? together.get() : first->payload; }
    bool is_whole() const noexcept { return come == what.length; }
};

// A tree of the group's, with one root, and what goes along it: one message after the other.
struct Stream {
    // Throws std::bad_alloc.
    Stream(Tree t, uint32_t r, Place p, uint64_t allowed)
        : tree{t}
        , root{r}
        , place{std::move(p)}
        , credit{place.children.size(), allowed} {}

    const Tree tree;
    const uint32_t root;
    const Place place;
    Credit credit;
    uint64_t passed{0};                   // cost of all that has come, or gone out at the root
    IncomingMulticast* incoming{nullptr}; // of which more is to come
    List<OutgoingMulticast> outgoing;     // of which more is to go
};

struct Multicasts {
    std::unordered_map<uint64_t, Stream> streams; // by root and tree
    List<IncomingMulticast> early;                // broadcasts that the program has not begun
    List<IncomingMulticast> arrived;              // messages for the program
    List<IncomingMulticast> held;                 // which others go before, by their number
    List<IncomingMulticast> lent;                 // which it has, and has not released
    uint64_t next_given{0};                       // number of an ordered message: the sequencer's
    uint64_t next_taken{0};                       // and of the one whose turn it is
    int failure{0}; // why the group is of no use any more; a fi_errno value
};

} // namespace odrc::transfer
