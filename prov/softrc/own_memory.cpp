// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/own_memory.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <sys/mman.h>

namespace odrc::soft {
namespace {

constexpr uint64_t kPage = 4096;

// For kernels before 5.14: asks proc(5), /proc/self/maps, whose lines are in order.
bool is_mapped(uint64_t begin, uint64_t end, bool writable) noexcept {
    const std::unique_ptr<FILE, int (*)(FILE*)> maps{std::fopen("/proc/self/maps", "re"),
                                                     std::fclose};
    if (!maps) return true; // who uses what is not there will find out
    char line[512];
    while (begin < end && std::fgets(line, sizeof line, maps.get())) {
        unsigned long from = 0, to = 0;
        char access[5] = "";
        if (std::sscanf(line, "%lx-%lx %4s", &from, &to, access) != 3 || to <= begin) continue;
        if (from > begin || access[0] != 'r' || (writable && access[1] != 'w')) return false;
        begin = to;
    }
    return begin >= end;
}

} // namespace

bool is_there(const void* address, size_t length, bool writable) noexcept {
    if (length == 0) return true;
    const auto begin = reinterpret_cast<uint64_t>(address);
    const uint64_t end = begin + length;
    if (end < begin) return false; // round the end of the address space
    const uint64_t first = begin / kPage * kPage;
    if (madvise(reinterpret_cast<void*>(first), end - first,
                writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0)
        return true;
    return errno == EINVAL && is_mapped(begin, end, writable);
}

} // namespace odrc::soft
