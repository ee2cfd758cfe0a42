// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// The device seam. Everything above it speaks verbs: the data path through the inline functions
// of <infiniband/verbs.h>, which dispatch through ibv_context::ops whatever the device, and the
// control path through Context, whose calls have the names, arguments and errors of the
// libibverbs functions they stand for (ibv_create_qp(3) and its kin).

#include "base/packet_counts.hpp"

#include <atomic>
#include <cstddef>
#include <infiniband/verbs.h>
#include <memory>
#include <netinet/in.h>
#include <optional>
#include <string>

namespace odrc::verbs {

// A flag of a send or of an atomic operation, beside those of ibv_send_flags, for devices that
// deliver (Port::delivers): it is over when the call returns, and nothing is heard of it any more;
// or nothing was done, and the call gives EAGAIN; or the peer was lost in the middle of it, and it
// gives EIO. What an atomic operation has found is put into its one segment, which need not be
// registered.
inline constexpr unsigned kDeliver = 1u << 31;

// The data path besides ibv_context::ops, of devices that deliver: a write that the program makes
// itself, and that is over with that.
struct DirectOps {
    // Where to write so many bytes, the last ones last; null if the write has to be posted. Until
    // the end of it, before which nothing else is asked of the queue pair, the memory stays there.
    std::byte* (*begin_write)(ibv_qp* qp, uint64_t address, uint32_t rkey,
                              uint32_t length){nullptr};
    void (*end_write)(ibv_qp* qp){nullptr};
};

// How peers are to know a queue pair.
struct Identity {
    uint32_t qpn;
    uint32_t psn;
};

// An opened device.
class Context {
public:
    virtual ~Context() = default;
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    virtual ibv_pd* alloc_pd() noexcept = 0;
    virtual int dealloc_pd(ibv_pd* pd) noexcept = 0;

    // With IBV_ACCESS_ON_DEMAND, a null address and SIZE_MAX: all memory of the process, where
    // Port::whole_memory says so.
    virtual ibv_mr* reg_mr(ibv_pd* pd, void* address, size_t length, int access) noexcept = 0;
    virtual int dereg_mr(ibv_mr* mr) noexcept = 0;
    // The pages behind the region may be others now; its keys stay. 0 or a positive errno.
    virtual int renew_mr(ibv_mr* mr) noexcept = 0;

    // Memory that the device moves data in and out of best. Null and errno on failure.
    virtual void* allocate(size_t bytes) noexcept = 0;
    virtual void release(void* memory, size_t bytes) noexcept = 0;

    virtual ibv_comp_channel* create_comp_channel() noexcept = 0;
    virtual int destroy_comp_channel(ibv_comp_channel* channel) noexcept = 0;
    virtual int get_cq_event(ibv_comp_channel* channel, ibv_cq** cq,
                             void** cq_context) noexcept = 0;
    virtual void ack_cq_events(ibv_cq* cq, unsigned count) noexcept = 0;

    virtual ibv_cq* create_cq(int cqe, void* cq_context, ibv_comp_channel* channel) noexcept = 0;
    virtual int destroy_cq(ibv_cq* cq) noexcept = 0;

    virtual ibv_srq* create_srq(ibv_pd* pd, ibv_srq_init_attr* attr) noexcept = 0;
    virtual int modify_srq(ibv_srq* srq, ibv_srq_attr* attr, int mask) noexcept = 0;
    virtual int destroy_srq(ibv_srq* srq) noexcept = 0;

    // Readable when there is an event. Unless it is made not to block, get_async_event() waits for
    // one.
    virtual int async_fd() const noexcept = 0;
    virtual int get_async_event(ibv_async_event* event) noexcept = 0;
    virtual void ack_async_event(ibv_async_event* event) noexcept = 0;

    virtual ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) noexcept = 0;
    virtual int modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) noexcept = 0;
    virtual int destroy_qp(ibv_qp* qp) noexcept = 0;

    // Where this process sees memory of the peer's that a connection may write to; else null. What
    // is there now is the device's affair: it is for no more than to have lines fetched in time.
    virtual const std::byte* peer_memory(ibv_qp*, uint64_t /*address*/, uint32_t /*rkey*/,
                                         size_t /*length*/) noexcept {
        return nullptr;
    }

    // Whether the peer's processor is far from this one just now: what is long is written past its
    // caches then, and takes it longer to read.
    virtual bool is_far(ibv_qp*) noexcept { return false; }

    virtual ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* attr) noexcept = 0;
    virtual int destroy_ah(ibv_ah* ah) noexcept = 0;

    // Where that is not by its own number, and a first packet's number of the program's choice.
    virtual std::optional<Identity> identity(const ibv_qp&) const noexcept { return std::nullopt; }

    // The number of the queue pair for the datagrams that connections of a completion queue are
    // made of, where the device does not keep them itself; else 0.
    virtual uint32_t datagrams(ibv_cq&) const noexcept { return 0; }
    // The registered memory that these lie in when they have come, and what goes out with them.
    virtual size_t bytes_for_datagrams(ibv_cq&) const noexcept { return 0; }
    // Set when something has come there for a connection that is yet to be made, and to be reset by
    // whoever makes it. Null where that cannot be.
    virtual std::atomic<bool>* called(ibv_cq&) const noexcept { return nullptr; }

    // What goes over connections of the completion queue is counted there from now on, where the
    // device does not keep them itself. They outlive it.
    virtual void count_packets(ibv_cq&, PacketCounts&) noexcept {}

    // The GID of a port whose GID is known only once the device is open; all zero for others.
    virtual ibv_gid gid() const noexcept { return {}; }

    // Of a device of this host alone: a random number of those that reach each other over it, and
    // never 0; 0 for others.
    virtual uint64_t node() const noexcept { return 0; }

    // Receiver-not-ready NAKs seen since the device was opened: exact where the device is ours,
    // else what the port's hardware counters show (all users of the port).
    virtual uint64_t rnr_naks() const noexcept = 0;

    DirectOps& direct() noexcept { return direct_; }

protected:
    Context() = default;

private:
    DirectOps direct_;
};

// One usable port of a device: what becomes a libfabric domain.
struct Port {
    std::string device; // "mlx5_0"
    uint8_t number{1};
    uint8_t port_count{1};
    ibv_device_attr device_attr{};
    ibv_port_attr port_attr{};
    ibv_gid gid{};
    uint8_t gid_index{0};
    // The IP address of the port's own network interface; ss_family is AF_UNSPEC without one.
    sockaddr_storage address{};
    // Ports with the same fabric name reach each other.
    std::string fabric;
    // Only endpoints of this host can be reached.
    bool this_host_only{false};
    // The last bytes of a write are not seen before all others, nor any of the next write before
    // them.
    bool writes_in_order{false};
    // A send or an atomic operation is over when the call returns, if that is asked for (kDeliver),
    // and the program may write into the peer's memory itself (DirectOps).
    bool delivers{false};
    // Memory of this process needs no registration region by region.
    bool whole_memory{false};
    // Its connections are kept by the processes at both ends (prov/hostrc): they can be made with
    // others of that kind alone, and need somebody to look after them all the time.
    bool by_datagrams{false};
    // The most inline data a queue pair takes, where the device says so; 0: it has to be tried.
    uint32_t max_inline{0};

    std::string name() const {
        return port_count > 1 ? device + ":" + std::to_string(number) : device;
    }
};

// A port that can be opened. Lives as long as the library is loaded.
class Device {
public:
    virtual ~Device() = default;
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    const Port& port() const noexcept { return port_; }

    // Throws Error.
    virtual std::unique_ptr<Context> open() const = 0;

protected:
    explicit Device(Port port)
        : port_{std::move(port)} {}

private:
    Port port_;
};

} // namespace odrc::verbs
