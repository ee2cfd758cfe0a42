// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// A libfabric endpoint with what it needs around it, for any provider that has reliable
// unconnected endpoints.

#include "team.hpp"

#include <functional>
#include <memory>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace fabtests_ext {

// Throws where a libfabric call gave an error.
void check(ssize_t result, const char* what);

struct CloseFid {
    template <class T>
    void operator()(T* object) const noexcept {
        fi_close(&object->fid);
    }
};
template <class T>
using Owned = std::unique_ptr<T, CloseFid>;

struct FreeInfo {
    void operator()(fi_info* info) const noexcept { fi_freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

// What to run on.
struct Choice {
    std::string provider{"odrc"};
    std::string domain; // empty: the first
};

struct Wishes {
    uint64_t caps{FI_MSG | FI_TAGGED};
    fi_threading threading{FI_THREAD_DOMAIN};
    fi_wait_obj wait{FI_WAIT_NONE};
    fi_cq_format cq_format{FI_CQ_FORMAT_TAGGED};
    size_t cq_size{4096};
    bool entries{true};          // without, there is no completion queue
    bool selective{false};       // only what asks for a completion has one
    bool counters{false};        // one counts what is sent, one what is received
    bool rma_counters{false};    // one counts what is read, one what is written
    bool remote_counters{false}; // one counts what peers read, one what they write
    int mr_mode{0};
    fi_progress data_progress{FI_PROGRESS_UNSPEC};
    uint64_t order{0};        // FI_ORDER_*, of messages
    bool events{false};       // an event queue is bound
    std::string key{};        // of the endpoint (auth_key); empty: none
    std::string domain_key{}; // of the domain
    uint32_t address_format{FI_FORMAT_UNSPEC};
    std::function<void(fid_ep*)> prepare{}; // called before the endpoint is enabled
};

// What is offered for such an endpoint, which may be nothing.
Info find_info(const Choice& choice, const Wishes& wishes);

class Endpoint {
public:
    Endpoint(const Choice& choice, const Wishes& wishes);

    fid_ep* ep() const noexcept { return ep_.get(); }
    fid_cq* cq() const noexcept { return cq_.get(); }
    fid_eq* eq() const noexcept { return eq_.get(); }
    fid_cntr* sent() const noexcept { return sent_.get(); }
    fid_cntr* received() const noexcept { return received_.get(); }
    fid_cntr* read() const noexcept { return read_.get(); }
    fid_cntr* written() const noexcept { return written_.get(); }
    fid_cntr* read_by_peers() const noexcept { return read_by_peers_.get(); }
    fid_cntr* written_by_peers() const noexcept { return written_by_peers_.get(); }
    fid_av* av() const noexcept { return av_.get(); }
    fid_domain* domain() const noexcept { return domain_.get(); }
    fid_fabric* fabric() const noexcept { return fabric_.get(); }
    const fi_info& info() const noexcept { return *info_; }

    // One more, with the same address vector and completion queue.
    Owned<fid_ep> open_another() const;

    std::string name() const;
    fi_addr_t insert(const std::string& address);
    // The numbers of a team's endpoints, by rank.
    std::vector<fi_addr_t> introduce(Team& team);

    // Reads one completion; false when there is none. Throws on an error entry.
    bool poll(fi_cq_tagged_entry& entry, fi_addr_t* source = nullptr);
    // Reads completions until one of this context; yields meanwhile.
    void wait(void* context);

private:
    Owned<fid_cntr> count(uint64_t operations, fi_wait_obj wait);

    Info info_;
    Owned<fid_fabric> fabric_;
    Owned<fid_domain> domain_;
    Owned<fid_av> av_;
    Owned<fid_cq> cq_;
    Owned<fid_eq> eq_; // if wished for
    Owned<fid_cntr> sent_, received_, read_, written_, read_by_peers_,
        written_by_peers_; // if wished for
    Owned<fid_ep> ep_;
};

// Makes a call until it is taken, and progress meanwhile. Throws on any error but -FI_EAGAIN.
template <class Call>
void insist(const Endpoint& endpoint, const char* what, Call&& call) {
    for (;;) {
        const ssize_t result = call();
        if (result == 0) return;
        if (result != -FI_EAGAIN) check(result, what);
        fi_cq_read(endpoint.cq(), nullptr, 0);
        sched_yield();
    }
}

} // namespace fabtests_ext
