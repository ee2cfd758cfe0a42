// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/pool.hpp"
#include "ondemand/address_table.hpp"
#include "transfer/arguments.hpp"
#include "transfer/collective_group.hpp"
#include "transfer/completion_sink.hpp"
#include "transfer/multicast.hpp"
#include "transfer/part_sink.hpp"
#include "verbs_rc/device.hpp"

#include <sys/types.h>
#include <unordered_map>

namespace odrc::transfer {

class Engine;

// The most bytes that one member gives to one other, and the most members.
inline constexpr size_t kMaxCollective = size_t{1} << 32;
inline constexpr uint32_t kMaxMembers = std::numeric_limits<int32_t>::max();

// The number of bytes of an element, if the collective can be had for the type and, where it
// combines, the operation; 0: it cannot. A barrier has no elements.
size_t element_size(fi_collective_op kind, fi_datatype type, fi_op op) noexcept;

// Hears of the end of a join, inside the endpoint's gate.
class Joining {
public:
    virtual void joined(int error) noexcept = 0; // a fi_errno value; 0: it went well

protected:
    ~Joining() = default;
};

// The groups that an endpoint has joined, and what is under way in them. All messages are parts
// that its engine sends and receives. Calls are made inside the endpoint's gate.
class Collectives final : PartSink {
public:
    struct Settings {
        CompletionSink* completions; // null: nobody wants to know
        size_t size;                 // operations at a time
    };

    // The engine comes to call this from now on: it ends first.
    Collectives(Engine& engine, const verbs::Port& port, const ondemand::AddressTable& addresses,
                const Settings& settings) noexcept;

    // ---- groups (collective_group.cpp) ----
    // The group's address is there at once; its joining hears when it may be used, unless it is
    // left before. 0 or a negative fi_errno. Throws std::bad_alloc.
    int join(std::span<const fi_addr_t> members, Joining& joining, fi_addr_t& address);
    void leave(fi_addr_t group) noexcept;
    bool has_group(fi_addr_t address) noexcept { return find_group(address) != nullptr; }

    // ---- operations (collectives.cpp) ----
    // 0 or a negative fi_errno; -FI_EAGAIN: later, after progress.
    ssize_t begin(const CollectiveArguments& arguments) noexcept;
    // A broadcast by packets is over.
    void ended(CollectiveOperation& op, int error) noexcept;

    Multicast& multicast() noexcept { return multicast_; }

private:
    // collective_group.cpp
    CollectiveGroup* find_group(fi_addr_t address) noexcept;
    int identify(CollectiveGroup& group, uint64_t& identity);

    // collectives.cpp
    CollectiveOperation* make_operation(CollectiveGroup& group, const Collective& what) noexcept;
    void advance(CollectiveOperation& op) noexcept;
    void begin_round(CollectiveOperation& op) noexcept;
    void part_over(CollectiveOperation& op, int error) noexcept;
    void not_sent(CollectiveOperation& op, int error) noexcept;
    void break_off(CollectiveOperation& op, int error) noexcept;
    void finish(CollectiveOperation& op) noexcept;
    void complete(const CollectiveOperation& op) noexcept;

    // collective_parts.cpp
    int send_part(CollectiveOperation& op) noexcept;
    void send_error(const CollectiveOperation& op, uint32_t rank) noexcept;
    int receive_part(CollectiveOperation& op) noexcept;
    int error_of(const CollectiveOperation& op, const Message& message, int error) const noexcept;
    void part_sent(void* context, int error) noexcept override;
    void part_received(void* context, const Message& message, int error) noexcept override;
    void part_lost(void* context, int error) noexcept override;
    bool is_late(uint64_t tag) noexcept override;

    Engine& engine_;
    const verbs::Port& port_;
    const ondemand::AddressTable& addresses_;
    const Settings settings_;
    Pool<CollectiveOperation> operations_;
    Multicast::Groups groups_;                     // by our number
    std::unordered_map<uint64_t, uint32_t> joins_; // of the members that the identity stands for
    uint32_t last_group_{0};
    Multicast multicast_;
};

} // namespace odrc::transfer
