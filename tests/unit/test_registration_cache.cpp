// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The registration cache: what it finds, what it keeps, and when it lets go.

#include "cache_rig.hpp"
#include "tests/forks.hpp"

#include <sys/wait.h>

using namespace rig;

TEST_SUITE_BEGIN("registration cache" * doctest::skip(no_userfaultfd()));

TEST_CASE("memory is registered once") {
    for (const auto kind : {Gate::Kind::one_thread, Gate::Kind::many_threads}) {
        CacheRig r{kPlenty, kind};
        const Mapping m{16};
        for (int i = 0; i < 1000; ++i) REQUIRE(r.take(m.page(1) + 100, 5 * kPage));
        CHECK(r.device.registered == 1);
        CHECK(r.take(m.page(1) + 100, 10));
        CHECK(r.take(m.page(4), 2 * kPage + 100));
        CHECK(r.device.registered == 1);
        const auto use = r.take(m.page(2), 1);
        CHECK(use->mr->addr == m.page(1) + 100);
        CHECK(use->mr->length == 5 * kPage);
        REQUIRE(r.take(m.page(1), 100)); // before it, on the same page
        CHECK(r.device.registered == 2);
    }
}

TEST_CASE("the monitor is asked once for all that was handed over before") {
    CacheRig r;
    const Mapping m{8};
    const auto before = r.cache.now();
    REQUIRE(r.take(m.at, m.bytes, kRead, before));
    const auto asked = r.cache.now();
    CHECK(asked == before + 1);
    for (size_t i = 0; i < 8; ++i) REQUIRE(r.take(m.page(i), kPage, kRead, before));
    CHECK(r.cache.now() == asked);
    REQUIRE(r.take(m.at, m.bytes, kRead, asked)); // later than that
    CHECK(r.cache.now() == asked + 1);
}

TEST_CASE("many stretches are each found again") {
    CacheRig r;
    const Mapping m{400};
    for (int round = 0; round < 3; ++round)
        for (size_t i = 0; i < 400; i += 2) REQUIRE(r.take(m.page(i * 199 % 400), kPage));
    CHECK(r.device.registered == 200);
}

TEST_CASE("adjacent stretches stay apart, overlapping ones become one") {
    CacheRig r;
    const Mapping m{16};
    REQUIRE(r.take(m.page(0), 4 * kPage));
    REQUIRE(r.take(m.page(4), 4 * kPage));
    CHECK(r.device.standing() == 2);
    const auto held = r.take(m.page(0), kPage);
    const auto all = r.take(m.page(2), 4 * kPage);
    CHECK(all->mr->addr == m.page(0));
    CHECK(all->mr->length == 8 * kPage);
    CHECK(r.device.registered == 3);
    CHECK(r.device.standing() == 2); // the one that is held is still good
    CHECK(held->mr->length == 4 * kPage);
    REQUIRE(r.take(m.page(0), 8 * kPage));
    CHECK(r.device.registered == 3);
}

TEST_CASE("a window that slides does not grow") {
    CacheRig r;
    const Mapping m{64};
    for (size_t i = 0; i < 60; ++i) REQUIRE(r.take(m.page(i), 4 * kPage));
    CHECK(r.device.bytes_peak <= 20 * kPage);
}

TEST_CASE("a registration with too few rights is replaced by one that has all of them") {
    CacheRig r;
    const Mapping m{4};
    REQUIRE(r.take(m.at, m.bytes, kRead));
    const auto use = r.take(m.page(1), 2 * kPage, kWrite);
    CHECK(static_cast<Pinned&>(*use->mr.get()).access == (kRead | kWrite));
    REQUIRE(r.take(m.at, m.bytes, kRead));
    REQUIRE(r.take(m.at, m.bytes, kRead | kWrite));
    CHECK(r.device.registered == 2);
    CHECK(r.device.standing() == 1);
}

TEST_CASE("what is longest unused goes when there are too many") {
    CacheRig r{{.count = 4, .bytes = size_t{1} << 30}};
    const Mapping m{32};
    for (size_t i = 0; i < 4; ++i) REQUIRE(r.take(m.page(4 * i), kPage));
    REQUIRE(r.take(m.page(0), kPage));
    REQUIRE(r.take(m.page(20), kPage)); // in the place of page 4
    CHECK(r.device.standing() == 4);
    CHECK(r.device.registered == 5);
    REQUIRE(r.take(m.page(0), kPage));
    CHECK(r.device.registered == 5);
    REQUIRE(r.take(m.page(4), kPage));
    CHECK(r.device.registered == 6);
}

TEST_CASE("what is longest unused goes when it is too much, and what is in use stays") {
    CacheRig r{{.count = 100, .bytes = 8 * kPage}};
    const Mapping m{64};
    for (size_t i = 0; i < 50; ++i) REQUIRE(r.take(m.page(i), 3 * kPage));
    CHECK(r.device.bytes_peak <= 8 * kPage);
    CHECK_FALSE(r.take(m.page(0), 9 * kPage));

    const auto use = r.take(m.page(0), 5 * kPage);
    REQUIRE(use);
    CHECK_FALSE(r.take(m.page(20), 4 * kPage));
    CHECK(r.take(m.page(20), 3 * kPage));
}

TEST_CASE("idle registrations are given up on demand, and a refusal leaves nothing behind") {
    CacheRig r;
    const Mapping m{16};
    const auto use = r.take(m.page(0), kPage);
    REQUIRE(r.take(m.page(4), kPage));
    CHECK(r.cache.give_up_idle());
    CHECK_FALSE(r.cache.give_up_idle());
    CHECK(r.device.standing() == 1);
    r.device.refuse = 1;
    CHECK_FALSE(r.take(m.page(4), kPage));
    CHECK(r.take(m.page(4), kPage));
}

TEST_CASE("memory that goes is forgotten, deregistered when its last user is done") {
    CacheRig r;
    const Mapping m{16};
    auto use = r.take(m.page(0), 8 * kPage);
    auto again = r.take(m.page(0), 8 * kPage);
    SUBCASE("unmapped") { munmap(m.page(2), kPage); }
    SUBCASE("mapped anew") { map(kPage, m.page(7)); }
    SUBCASE("moved") {
        const Mapping to{1};
        REQUIRE(mremap(m.page(3), kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED, to.at) == to.at);
    }
    SUBCASE("moved over") {
        const Mapping from{1};
        REQUIRE(mremap(from.at, kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED, m.page(3)) ==
                m.page(3));
    }
    SUBCASE("discarded") { REQUIRE(madvise(m.page(0), kPage, MADV_DONTNEED) == 0); }
    SUBCASE("free to be discarded") { REQUIRE(madvise(m.page(0), kPage, MADV_FREE) == 0); }
    map(m.bytes, m.at);
    const auto fresh = r.take(m.page(0), 8 * kPage);
    CHECK(r.device.registered == 2);
    CHECK(r.device.standing() == 2);
    again.reset();
    CHECK(r.device.standing() == 2);
    use.reset();
    CHECK(r.device.standing() == 1);
}

TEST_CASE("what nobody uses is deregistered when its memory goes, without another call") {
    for (const auto kind : {Gate::Kind::one_thread, Gate::Kind::many_threads}) {
        CacheRig r{kPlenty, kind};
        {
            const Mapping m{4};
            REQUIRE(r.take(m.at, m.bytes));
        }
        const auto end = Clock::now() + std::chrono::seconds{10};
        while (r.device.standing() > 0 && Clock::now() < end) sched_yield();
        CHECK(r.device.standing() == 0);
    }
}

TEST_CASE("shared memory that is given back to its file is forgotten") {
    CacheRig r;
    void* memory =
        mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    REQUIRE(r.take(memory, 4 * kPage));
    REQUIRE(madvise(memory, kPage, MADV_REMOVE) == 0);
    REQUIRE(r.take(memory, 4 * kPage));
    CHECK(r.device.registered == 2);
    munmap(memory, 4 * kPage);
}

TEST_CASE("what the kernel cannot watch is not kept") {
    CacheRig r;
    const int file = memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB);
    void* code = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(&map) & ~(kPage - 1));
    CHECK_FALSE(r.take(code, kPage)); // of a file
    if (file >= 0) close(file);
    CHECK(r.device.registered == 0);
}

TEST_CASE("two caches share the process's monitor") {
    CacheRig one, two;
    const Mapping m{4};
    CHECK(one.monitor == two.monitor);
    REQUIRE(one.take(m.at, m.bytes));
    REQUIRE(two.take(m.at, m.bytes));
    REQUIRE(madvise(m.at, m.bytes, MADV_DONTNEED) == 0);
    REQUIRE(one.take(m.at, m.bytes));
    REQUIRE(two.take(m.at, m.bytes));
    CHECK(one.device.registered == 2);
    CHECK(two.device.registered == 2);
}

TEST_CASE("a child has nothing of its parent's, and can have its own" * forks()) {
    CacheRig r;
    const Mapping m{4};
    REQUIRE(r.take(m.at, m.bytes));
    const pid_t child = fork();
    if (child == 0) {
        bool right = !r.take(m.at, m.bytes);
        {
            CacheRig own;
            right = right && own.take(m.at, m.bytes) && own.take(m.at, m.bytes);
            munmap(m.at, m.bytes);
            map(m.bytes, m.at);
            right = right && own.take(m.at, m.bytes) && own.device.registered == 2;
        }
        _exit(right ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    REQUIRE(r.take(m.at, m.bytes));
    CHECK(r.device.registered == 1);
}

TEST_SUITE_END();
