// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "communicator.hpp"
#include "datatype.hpp"
#include "fabric.hpp"
#include "packed.hpp"
#include "schemes/experience.hpp"

namespace odrc::mpi {

// MPI 3.4. A ready send is a standard one.
enum class SendMode : uint8_t { standard, synchronous, buffered };

// To or from whom, and by which tag.
struct Address {
    Communicator* communicator;
    int peer; // rank, MPI_PROC_NULL or MPI_ANY_SOURCE
    int tag;
    bool collective{false}; // in the communicator's context for these
};

MPI_Status empty_status() noexcept; // MPI 3.7.3

// A send or a receive under way (MPI 3.7), or one that can be started time and again (3.9). It
// keeps what it uses of communicators and types.
class Request : public Operation {
public:
    // A new one, or one that was used before.
    static Request& make(bool receives, const Data& data, const Address& to, SendMode mode);
    // One that is over from the beginning, for all who have nothing to wait for.
    static Request& over() noexcept;
    static Request* of(MPI_Request handle) noexcept {
        return number_of(handle) < kFirstAddress ? nullptr : reinterpret_cast<Request*>(handle);
    }
    MPI_Request handle() noexcept { return reinterpret_cast<MPI_Request>(this); }

    void start();
    // Whether there is a message for it, which its status then tells of (MPI 3.8). A claimed one
    // nobody else gets any more, and start_claimed() receives it.
    bool look(bool claims);
    void start_claimed(const Data& data);
    bool is_over() const noexcept { return under_way_ == 0; }
    bool is_active() const noexcept { return active_; }
    bool is_persistent() const noexcept { return persistent_; }
    // What start() does is to be done later, and more than once.
    void set_persistent() noexcept {
        persistent_ = true;
        active_ = false;
    }
    void cancel() noexcept;
    // So many bytes of the program's buffer, until it is over.
    void occupy(size_t bytes) noexcept { buffered_ = bytes; }

    // It is over and the program hears of it: gives its error and, where it is wanted, what came.
    // A persistent one may be started again; all others are gone.
    int finish(MPI_Status* status) noexcept;
    // The same without that it is gone.
    void tell(MPI_Status* status) const noexcept;
    // Nobody will ask for it any more: it goes when it is over.
    void leave() noexcept;

    Communicator& communicator() const noexcept { return *communicator_; }
    // The rank in the communicator of who sent what has come.
    int source() const noexcept { return status_.MPI_SOURCE; }
    // What was offered has gone over, or has failed (a fi_errno value).
    void transferred(int error) noexcept;

private:
    explicit Request() noexcept
        : Operation{&Request::on_done} {}
    static void on_done(Operation& op, const Outcome& outcome) noexcept;
    static void on_acknowledged(Operation& op, const Outcome& outcome) noexcept;
    void start_send();
    void start_receive();
    std::byte* place_for_data();
    struct Pattern {
        uint64_t tag, ignore;
    };
    Pattern pattern() const noexcept;
    void received(const Outcome& outcome) noexcept;
    void accept(const Outcome& outcome);
    void unpack(const Outcome& outcome) noexcept;
    void one_is_over() noexcept;
    void recycle() noexcept;
    std::byte* make_packed();
    std::byte* pack();

    // What a synchronous send waits for besides.
    struct Answer : Operation {
        explicit Answer(Request& r) noexcept
            : Operation{&Request::on_acknowledged}
            , request{&r} {}
        Request* request;
    };

    Data data_{nullptr, 0, none()};
    static const Datatype& none() noexcept;
    Ref<Datatype> type_;
    Ref<Communicator> communicator_;
    int peer_{MPI_PROC_NULL};
    int tag_{0};
    uint32_t context_{0};
    SendMode mode_{SendMode::standard};
    bool receives_{false};
    bool persistent_{false};
    bool active_{true};
    bool left_{false};
    bool looking_{false};
    bool found_{false};
    int under_way_{0}; // operations of the provider's
    MPI_Status status_{empty_status()};
    Packed packed_; // where the data is not in one piece
    Answer answer_{*this};
    std::optional<Experience::Ticket> ticket_; // of a long message
    size_t buffered_{0};                       // bytes of the program's buffer (MPI_Buffer_attach)
    Request* next_free_{nullptr};
};

// What most calls do: a send that need not be waited for any more, if it can be had, and otherwise
// a request.
Request& begin_send(const Data& data, const Address& to, SendMode mode = SendMode::standard);
Request& begin_receive(const Data& data, const Address& from);
int wait(Request& request, MPI_Status* status = MPI_STATUS_IGNORE) noexcept;
int send(const Data& data, const Address& to, SendMode mode = SendMode::standard);
// A send and a receive at the same time; the status is the receive's.
int exchange(const Data& out, const Address& to, const Data& in, const Address& from,
             MPI_Status* status = MPI_STATUS_IGNORE);
// It is over with the call, as far as the program's buffer has room (bsend_buffer.hpp).
int send_buffered(const Data& data, const Address& to);
int receive(const Data& data, const Address& from, MPI_Status* status = MPI_STATUS_IGNORE);

} // namespace odrc::mpi
