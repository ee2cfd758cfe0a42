// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "prov/ofi/fi_odrc.h"

#include <cstddef>
#include <list>
#include <memory>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <span>
#include <string>
#include <vector>

namespace odrc::mpi {

// How something that was given to the provider ended.
struct Outcome {
    size_t length; // of what came
    uint64_t tag;
    uint64_t data;
    int error; // a fi_errno value
};

// Something that is with the provider until it is done.
struct Operation {
    fi_context2 space{}; // the provider's, as long as it has it
    void (*done)(Operation&, const Outcome&) noexcept;

    explicit Operation(void (*f)(Operation&, const Outcome&) noexcept) noexcept
        : done{f} {}
    static Operation& of(void* context) noexcept { return *static_cast<Operation*>(context); }
};

class FabricGroup;

// Memory as those name it who read and write it from elsewhere (fi_rma(3)).
struct RemoteMemory {
    uint64_t address;
    uint64_t key;
};

// An endpoint for tagged messages, of any provider: what of libfabric this library uses.
class Fabric {
public:
    // The name of a provider as in FI_PROVIDER(fi_provider(7)). Throws StartError.
    explicit Fabric(const std::string& provider);
    ~Fabric();
    Fabric(const Fabric&) = delete;
    Fabric& operator=(const Fabric&) = delete;

    // What others have to know to speak to us: the address and, where the provider has one, the
    // list of queue pairs for them. Throws StartError.
    std::vector<std::byte> contact() const;
    fi_addr_t introduce(std::span<const std::byte> contact); // throws StartError
    // Whether the provider connects to those it is told of, and only then.
    bool connects_all() const noexcept { return lists_ != nullptr; }
    size_t inject_size() const noexcept { return info_->tx_attr->inject_size; }
    // The provider's, and of what device.
    std::string name() const;

    // Calls that the provider cannot take now are repeated, with progress, until it does; what it
    // refuses ends the program.
    // False: it cannot take it now.
    bool inject(fi_addr_t to, uint64_t tag, const void* bytes, size_t size) noexcept;
    void send(fi_addr_t to, uint64_t tag, const void* bytes, size_t size, Operation& op) noexcept;
    void send(fi_addr_t to, uint64_t tag, uint64_t data, const void* bytes, size_t size,
              Operation& op) noexcept;
    void receive(uint64_t tag, uint64_t ignore, void* bytes, size_t size, Operation& op) noexcept;
    // flags: FI_PEEK, FI_CLAIM or both (fi_tagged(3)).
    void look(uint64_t tag, uint64_t ignore, void* bytes, size_t size, uint64_t flags,
              Operation& op) noexcept;
    void cancel(Operation& op) noexcept { fi_cancel(&endpoint_->fid, &op); }

    // Whether the provider has groups, and passes on what is broadcast to them (fi_collective(3)).
    bool has_groups() const noexcept { return events_ != nullptr; }
    // All members do this at once, which takes them a moment.
    FabricGroup& join(std::span<const fi_addr_t> members);
    // Nothing of the group's is under way any more, at any member.
    void leave(FabricGroup& group) noexcept;
    // All members call this, with the same root and size.
    void broadcast(FabricGroup& group, fi_addr_t root, void* bytes, size_t size,
                   Operation& op) noexcept;

    // Whether its peers' memory can be read and written, and they be told so with 64 bits.
    bool reaches_memory() const noexcept { return pieces_ > 0; }
    // So many pieces of memory on either side of a read or write.
    size_t most_pieces() const noexcept { return pieces_; }
    // Pages for data that passes through, where the device moves it best; null: there are none.
    std::byte* allocate(size_t bytes) noexcept;
    void release(std::byte* memory, size_t bytes) noexcept;
    // Lets peers read and write it, as long as the region lasts; null where the provider refuses.
    class Region;
    std::unique_ptr<Region> expose(void* memory, size_t bytes) noexcept;
    // False: it cannot be taken now. What is marked with more goes with what follows at once.
    struct Access {
        fi_addr_t peer;
        std::span<const iovec> here;
        std::span<const fi_rma_iov> there;
        bool more{false};
    };
    bool read(const Access& access, Operation& op) noexcept;
    bool write(const Access& access, Operation& op) noexcept;
    // The peer hears of it, by those bits, when the data is there.
    bool write(const Access& access, uint64_t bits, Operation& op) noexcept;
    // Who hears of what others have written.
    void set_listener(void (*listener)(uint64_t bits) noexcept) noexcept { listener_ = listener; }
    // As send and receive, but for who cannot make progress meanwhile. False: there is no room now.
    bool try_send(fi_addr_t to, uint64_t tag, std::span<const std::byte> bytes,
                  Operation& op) noexcept;
    bool try_receive(uint64_t tag, std::span<std::byte> bytes, Operation& op) noexcept;

    // Takes in what is done. False when that was nothing.
    bool progress() noexcept;

private:
    friend class FabricGroup;
    struct Free {
        void operator()(fi_info* info) const noexcept { fi_freeinfo(info); }
    };
    struct Close {
        void operator()(auto* object) const noexcept { fi_close(&object->fid); }
    };
    template <class T>
    using Owned = std::unique_ptr<T, Close>;

    template <class F>
    void insist(const char* call, F&& f) noexcept;
    static bool has_taken(const char* call, ssize_t result) noexcept; // else there is no room
    bool take_error() noexcept;
    bool access(const Access& access, uint64_t flags, uint64_t bits, Operation& op) noexcept;
    void open_events();
    std::vector<std::byte> address() const;
    std::vector<std::byte> list() const;

    std::unique_ptr<fi_info, Free> info_;
    Owned<fid_fabric> fabric_;
    Owned<fid_domain> domain_;
    Owned<fid_av> addresses_;
    Owned<fid_cq> completions_;
    Owned<fid_eq> events_; // null: without groups there are none
    Owned<fid_ep> endpoint_;
    fi_odrc_ranges_ops* lists_{nullptr};  // null: the address is enough
    fi_odrc_memory_ops* memory_{nullptr}; // null: any pages are as good
    size_t pieces_{0};                    // 0: without reads and writes
    uint64_t keys_{0};                    // that have been chosen here
    void (*listener_)(uint64_t bits) noexcept {nullptr};
    std::list<FabricGroup> groups_;
};

// Memory that peers may read and write.
class Fabric::Region {
public:
    RemoteMemory remote() const noexcept { return remote_; }

private:
    friend class Fabric;
    Owned<fid_mr> region_;
    RemoteMemory remote_{};
};

} // namespace odrc::mpi
