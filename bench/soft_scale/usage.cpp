// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "bench/soft_scale/usage.hpp"

#include <filesystem>
#include <fstream>
#include <malloc.h>
#include <string>
#include <sys/stat.h>

namespace bench {
namespace {

int64_t arena_bytes() {
    namespace fs = std::filesystem;
    int64_t bytes = 0;
    for (const auto& entry : fs::directory_iterator{"/proc/self/fd"}) {
        std::error_code gone; // the directory's own descriptor is among them
        const fs::path target = fs::read_symlink(entry.path(), gone);
        struct stat status {};
        if (target.string().starts_with("/memfd:odrc-arena") &&
            stat(entry.path().c_str(), &status) == 0)
            bytes += int64_t{status.st_blocks} * 512;
    }
    return bytes;
}

// The sum of the lines of a file of proc(5) that begin so: "VmPTE:      52 kB".
int64_t kilobytes_in(const char* file, const std::string& key) {
    std::ifstream lines{file};
    int64_t bytes = 0;
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(key)) bytes += std::stoll(line.substr(key.size())) * 1024;
    return bytes;
}

} // namespace

Usage Usage::now() {
    const struct mallinfo2 heap = mallinfo2();
    return {.arena = arena_bytes(),
            .heap = static_cast<int64_t>(heap.uordblks + heap.hblkhd),
            .resident = kilobytes_in("/proc/self/smaps_rollup", "Private_Dirty:") +
                        kilobytes_in("/proc/self/smaps_rollup", "Private_Clean:"),
            .page_tables = kilobytes_in("/proc/self/status", "VmPTE:")};
}

} // namespace bench
