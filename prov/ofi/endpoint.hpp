// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ofi/address_vector.hpp"
#include "ofi/completion_queue.hpp"
#include "ofi/counter_bindings.hpp"
#include "transfer/collectives.hpp"
#include "transfer/engine.hpp"

#include <optional>
#include <rdma/fi_atomic.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

namespace odrc::ofi {

class EventQueue;

// fi_endpoint(3): a reliable unconnected endpoint.
class Endpoint : public fid_ep {
public:
    using Fid = fid_ep;
    Endpoint(Domain& domain, const fi_info& info, void* context); // throws Error
    ~Endpoint();

    transfer::Engine& engine() noexcept { return *engine_; }
    transfer::Collectives& collectives() noexcept { return *collectives_; }
    Gate& gate() noexcept { return domain_.one_thread() ? domain_.gate() : gate_; }
    bool enabled() const noexcept { return engine_.has_value(); }
    const AddressVector* addresses() const noexcept { return addresses_; }
    EventQueue* events() noexcept { return events_; } // null: none is bound

    // Whether it was opened to do all of this (fi_getinfo(3)).
    bool offers(uint64_t caps) const noexcept { return (caps_ & caps) == caps; }
    bool keys_given() const noexcept { return domain_.keys_given(); }

    int bind(struct fid& other, uint64_t flags);
    int enable(); // throws Error
    void forget(fi_addr_t number) noexcept;
    void introduce(const ondemand::NativeAddress& peer) noexcept;

    // Lists of what addresses have no room for (fi_odrc.h). Throw std::bad_alloc.
    void will_publish_list() noexcept { lists_ = lists_ || !enabled(); }
    int list(void* bytes, size_t& length);
    int meet(fi_addr_t number, std::span<const std::byte> list);

    int set_name(const void* address, size_t length) noexcept;
    int name(void* address, size_t* length) noexcept;

    // The flags of calls that have none of their own (fi_endpoint(3): op_flags).
    uint64_t transmit_flags() const noexcept { return transmit_flags_; }
    uint64_t receive_flags() const noexcept { return receive_flags_; }
    int get_flags(uint64_t& flags) const noexcept;
    int set_flags(uint64_t flags) noexcept;

    // FI_OPT_MIN_MULTI_RECV, for receives to come (fi_endpoint(3)). Inside the gate.
    size_t min_multi_receive() const noexcept { return min_multi_receive_; }
    int get_option(int name, void* value, size_t& length) noexcept;
    int set_option(int name, const void* value, size_t length) noexcept;

    // The flags, with FI_COMPLETION where the operation is to complete visibly: always, unless
    // the queue was bound for selective completions.
    uint64_t with_transmit_completion(uint64_t flags) const noexcept {
        return transmit_selective_ ? flags : flags | FI_COMPLETION;
    }
    uint64_t with_receive_completion(uint64_t flags) const noexcept {
        return receive_selective_ ? flags : flags | FI_COMPLETION;
    }

    std::atomic<int> leaning{0};

private:
    int set_place(const void* value, size_t length) noexcept;
    int bind_addresses(AddressVector& addresses, uint64_t flags);
    int bind_queue(CompletionQueue& queue, uint64_t flags);
    int bind_counter(Counter& counter, uint64_t flags);
    int bind_events(EventQueue& events, uint64_t flags);
    void detach() noexcept;
    void meet_those_known() noexcept;

    Leaning on_domain_;
    Domain& domain_;
    const uint64_t caps_;
    const size_t transmit_size_;
    const size_t receive_size_;
    uint64_t transmit_flags_;
    uint64_t receive_flags_;
    // By default no message that goes in its frame is cut short.
    size_t min_multi_receive_{transfer::wire::kEagerLimit};
    bool transmit_selective_{false};
    bool receive_selective_{false};
    ondemand::Address address_;
    const ondemand::Seal seal_;
    const bool native_format_;
    PlaceInJob place_{}; // unknown: what the launcher says
    bool lists_{false};  // are published
    AddressVector* addresses_{nullptr};
    CompletionQueue* transmit_{nullptr};
    CompletionQueue* receive_{nullptr};
    EventQueue* events_{nullptr};
    CounterBindings counters_;
    std::optional<Leaning> on_addresses_, on_transmit_, on_receive_, on_events_;
    Gate gate_;
    std::optional<Looker> looker_;                     // where one looks for this endpoint alone
    std::optional<transfer::Collectives> collectives_; // called by the engine to its end
    std::optional<transfer::Engine> engine_;
};

extern fi_ops_msg message_ops, message_ops_before_enable;
extern fi_ops_tagged tagged_ops, tagged_ops_before_enable;
extern fi_ops_rma rma_ops, rma_ops_before_enable;
extern fi_ops_atomic atomic_ops, atomic_ops_before_enable;
extern fi_ops_collective collective_ops, collective_ops_before_enable;

// fi_query_atomic
int query_atomic(fid_domain* domain, fi_datatype type, fi_op op, fi_atomic_attr* attr,
                 uint64_t flags);

// fi_query_collective
int query_collective(fid_domain* domain, fi_collective_op coll, fi_collective_attr* attr,
                     uint64_t flags);

} // namespace odrc::ofi
