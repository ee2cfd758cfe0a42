// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Buffers that become more and fewer, a slab at a time.

#include "wireup_rig.hpp"

#include <doctest/doctest.h>
#include <set>
#include <vector>

using namespace rig;

namespace {

constexpr size_t kBytes = 1024, kInSlab = 4;

struct PoolRoom : Room {
    srq::BufferPool pool{adapter, counters, kBytes, kInSlab};
    uint64_t before{counters.registered_bytes};

    uint64_t slabs() const { return (counters.registered_bytes - before) / (kBytes * kInSlab); }
    std::vector<srq::Buffer*> take(size_t count) {
        std::vector<srq::Buffer*> taken;
        for (size_t i = 0; i < count; ++i) taken.push_back(pool.take());
        const std::set<srq::Buffer*> different{taken.begin(), taken.end()};
        CHECK(different.size() == count);
        CHECK(different.count(nullptr) == 0);
        return taken;
    }
    void give_back(std::vector<srq::Buffer*>& taken) {
        for (srq::Buffer* buffer : taken) pool.give_back(buffer);
        taken.clear();
    }
};

} // namespace

TEST_CASE("a slab goes when the last of its buffers is back, and no other one") {
    PoolRoom p;
    auto taken = p.take(3 * kInSlab);
    CHECK(p.slabs() == 3);
    CHECK(p.pool.taken() == 3 * kInSlab);
    p.pool.give_up_slab();
    p.pool.give_up_slab(); // one at a time
    CHECK(p.slabs() == 3);
    srq::Buffer* last = taken.back();
    taken.pop_back();
    p.give_back(taken);
    CHECK(p.slabs() == 3);
    p.pool.give_back(last);
    CHECK(p.slabs() == 2);
    CHECK(p.pool.taken() == 0);
    auto again = p.take(2 * kInSlab);
    CHECK(p.slabs() == 2);
    p.give_back(again);
}

TEST_CASE("a slab that nobody uses goes at once, and comes again") {
    PoolRoom p;
    p.pool.reserve(2 * kInSlab);
    CHECK(p.slabs() == 2);
    p.pool.give_up_slab();
    CHECK(p.slabs() == 1);
    auto taken = p.take(kInSlab + 1);
    CHECK(p.slabs() == 2);
    p.give_back(taken);
    p.pool.give_up_slab();
    p.pool.give_up_slab();
    CHECK(p.slabs() == 0);
    p.pool.give_up_slab();
    taken = p.take(1);
    CHECK(p.slabs() == 1);
    p.give_back(taken);
}

TEST_CASE("a slab that was about to go stays when buffers run short") {
    PoolRoom p;
    auto taken = p.take(2 * kInSlab);
    p.pool.give_up_slab();
    for (int i = 0; i < 3; ++i) {
        p.pool.give_back(taken.back()); // of the last slab, most likely
        taken.pop_back();
    }
    auto more = p.take(3);
    CHECK(p.slabs() == 2);
    p.give_back(more);
    p.give_back(taken);
    CHECK(p.slabs() == 2);
    CHECK(p.pool.taken() == 0);
}
