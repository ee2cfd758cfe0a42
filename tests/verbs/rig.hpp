// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// What the test cases are built from: sides that talk to each other within this process, each
// with its own context, as if it were a process of its own.

#include "differences.hpp"
#include "moves.hpp"
#include "work.hpp"

#include <optional>
#include <vector>

namespace rig {

// What is asked for; the default is what most test cases can do with.
struct QpNeeds {
    ibv_qp_type type{IBV_QPT_RC};
    ibv_qp_cap cap{.max_send_wr = 32,
                   .max_recv_wr = 32,
                   .max_send_sge = 4,
                   .max_recv_sge = 4,
                   .max_inline_data = 64};
    ibv_srq* srq{nullptr};
    bool signal_all{false};
};

class Side {
public:
    explicit Side(int completions = 256);

    Qp make_qp(const QpNeeds& needs = {}) const;
    Srq make_srq(uint32_t receives = 16, uint32_t segments = 4) const;

    // The next completion; fails the test case if there is none for too long.
    ibv_wc sent() const;
    ibv_wc received() const;

    // Neither queue has a completion.
    bool quiet() const;

    Context context;
    Pd pd;
    Channel channel; // of both queues
    Cq sends, receives;
};

std::optional<ibv_wc> poll(ibv_cq* cq);
ibv_wc next(ibv_cq* cq);

inline constexpr unsigned kAllAccess = IBV_ACCESS_LOCAL_WRITE | kRemoteAccess;

// Null, and the reason in errno, where it is refused.
Mr register_memory(const Pd& pd, void* address, size_t size, unsigned access);

// Registered memory.
class Region {
public:
    Region(const Pd& pd, size_t size, unsigned access = kAllAccess);

    ibv_sge segment(size_t offset, size_t size) const;
    uint64_t address(size_t offset = 0) const;
    uint32_t rkey() const { return mr ? mr->rkey : 0; } // 0 when it was given up

    // Bytes by which their place can be told.
    void fill(int seed);

    std::vector<char> bytes;
    Mr mr;
};

// A segment of memory that is not registered, for inline data.
ibv_sge plain(const void* address, size_t size);

bool all_zero(const std::vector<char>& bytes, size_t from, size_t to);

// Two sides, connected, each with some memory.
struct Pair {
    struct Needs {
        QpNeeds qp{};
        Path path{};
        size_t bytes{65536};
    };
    explicit Pair(const Needs& needs);
    Pair()
        : Pair{Needs{}} {}

    // Takes the failed queue pairs through reset to a new connection.
    void reconnect(const Path& path = {});

    Side a, b;
    Qp qa, qb;
    Region ma, mb;
};

} // namespace rig
