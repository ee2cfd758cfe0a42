// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Two endpoints in one process that know each other, and what tests of the libfabric contract do
// with them. The device is the one that ODRC_TEST_DOMAIN names.

#include "fabtests_ext/support/fabric.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <doctest/doctest.h>
#include <functional>
#include <map>
#include <netinet/in.h>
#include <optional>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <sched.h>
#include <span>
#include <unistd.h>

namespace duo {

using namespace fabtests_ext;

inline Choice choice() {
    const char* domain = std::getenv("ODRC_TEST_DOMAIN");
    return {.provider = "odrc", .domain = domain ? domain : "soft0"};
}

inline constexpr uint64_t kAllCaps = FI_MSG | FI_TAGGED | FI_DIRECTED_RECV | FI_SOURCE;

// What a program must be prepared for that wants RMA (fi_mr(3)).
inline constexpr int kRmaMode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
inline const Wishes kRmaWishes{.caps = kAllCaps | FI_RMA | FI_FENCE, .mr_mode = kRmaMode};

using Clock = std::chrono::steady_clock;
inline constexpr std::chrono::seconds kPatience{40}; // emulated machines are slow

// A completion, or an error.
struct Outcome {
    fi_cq_tagged_entry entry{};
    fi_addr_t source{FI_ADDR_NOTAVAIL};
    std::optional<fi_cq_err_entry> error;
};

// An endpoint whose outcomes can be asked for by the context of their operation.
class Watched {
public:
    explicit Watched(const Wishes& wishes = {.caps = kAllCaps})
        : endpoint{choice(), wishes} {}

    void poll() {
        Outcome o;
        const ssize_t n = fi_cq_readfrom(endpoint.cq(), &o.entry, 1, &o.source);
        if (n == -FI_EAGAIN) return;
        if (n == -FI_EAVAIL) {
            fi_cq_err_entry error{};
            REQUIRE(fi_cq_readerr(endpoint.cq(), &error, 0) == 1);
            o.error = error;
            o.entry.op_context = error.op_context;
        } else {
            REQUIRE(n == 1);
        }
        outcomes.push_back(o);
    }

    std::optional<Outcome> take(const void* context) {
        for (auto o = outcomes.begin(); o != outcomes.end(); ++o) {
            if (o->entry.op_context != context) continue;
            const Outcome found = *o;
            outcomes.erase(o);
            return found;
        }
        return std::nullopt;
    }

    fid_ep* ep() const { return endpoint.ep(); }

    Endpoint endpoint;
    std::deque<Outcome> outcomes;
};

// What is done between two looks. Who has waited for long looks less often: others want the
// processor.
class Pause {
public:
    void operator()() {
        if (Clock::now() < often_)
            sched_yield();
        else
            usleep(100);
    }

private:
    const Clock::time_point often_{Clock::now() + std::chrono::milliseconds{50}};
};

// Makes progress on all of them until the condition holds; fails the test if it never does.
template <class Group>
void poll_until(Group& group, const std::function<bool()>& condition) {
    const auto end = Clock::now() + kPatience;
    for (Pause pause; !condition(); pause()) {
        REQUIRE(Clock::now() < end);
        group.poll();
    }
}

class Duo {
public:
    explicit Duo(const Wishes& wishes = {.caps = kAllCaps})
        : Duo{wishes, wishes} {}
    Duo(const Wishes& ours, const Wishes& theirs)
        : a{ours}
        , b{theirs}
        , to_b{a.endpoint.insert(b.endpoint.name())}
        , to_a{b.endpoint.insert(a.endpoint.name())} {}

    void poll() {
        a.poll();
        b.poll();
    }

    void until(const std::function<bool()>& condition) { poll_until(*this, condition); }

    Outcome outcome(Watched& side, const void* context) {
        std::optional<Outcome> found;
        until([&] { return (found = side.take(context)).has_value(); });
        return *found;
    }

    // Lets whatever is under way settle.
    void settle(int milliseconds = 20) {
        const auto end = Clock::now() + std::chrono::milliseconds{milliseconds};
        while (Clock::now() < end) {
            poll();
            sched_yield();
        }
    }

    Watched a, b;
    fi_addr_t to_b, to_a;
};

// An address of this host at which nobody is.
inline fi_addr_t nobody_beside(Watched& side) {
    sockaddr_in nobody;
    std::memcpy(&nobody, side.endpoint.name().data(), sizeof nobody);
    nobody.sin_port = htons(1);
    return side.endpoint.insert({reinterpret_cast<const char*>(&nobody), sizeof nobody});
}

// Memory that the other side may reach.
struct Shared {
    Shared(const Watched& side, size_t size, uint64_t access = FI_REMOTE_READ | FI_REMOTE_WRITE)
        : bytes(size) {
        fid_mr* mr = nullptr;
        REQUIRE(fi_mr_reg(side.endpoint.domain(), bytes.data(), size, access, 0, 0, 0, &mr,
                          nullptr) == 0);
        region.reset(mr);
    }
    uint64_t key() const { return fi_mr_key(region.get()); }
    uint64_t at(size_t offset) const { return reinterpret_cast<uint64_t>(bytes.data()) + offset; }

    std::vector<char> bytes;
    Owned<fid_mr> region;
};

inline fi_msg_rma rma_message(fi_addr_t to, std::span<const iovec> local,
                              std::span<const fi_rma_iov> remote, void* context,
                              uint64_t data = 0) {
    return {.msg_iov = local.data(),
            .desc = nullptr,
            .iov_count = local.size(),
            .addr = to,
            .rma_iov = remote.data(),
            .rma_iov_count = remote.size(),
            .context = context,
            .data = data};
}

// A read or write of one piece on both sides.
struct RmaMessage {
    RmaMessage(void* buffer, size_t size, fi_addr_t to, uint64_t address, uint64_t key,
               void* context)
        : iov{buffer, size}
        , remote{address, size, key}
        , m{rma_message(to, {&iov, 1}, {&remote, 1}, context)} {}

    iovec iov;
    fi_rma_iov remote;
    fi_msg_rma m;
};

// Tries again while the provider says later.
template <class Call>
void now(Duo& d, Call&& call) {
    ssize_t result = -FI_EAGAIN;
    d.until([&] { return (result = call()) != -FI_EAGAIN; });
    REQUIRE(result == 0);
}

inline std::vector<char> pattern(size_t size, char seed) {
    std::vector<char> bytes(size);
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(seed + i * 31);
    return bytes;
}

} // namespace duo
