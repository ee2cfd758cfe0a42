// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The registration cache: what it finds, what it keeps, and that it finds nothing stale.

#include "registering_device.hpp"
#include "tests/forks.hpp"
#include "verbs_rc/registration_cache.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>

using namespace odrc;
using verbs::MemoryMonitor;
using verbs::RegistrationCache;

namespace {

constexpr size_t kPage = 4096;
constexpr int kRead = IBV_ACCESS_REMOTE_READ;
constexpr int kWrite = IBV_ACCESS_LOCAL_WRITE;
constexpr RegistrationCache::Limits kPlenty{.count = 1024, .bytes = size_t{1} << 30};

std::byte* map(size_t bytes, void* where = nullptr, int flags = 0) {
    void* memory = mmap(where, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | flags | (where ? MAP_FIXED : 0), -1, 0);
    REQUIRE(memory != MAP_FAILED);
    return static_cast<std::byte*>(memory);
}

// Where nobody else's memory comes to lie: in a hole that a test makes, that of another thread
// might, and what is mapped over it next would be the end of it.
void* far_off(size_t bytes) {
    static uintptr_t next = 0x7ea000000000; // far below what the kernel chooses
    constexpr uintptr_t kApart = uintptr_t{2} << 20;
    const uintptr_t here = next;
    next += (bytes + 2 * kApart - 1) / kApart * kApart;
    return reinterpret_cast<void*>(here);
}

struct Mapping {
    explicit Mapping(size_t pages)
        : bytes{pages * kPage}
        , at{map(bytes, far_off(bytes))} {}
    ~Mapping() { munmap(at, bytes); }
    std::byte* page(size_t i) const { return at + i * kPage; }

    size_t bytes;
    std::byte* at;
};

// A cache over a device that counts. Where the kernel has no userfaultfd there is no cache.
struct Rig {
    explicit Rig(RegistrationCache::Limits limits = kPlenty,
                 Gate::Kind kind = Gate::Kind::many_threads)
        : monitor{MemoryMonitor::of_process()}
        , cache{device, nullptr, kind, limits, monitor, watchdog} {}

    RegistrationCache::Use take(void* address, size_t length, int access = kRead) {
        bool fresh;
        return cache.take(address, length, access, fresh);
    }

    std::shared_ptr<MemoryMonitor> monitor;
    Watchdog watchdog;
    rig::RegisteringDevice device;
    RegistrationCache cache;
};

// Is what the cache gives for this memory what is there?
bool is_current(RegistrationCache& cache, void* address, size_t length) {
    bool fresh;
    const auto use = cache.take(address, length, kRead, fresh);
    if (!use) return true; // it knows that it does not know
    const auto& pinned = static_cast<const rig::Pinned&>(*use->mr.get());
    return pinned.first_word == *static_cast<volatile uint64_t*>(address);
}

void number(void* memory) {
    static std::atomic<uint64_t> last{0};
    *static_cast<volatile uint64_t*>(memory) = ++last;
}

bool no_userfaultfd() { return MemoryMonitor::of_process() == nullptr; }

} // namespace

TEST_SUITE_BEGIN("registration cache" * doctest::skip(no_userfaultfd()));

TEST_CASE("memory is registered once") {
    for (const auto kind : {Gate::Kind::one_thread, Gate::Kind::many_threads}) {
        Rig r{kPlenty, kind};
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

TEST_CASE("many stretches are each found again") {
    Rig r;
    const Mapping m{400};
    for (int round = 0; round < 3; ++round)
        for (size_t i = 0; i < 400; i += 2) REQUIRE(r.take(m.page(i * 199 % 400), kPage));
    CHECK(r.device.registered == 200);
}

TEST_CASE("adjacent stretches stay apart, overlapping ones become one") {
    Rig r;
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
    Rig r;
    const Mapping m{64};
    for (size_t i = 0; i < 60; ++i) REQUIRE(r.take(m.page(i), 4 * kPage));
    CHECK(r.device.bytes_peak <= 20 * kPage);
}

TEST_CASE("a registration with too few rights is replaced by one that has all of them") {
    Rig r;
    const Mapping m{4};
    REQUIRE(r.take(m.at, m.bytes, kRead));
    const auto use = r.take(m.page(1), 2 * kPage, kWrite);
    CHECK(static_cast<rig::Pinned&>(*use->mr.get()).access == (kRead | kWrite));
    REQUIRE(r.take(m.at, m.bytes, kRead));
    REQUIRE(r.take(m.at, m.bytes, kRead | kWrite));
    CHECK(r.device.registered == 2);
    CHECK(r.device.standing() == 1);
}

TEST_CASE("what is longest unused goes when there are too many") {
    Rig r{{.count = 4, .bytes = size_t{1} << 30}};
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
    Rig r{{.count = 100, .bytes = 8 * kPage}};
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
    Rig r;
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
    Rig r;
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
        Rig r{kPlenty, kind};
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
    Rig r;
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
    Rig r;
    const int file = memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB);
    void* code = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(&map) & ~(kPage - 1));
    CHECK_FALSE(r.take(code, kPage)); // of a file
    if (file >= 0) close(file);
    CHECK(r.device.registered == 0);
}

TEST_CASE("two caches share the process's monitor") {
    Rig one, two;
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
    Rig r;
    const Mapping m{4};
    REQUIRE(r.take(m.at, m.bytes));
    const pid_t child = fork();
    if (child == 0) {
        bool right = !r.take(m.at, m.bytes);
        {
            Rig own;
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

// ---- never stale ------------------------------------------------------------------------------

TEST_CASE("the same addresses again and again, with new memory behind them" * forks()) {
    constexpr size_t kHuge = size_t{2} << 20;
    Rig r;
    const Mapping room{3 * kHuge / kPage};
    auto* const at = reinterpret_cast<std::byte*>(
        (reinterpret_cast<uintptr_t>(room.at) + kHuge - 1) & ~(kHuge - 1));
    int stale = 0, children = 0;
    for (int i = 0; i < 3000; ++i) {
        const size_t bytes = i % 3 == 0 ? kHuge : (1 + static_cast<size_t>(i) % 16) * kPage;
        map(bytes, at);
        if (i % 3 == 0) madvise(at, bytes, MADV_HUGEPAGE);
        number(at);
        for (int look = 0; look < 3; ++look) stale += !is_current(r.cache, at, bytes);
        if (i % 50 == 0) { // what it writes is the child's own
            const pid_t child = fork();
            if (child == 0) {
                number(at);
                munmap(at, bytes);
                _exit(0);
            }
            ++children;
            number(at);
            r.cache.give_up_idle(); // the number is another, so must be what is registered
            stale += !is_current(r.cache, at, bytes);
            waitpid(child, nullptr, 0);
        }
        if (i % 7 == 0) {
            madvise(at, bytes, MADV_DONTNEED);
            number(at);
            stale += !is_current(r.cache, at, bytes);
        }
        munmap(at, bytes);
        if (i % 2 == 0) map(kHuge, at);
    }
    CHECK(stale == 0);
    CHECK(children == 60);
    CHECK(r.device.registered.load() >= 3000);
}

TEST_CASE("memory of a file system of huge pages") {
    constexpr size_t kHuge = size_t{2} << 20;
    Rig r;
    for (int i = 0; i < 100; ++i) {
        void* memory = mmap(nullptr, kHuge, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
        if (memory == MAP_FAILED) return; // the host has set none aside
        number(memory);
        CHECK(is_current(r.cache, memory, kHuge));
        munmap(memory, kHuge);
    }
}

// The kernel hands the addresses that one thread gives back to another, perhaps before the first
// has come back from its munmap.
TEST_CASE("threads that are handed each other's addresses") {
    Rig r;
    std::atomic<int> stale{0};
    const auto work = [&] {
        for (int i = 0; i < 4000; ++i) {
            std::byte* memory = map(4 * kPage);
            number(memory);
            for (int look = 0; look < 2; ++look) stale += !is_current(r.cache, memory, 4 * kPage);
            munmap(memory, 4 * kPage);
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(work);
    for (std::thread& t : threads) t.join();
    CHECK(stale == 0);
    CHECK(r.device.registered.load() > 0);
}

TEST_SUITE_END();
