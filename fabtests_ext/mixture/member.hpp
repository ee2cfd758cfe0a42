// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Messages, writes and reads in random mixture, at random times, between memory in random pieces.
// Every process has memory for each of the others, who know at any time what must be in theirs:
// what is read is compared with that, and all of it at the end. A mark in that memory is written
// again and again, and messages and remote CQ data say how far it must have come before them.

#include "fabtests_ext/support/content.hpp"
#include "fabtests_ext/support/fabric.hpp"
#include "fabtests_ext/support/pieces.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <rdma/fi_rma.h>
#include <span>

namespace fabtests_ext::mixture {

struct Options {
    Choice choice;
    Halves halves;
    int processes{3};
    uint64_t operations{3000};
    size_t max_size{100'000};
    uint64_t seed{1};
    size_t window{16};
};

constexpr uint64_t kTag = 1, kFarewellTag = 2;

enum class Kind { send, receive, write, read, mark, farewell };

constexpr size_t kMarkRoom = 64; // at the front of a process's memory for another
// What a message carries in front, if there is room: how far the mark has come.
constexpr size_t kMarkSize = sizeof(uint64_t);

// The last message to everybody.
struct Farewell {
    uint64_t messages, writes, reads; // that went there
    uint64_t content;                 // of the memory there, as a number
};

struct Operation {
    fi_context2 context;
    Kind kind;
    int peer;
    uint64_t number; // of a receive: its place among those from that peer
    Pieces pieces;
    std::vector<std::byte> expected; // of a read
};

struct Peer {
    fi_addr_t address;
    fi_rma_iov memory; // for us
    std::vector<std::byte> expected;
    uint64_t mark{0};
    bool read_since{false}; // the last fence: writes must not overtake reads
    uint64_t sent{0}, written{0}, read{0};
    uint64_t receives{0}, received{0};
    std::optional<Farewell> farewell{};
};

inline void require(bool holds, const char* what) {
    if (!holds) throw std::runtime_error{what};
}

class Member {
public:
    // events: with FI_RMA_EVENT.
    Member(Team& team, const Options& options, bool events);

    void run();
    uint64_t bytes() const noexcept { return bytes_; }

private:
    // begin.cpp
    bool begin(int to); // false where there is no room now
    bool send(int to);
    bool write(int to);
    bool mark(int to);
    bool read(int to);
    std::unique_ptr<Operation> make(Kind kind, int peer, size_t size, size_t limit);
    bool keep(std::unique_ptr<Operation> op, ssize_t result, const char* call);
    ssize_t move(Operation& op, Peer& p, const std::vector<fi_rma_iov>& remote, uint64_t data,
                 uint64_t flags);
    std::vector<fi_rma_iov> places(const Peer& p, size_t size);
    uint64_t flags_for(size_t size);
    void post_receives();
    bool post_receive(int from, Kind kind, size_t size);
    size_t size_from(uint64_t r) const noexcept;
    uint64_t message_id(int from, int to, uint64_t k) const noexcept;

    // member.cpp
    void pause();
    template <class Condition>
    void until(Condition&& holds);
    bool poll();
    void on_received(const Operation& op, const fi_cq_tagged_entry& entry);
    uint64_t mark_of(int from) noexcept;
    void say_farewell(Peer& p);
    void check_memory() const;
    template <class Count>
    void check_counter(fid_cntr* counter, const char* what, Count&& count);
    void check_counters();

    Team& team_;
    const Options& options_;
    const bool events_;
    Random random_;
    Endpoint endpoint_;
    const size_t slice_;
    std::vector<std::byte> memory_;
    Owned<fid_mr> region_;
    std::vector<Peer> peers_;
    std::map<void*, std::unique_ptr<Operation>> operations_;
    size_t under_way_{0}; // of them, without receives
    uint64_t bytes_{0};
};

} // namespace fabtests_ext::mixture
