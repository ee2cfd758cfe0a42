// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/list.hpp"
#include "hostrc/packet.hpp"
#include "verbs_rc/objects.hpp"

#include <array>
#include <memory>
#include <vector>

namespace odrc::host {

inline constexpr uint32_t kSegments = 31; // of a work request, at most
inline constexpr uint32_t kInline = 256;  // bytes of its own, at most
inline constexpr uint32_t kMostMessage = uint32_t{1} << 30;

struct InStream; // of all that goes out over a connection, in its order
struct InQueue;  // of the program's work requests, in the order in which they complete

// Something to go out: a work request of the program's, or the answer to one of the peer's. It
// lies in registered memory, and so do the bytes that it has of its own.
struct WorkRequest : ListNode<InStream>, ListNode<InQueue> {
    PacketKind kind{};
    bool signaled{false};
    bool fenced{false};
    bool immediate_given{false};
    bool started{false}; // its packets have numbers
    bool ended{false};   // all of them are acknowledged, or never will be
    uint64_t wr_id{0};
    ibv_wc_opcode completes_as{};
    ibv_wc_status status{IBV_WC_SUCCESS};
    uint32_t length{0}; // of its data, or of what it asks for
    uint32_t immediate{0};
    uint32_t key{0};
    uint64_t address{0};
    uint32_t first{0};   // number of its first packet
    uint32_t packets{0}; // how many there are
    uint32_t answered{0};
    uint64_t last_datagram{0}; // by which the device below has to do with its memory
    uint32_t own_key{0};       // of the memory that it lies in
    uint32_t segment_count{0};
    std::array<ibv_sge, kSegments> segments;
    std::array<std::byte, kInline> own;

    uint32_t end() const noexcept { return first + packets; }
    bool asks_for_answer() const noexcept { return kind == PacketKind::read || is_atomic(); }
    bool is_atomic() const noexcept { return kind == PacketKind::swap || kind == PacketKind::add; }
    // Taken from where it lies when it goes out, and not from its own bytes.
    bool is_open_answer() const noexcept { return kind == PacketKind::answer && key != 0; }
    bool lacks_answer() const noexcept { return asks_for_answer() && answered < length; }
    // Its data are so many bytes of its own.
    void point_to_own(uint32_t bytes) noexcept {
        segments[0] = {
            .addr = reinterpret_cast<uint64_t>(own.data()), .length = bytes, .lkey = own_key};
        segment_count = 1;
        length = bytes;
    }
};

// Where those of all connections of a completion queue come from. It grows with what is under way,
// not with the connections.
class WorkRequests {
public:
    WorkRequests(verbs::Context& device, const verbs::Port& port, ibv_pd* pd) noexcept
        : device_{device}
        , port_{port}
        , pd_{pd} {}

    // Null where memory is out.
    WorkRequest* take() noexcept {
        if (free_.empty() && !grow()) return nullptr;
        WorkRequest* w = free_.pop_front();
        // Neither the segments nor its own bytes: they are written with their numbers.
        *static_cast<ListNode<InQueue>*>(w) = {};
        w->signaled = w->fenced = w->immediate_given = w->started = w->ended = false;
        w->status = IBV_WC_SUCCESS;
        w->length = w->immediate = w->first = w->packets = w->answered = w->segment_count = 0;
        w->last_datagram = 0;
        return w;
    }
    void give_back(WorkRequest& w) noexcept { free_.push_front(w); }

private:
    bool grow() noexcept;

    verbs::Context& device_;
    const verbs::Port& port_;
    ibv_pd* pd_;
    std::vector<verbs::Slab> slabs_;
    List<WorkRequest, InStream> free_;
};

// The pieces of a work request's data from a byte on, so many; gives how many pieces.
uint32_t slice(const WorkRequest& w, uint32_t begin, uint32_t bytes, ibv_sge* out) noexcept;

} // namespace odrc::host
