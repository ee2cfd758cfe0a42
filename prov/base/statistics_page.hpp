// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/clock.hpp"
#include "base/counters.hpp"
#include "base/traffic.hpp"

#include <array>
#include <atomic>
#include <string_view>
#include <sys/types.h>

namespace odrc {

// A wireup that takes its time, as others may read it while it is written: what they have read
// counts if the version was even before, and is the same after.
struct Stall {
    std::atomic<uint32_t> version;
    uint32_t datagrams; // sent for the step that it is at
    int64_t began_ns;   // of the clock; 0: there is none
    char peer[80];
    char state[64];
};

// What an endpoint counts, and what stalls, where other processes can read it while it goes on
// (statistics_reader.hpp). The endpoint counts in it as in any memory of its own. A process has its
// pages in one memory file, which is found by its name among those that the process has open:
// nobody has to be told of it, and it goes with the process, however that ends.
struct StatisticsPage {
    static constexpr size_t kBytes = 4096;
    // Another one when anything here has another place, or Counters has.
    static constexpr uint64_t kFormat = 0x37'30'2d'63'72'64'6f'00; // "odrc-07"
    static constexpr const char* kFileName = "odrc-statistics";

    // Shows the page to others, once its endpoint is what it is.
    void open(std::string_view device, std::string_view address) noexcept;

    // The eight oldest, more or less: who stalls when all places are taken gets one when one is
    // free. Gives a place, which is no more than a number, or 0.
    uint8_t stall(std::string_view peer, Time began) noexcept;
    void stall_goes_on(uint8_t place, std::string_view state, uint32_t datagrams) noexcept;
    void stall_is_over(uint8_t place) noexcept;

    std::atomic<uint64_t> format; // 0: nothing here yet
    int64_t opened_ns;            // of the clock
    pid_t pid;                    // a child that was forked has the file open, too
    char device[64];
    char address[80];
    Counters counters;
    Traffic traffic;
    std::array<Stall, 8> stalls;
};
static_assert(sizeof(StatisticsPage) <= StatisticsPage::kBytes);

// A page for one endpoint. If it cannot be where others see it, it is in memory of our own.
class OwnStatistics {
public:
    OwnStatistics(); // throws Error
    ~OwnStatistics();
    OwnStatistics(const OwnStatistics&) = delete;
    OwnStatistics& operator=(const OwnStatistics&) = delete;

    StatisticsPage* operator->() const noexcept { return page_; }
    StatisticsPage& operator*() const noexcept { return *page_; }

private:
    size_t number_{0}; // in the file
    StatisticsPage* page_;
    bool shared_;
};

} // namespace odrc
