// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "communicator.hpp"
#include "fabric.hpp"
#include "fatal.hpp"
#include "launch.hpp"
#include "schemes/transfers.hpp"

#include <vector>

namespace odrc::mpi {

// What a process has of its own between MPI_Init and MPI_Finalize. One thread at a time is in it
// (MPI_THREAD_SERIALIZED).
class Process {
public:
    Process(); // throws StartError
    ~Process();

    static bool is_there() noexcept { return instance_ != nullptr; }
    static bool is_over() noexcept { return is_over_; }
    static Process& get() noexcept { return *instance_; }
    static void begin();        // MPI_Init; throws StartError
    static void end() noexcept; // MPI_Finalize

    Launch& launch() noexcept { return launch_; }
    Fabric& fabric() noexcept { return fabric_; }
    Transfers& transfers() noexcept { return transfers_; }
    Communicator& world() noexcept { return *world_; }
    Communicator& self() noexcept { return *self_; }

    // A process by its rank in the world. Who it is is asked when it is spoken to first.
    fi_addr_t address_of(int rank) noexcept {
        const fi_addr_t known = addresses_[static_cast<size_t>(rank)];
        return known != FI_ADDR_NOTAVAIL ? known : ask_for_address(rank);
    }

    fi_addr_t address_of(const Communicator& c, int rank) noexcept {
        return address_of(c.group().world_rank(rank));
    }

    // Takes in what is done, once. Who finds nothing gives way to others now and then.
    void advance() noexcept;
    // The program has looked for a message, and there was none. (That nothing was found is itself
    // something that comes of a look.)
    void probed_in_vain() noexcept { give_way_after(probes_); }
    template <class F>
    void advance_until(F&& is_done) noexcept {
        while (!is_done()) advance();
    }

    // A synchronous send was received: its sender hears of it as soon as that can be said.
    void acknowledge(fi_addr_t to, uint64_t number) noexcept;
    uint64_t next_number() noexcept { return ++numbers_; }
    // Sends whose end nobody but us waits for.
    void left_alone(int more) noexcept { alone_ += more; }

private:
    struct Acknowledgement {
        fi_addr_t to;
        uint64_t number;
    };

    fi_addr_t ask_for_address(int rank) noexcept;
    bool send_acknowledgements() noexcept;
    void give_way_after(int& looks) noexcept;

    static Process* instance_;
    static bool is_over_;

    Launch launch_;
    Fabric fabric_;
    Transfers transfers_;
    std::vector<fi_addr_t> addresses_; // by rank; FI_ADDR_NOTAVAIL: nobody has asked
    Communicator* world_;
    Communicator* self_;
    std::vector<Acknowledgement> owed_;
    uint64_t numbers_{0}; // of synchronous sends
    int alone_{0};
    int idle_{0};   // looks in vain, one behind the other
    int probes_{0}; // likewise
    const int patience_;
};

} // namespace odrc::mpi
