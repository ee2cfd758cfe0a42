// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstdint>

namespace bench {

// What this process takes, in bytes.
struct Usage {
    int64_t arena;       // pages of its arena that are there
    int64_t heap;        // handed out by malloc
    int64_t resident;    // private pages, heap and all
    int64_t page_tables; // for its own mappings and those of others' arenas

    static Usage now();
    Usage operator-(const Usage& before) const noexcept {
        return {arena - before.arena, heap - before.heap, resident - before.resident,
                page_tables - before.page_tables};
    }
};

} // namespace bench
