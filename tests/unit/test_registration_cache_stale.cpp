// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Never stale: whatever happens to memory, the registration cache gives what is there.

#include "cache_rig.hpp"
#include "soft_rig.hpp"
#include "tests/forks.hpp"

#include <sys/wait.h>
#include <thread>

using namespace rig;

namespace {

// Is what the cache gives for this memory what is there?
bool is_current(CacheRig& rig, void* address, size_t length,
                RegistrationCache::Moment handed_over) {
    const auto use = rig.take(address, length, kRead, handed_over);
    if (!use) return true; // it knows that it does not know
    const auto& pinned = static_cast<const Pinned&>(*use->mr.get());
    return pinned.first_word == *static_cast<volatile uint64_t*>(address);
}

void number(void* memory) {
    static std::atomic<uint64_t> last{0};
    *static_cast<volatile uint64_t*>(memory) = ++last;
}

// What was mapped anew is what the cache gives, whether it asks for each look or for the first.
int stale_looks(CacheRig& rig, void* memory, size_t length) {
    number(memory);
    const auto handed_over = rig.cache.now();
    int stale = 0;
    for (int look = 0; look < 3; ++look) stale += !is_current(rig, memory, length, handed_over);
    return stale + !is_current(rig, memory, length, rig.cache.now());
}

} // namespace

TEST_SUITE_BEGIN("registration cache" * doctest::skip(no_userfaultfd()));

TEST_CASE("the same addresses again and again, with new memory behind them" * forks()) {
    constexpr size_t kHuge = size_t{2} << 20;
    CacheRig r;
    const Mapping room{3 * kHuge / kPage};
    auto* const at = reinterpret_cast<std::byte*>(
        (reinterpret_cast<uintptr_t>(room.at) + kHuge - 1) & ~(kHuge - 1));
    int stale = 0, children = 0;
    for (int i = 0; i < 3000; ++i) {
        const size_t bytes = i % 3 == 0 ? kHuge : (1 + static_cast<size_t>(i) % 16) * kPage;
        map(bytes, at);
        if (i % 3 == 0) madvise(at, bytes, MADV_HUGEPAGE);
        stale += stale_looks(r, at, bytes);
        if (i % 50 == 0) { // what it writes is the child's own
            const pid_t child = fork();
            if (child == 0) {
                number(at);
                munmap(at, bytes);
                _exit(0);
            }
            ++children;
            r.cache.give_up_idle(); // the number will be another, so must be what is registered
            stale += stale_looks(r, at, bytes);
            waitpid(child, nullptr, 0);
        }
        if (i % 7 == 0) {
            madvise(at, bytes, MADV_DONTNEED);
            stale += stale_looks(r, at, bytes);
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
    CacheRig r;
    for (int i = 0; i < 100; ++i) {
        void* memory = mmap(nullptr, kHuge, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
        if (memory == MAP_FAILED) return; // the host has set none aside
        CHECK(stale_looks(r, memory, kHuge) == 0);
        munmap(memory, kHuge);
    }
}

TEST_CASE("memory of the soft device's, given back to it and had again") {
    constexpr size_t kLength = 16 * kPage;
    CacheRig r;
    const auto context = soft_device().open();
    const void* first = nullptr;
    for (int i = 0; i < 100; ++i) {
        void* memory = context->allocate(kLength);
        if (!first) first = memory;
        REQUIRE(memory == first);
        CHECK(stale_looks(r, memory, kLength) == 0);
        context->release(memory, kLength);
    }
}

// The kernel hands the addresses that one thread gives back to another, perhaps before the first
// has come back from its munmap.
TEST_CASE("threads that are handed each other's addresses") {
    CacheRig r;
    std::atomic<int> stale{0};
    const auto work = [&] {
        for (int i = 0; i < 4000; ++i) {
            std::byte* memory = map(4 * kPage);
            stale += stale_looks(r, memory, 4 * kPage);
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
