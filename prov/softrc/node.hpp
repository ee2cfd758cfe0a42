// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "softrc/layout.hpp"
#include "softrc/shared_memory.hpp"

#include <optional>
#include <span>

namespace odrc::soft {

// Where a queue pair number leads: a process that was alive when asked, and a place in it.
struct QpPlace {
    uint32_t slot;
    uint32_t generation;
    uint64_t port_offset; // in that process's arena

    bool operator==(const QpPlace&) const = default;
};

// This process's share in the node: the table through which the processes of one user on one
// host find each other. The table is anonymous memory that every member holds; a newcomer
// finds a member by the socket name each member has bound, in /proc/net/unix, and the table in
// that member's descriptors. When the last member dies, by whatever means, table and names are
// gone.
class NodeMember {
public:
    // Joins, or founds the node. arena_fd: this process's arena. Throws Error.
    explicit NodeMember(int arena_fd);
    ~NodeMember();

    std::span<const uint8_t, 16> id() const noexcept { return std::span{node().id}; }
    uint64_t instance() const noexcept { return node().instance; }
    uint32_t slot() const noexcept { return slot_; }
    uint32_t generation() const noexcept { return generation_; }

    // This process among all that ever were on the node, in the upper half of a VisitorId.
    uint64_t identity() const noexcept {
        return uint64_t{slot_} << 52 | uint64_t{generation_} << 32;
    }
    bool alive(uint64_t identity) const noexcept {
        return find_process(static_cast<uint32_t>(identity >> 52),
                            static_cast<uint32_t>(identity >> 32 & 0xfffff))
            .has_value();
    }

    // The next free number of the node for a queue pair whose port is at that offset of this
    // process's arena; 0 when there is none left.
    uint32_t allocate_qp_number(uint64_t port_offset) noexcept;
    void release_qp_number(uint32_t number) noexcept;

    // Its process may have died since.
    std::optional<QpPlace> find_qp(uint32_t number) const noexcept;

    // The process in a slot, while it is the one of that generation.
    struct Process {
        pid_t pid;
        int arena_fd;
    };
    std::optional<Process> find_process(uint32_t slot, uint32_t generation) const noexcept;

private:
    Node& node() const noexcept { return *table_.as<Node>(); }
    bool join(bool& kept_out);
    void found(bool kept_out);
    void announce();
    void take_slot(int arena_fd);
    bool alive(const ProcessSlot& slot) const noexcept;

    Fd fd_;
    Mapping table_;
    Fd name_;
    uint32_t slot_{0};
    uint32_t generation_{0};
};

} // namespace odrc::soft
