// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Slow slices are left out for a while.

#include "base/host.hpp"
#include "transfer/slice_pace.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>

using namespace odrc;
using odrc::transfer::SlicePace;
using namespace std::chrono_literals;

namespace {

constexpr size_t kBytes = 16 << 10;
constexpr uint64_t kPages = kBytes / SlicePace::kPage;

// How many messages are left out until one goes in slices again.
uint32_t left_out(SlicePace& pace) {
    uint32_t messages = 0;
    while (!pace.is_worth_it()) ++messages;
    return messages;
}

} // namespace

TEST_CASE("what is slow for a short message is quick for a long one") {
    CHECK_FALSE(SlicePace::is_slow(4us, 16 << 10));
    CHECK(SlicePace::is_slow(5us, 16 << 10));
    CHECK_FALSE(SlicePace::is_slow(5us, 32 << 10));
}

TEST_CASE("slow slices are left out, each time for longer") {
    SlicePace pace;
    const uint64_t faults = 1000;
    pace.was_slow(kBytes, faults); // of before
    CHECK(left_out(pace) == 0);
    for (uint32_t expected = SlicePace::kFewest; expected < SlicePace::kMost; expected *= 2) {
        pace.was_slow(kBytes, faults);
        CHECK(left_out(pace) == expected);
    }
    for (int i = 0; i < 3; ++i) {
        pace.was_slow(kBytes, faults);
        CHECK(left_out(pace) == SlicePace::kMost);
    }

    SUBCASE("and once they are quick again, all is as it was") {
        pace.was_quick();
        CHECK(left_out(pace) == 0);
        pace.was_slow(kBytes, faults);
        CHECK(left_out(pace) == SlicePace::kFewest);
    }
}

TEST_CASE("slices into memory that is new are not left out") {
    SlicePace pace;
    uint64_t faults = 0;
    for (int i = 0; i < 1000; ++i) {
        pace.was_slow(kBytes, faults += kPages);
        CHECK(left_out(pace) == 0);
    }
    pace.was_slow(kBytes, faults += 1); // of something else
    CHECK(left_out(pace) == SlicePace::kFewest);
}

TEST_CASE("a thread's page faults are counted") {
    constexpr size_t kMapped = 64 * SlicePace::kPage;
    void* memory =
        mmap(nullptr, kMapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    madvise(memory, kMapped, MADV_NOHUGEPAGE);
    const uint64_t before = page_faults();
    for (size_t at = 0; at < kMapped; at += SlicePace::kPage)
        static_cast<volatile char*>(memory)[at] = 1;
    CHECK(page_faults() - before >= kMapped / SlicePace::kPage);
    munmap(memory, kMapped);
}
