// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "base/statistics_page.hpp"

#include "base/error.hpp"
#include "base/fd.hpp"
#include "base/log.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <span>
#include <sys/mman.h>
#include <vector>

namespace odrc {
namespace {

// The file with the pages of this process. A child that was forked has one of its own.
class PageFile {
public:
    // A page that is zero, and its number; null where there is no such memory.
    void* take(size_t& number) noexcept {
        const std::lock_guard guard{lock_};
        if (owner_ != getpid() || !file_) begin();
        void* page = MAP_FAILED;
        const int error = guarded([&] {
            number = static_cast<size_t>(std::ranges::find(taken_, false) - taken_.begin());
            if (number == taken_.size()) taken_.push_back(false);
            const auto end = static_cast<off_t>(taken_.size() * StatisticsPage::kBytes);
            if (!file_ || ftruncate(file_.get(), end)) return -errno;
            page = mmap(nullptr, StatisticsPage::kBytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                        file_.get(), static_cast<off_t>(number * StatisticsPage::kBytes));
            if (page == MAP_FAILED) return -errno;
            taken_[number] = true;
            return 0;
        });
        if (!error) return page;
        ODRC_INFO(FI_LOG_EP_CTRL, "nobody else can see what an endpoint counts: {}",
                  fi_strerror(-error));
        return nullptr;
    }

    // A child that was forked leaves alone what its parent has.
    void give_back(void* page, size_t number) noexcept {
        const std::lock_guard guard{lock_};
        if (owner_ == getpid() && static_cast<StatisticsPage*>(page)->pid == owner_) {
            madvise(page, StatisticsPage::kBytes, MADV_REMOVE); // it is zero then
            taken_[number] = false;
        }
        munmap(page, StatisticsPage::kBytes);
    }

private:
    void begin() noexcept {
        owner_ = getpid();
        file_ = Fd{memfd_create(StatisticsPage::kFileName, MFD_CLOEXEC)};
        taken_.clear();
    }

    std::mutex lock_;
    pid_t owner_{0};
    Fd file_;
    std::vector<bool> taken_;
};

// Never ended: endpoints may be closed while the program exits.
PageFile& page_file() {
    static auto& file = *new PageFile;
    return file;
}

void put(std::span<char> to, std::string_view text) noexcept {
    const size_t length = std::min(text.size(), to.size() - 1);
    std::memcpy(to.data(), text.data(), length);
    to[length] = '\0';
}

int64_t nanoseconds(Time time) noexcept { return time.time_since_epoch().count(); }
static_assert(std::is_same_v<Clock::period, std::nano>);

template <class Change>
void change(Stall& stall, Change&& apply) noexcept {
    const uint32_t version = stall.version.load(std::memory_order_relaxed);
    stall.version.exchange(version + 1, std::memory_order_acq_rel); // before all that changes
    apply(stall);
    stall.version.store(version + 2, std::memory_order_release);
}

} // namespace

void StatisticsPage::open(std::string_view on_device, std::string_view own_address) noexcept {
    opened_ns = nanoseconds(Clock::now());
    put(device, on_device);
    put(address, own_address);
    format.store(kFormat, std::memory_order_release);
}

uint8_t StatisticsPage::stall(std::string_view peer, Time began) noexcept {
    const auto free = std::ranges::find(stalls, 0, &Stall::began_ns);
    if (free == stalls.end()) return 0;
    change(*free, [&](Stall& stall) {
        put(stall.peer, peer);
        put(stall.state, "");
        stall.datagrams = 0;
        stall.began_ns = nanoseconds(began);
    });
    return static_cast<uint8_t>(free - stalls.begin() + 1);
}

void StatisticsPage::stall_goes_on(uint8_t place, std::string_view state,
                                   uint32_t datagrams) noexcept {
    if (place == 0) return;
    change(stalls[place - 1u], [&](Stall& stall) {
        put(stall.state, state);
        stall.datagrams = datagrams;
    });
}

void StatisticsPage::stall_is_over(uint8_t place) noexcept {
    if (place == 0) return;
    change(stalls[place - 1u], [](Stall& stall) { stall.began_ns = 0; });
}

OwnStatistics::OwnStatistics() {
    void* memory = page_file().take(number_);
    shared_ = memory != nullptr;
    if (!shared_)
        memory = mmap(nullptr, StatisticsPage::kBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw Error{errno};
    page_ = new (memory) StatisticsPage{};
    page_->pid = getpid();
}

OwnStatistics::~OwnStatistics() {
    if (shared_)
        page_file().give_back(page_, number_);
    else
        munmap(page_, StatisticsPage::kBytes);
}

} // namespace odrc
