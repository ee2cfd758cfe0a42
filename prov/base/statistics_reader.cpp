// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "base/statistics_reader.hpp"

#include "base/fd.hpp"
#include "base/statistics_page.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sys/mman.h>
#include <sys/stat.h>

namespace odrc {
namespace {

namespace fs = std::filesystem;

std::vector<pid_t> processes_of_user() {
    std::vector<pid_t> all;
    std::error_code error;
    for (fs::directory_iterator i{"/proc", error}, end; !error && i != end; i.increment(error)) {
        const std::string name = i->path().filename();
        pid_t pid = 0;
        const auto [rest, wrong] = std::from_chars(name.data(), name.data() + name.size(), pid);
        struct stat status;
        if (wrong == std::errc{} && *rest == '\0' && !stat(i->path().c_str(), &status) &&
            status.st_uid == geteuid())
            all.push_back(pid);
    }
    std::ranges::sort(all);
    return all;
}

// The file with the pages of a process; none if it has none, or is gone.
Fd file_of(const fs::path& process) {
    const std::string meant = std::string{"/memfd:"} + StatisticsPage::kFileName + " (deleted)";
    std::error_code error, ignored;
    for (fs::directory_iterator i{process / "fd", error}, end; !error && i != end;
         i.increment(error))
        if (fs::read_symlink(i->path(), ignored) == meant)
            return Fd{open(i->path().c_str(), O_RDONLY | O_CLOEXEC)};
    return {};
}

// Its pages, for as long as they are looked at. Their owner never makes the file shorter.
class Pages {
public:
    explicit Pages(const Fd& file) {
        struct stat status;
        if (!file || fstat(file.get(), &status) || status.st_size == 0) return;
        const auto bytes = static_cast<size_t>(status.st_size);
        void* memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0);
        if (memory == MAP_FAILED) return;
        memory_ = static_cast<const std::byte*>(memory);
        bytes_ = bytes;
    }
    ~Pages() {
        if (memory_) munmap(const_cast<std::byte*>(memory_), bytes_);
    }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    size_t count() const noexcept { return bytes_ / StatisticsPage::kBytes; }
    const StatisticsPage& operator[](size_t i) const noexcept {
        return *reinterpret_cast<const StatisticsPage*>(memory_ + i * StatisticsPage::kBytes);
    }

private:
    const std::byte* memory_{nullptr};
    size_t bytes_{0};
};

template <size_t kRoom>
std::string text_of(const char (&chars)[kRoom]) {
    return {chars, strnlen(chars, kRoom)};
}

// A page as it was, word by word: each number is whole, and what is looked at later is newer.
class Copy {
public:
    explicit Copy(const StatisticsPage& page) noexcept {
        const auto* from = reinterpret_cast<const uint64_t*>(&page);
        for (size_t at = 0; at < sizeof page; at += sizeof *from) {
            const uint64_t word = __atomic_load_n(from++, __ATOMIC_ACQUIRE);
            std::memcpy(bytes_ + at, &word, sizeof word);
        }
    }
    const StatisticsPage* operator->() const noexcept {
        return reinterpret_cast<const StatisticsPage*>(bytes_);
    }

private:
    alignas(StatisticsPage) std::byte bytes_[sizeof(StatisticsPage)];
};

// None if there is none, or it changes too quickly to be one that stalls.
std::optional<StallSeen> read(const Stall& copy, const Stall& stall) {
    const uint32_t version = copy.version.load(std::memory_order_relaxed);
    const bool torn = version % 2 || stall.version.load(std::memory_order_relaxed) != version;
    if (torn || copy.began_ns == 0) return std::nullopt;
    return StallSeen{text_of(copy.peer), text_of(copy.state), copy.datagrams,
                     Clock::now().time_since_epoch() - Clock::duration{copy.began_ns}};
}

std::string command_of(const fs::path& process) {
    std::string name;
    std::getline(std::ifstream{process / "comm"}, name);
    return name;
}

// None if nobody has the page now, or another process than the one where it was found.
std::optional<EndpointSeen> read(const StatisticsPage& page, pid_t pid) {
    const auto is_shown = [&] {
        return page.format.load(std::memory_order_acquire) == StatisticsPage::kFormat;
    };
    if (!is_shown()) return std::nullopt;
    const Copy copy{page};
    if (!is_shown() || page.opened_ns != copy->opened_ns || copy->pid != pid) return std::nullopt;
    EndpointSeen seen{.pid = pid,
                      .command = {},
                      .device = text_of(copy->device),
                      .address = text_of(copy->address),
                      .opened_ns = copy->opened_ns,
                      .counters = copy->counters,
                      .stalls = {}};
    for (size_t i = 0; i < page.stalls.size(); ++i)
        if (auto one = read(copy->stalls[i], page.stalls[i])) seen.stalls.push_back(*one);
    std::ranges::sort(seen.stalls, std::greater{}, &StallSeen::age);
    return seen;
}

} // namespace

std::vector<EndpointSeen> see_endpoints(pid_t of) {
    std::vector<EndpointSeen> all;
    for (const pid_t pid : of ? std::vector{of} : processes_of_user()) {
        const fs::path process = fs::path{"/proc"} / std::to_string(pid);
        const Pages pages{file_of(process)};
        for (size_t i = 0; i < pages.count(); ++i) {
            auto seen = read(pages[i], pid);
            if (!seen) continue;
            seen->command = command_of(process);
            all.push_back(std::move(*seen));
        }
    }
    return all;
}

} // namespace odrc
