// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "pin.hpp"

#include <cerrno>
#include <sched.h>
#include <system_error>
#include <vector>

namespace fabtests_ext {

int pin(int rank) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set))
        throw std::system_error{errno, std::generic_category(), "sched_getaffinity"};
    std::vector<int> processors;
    for (int i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(i, &set)) processors.push_back(i);
    const int mine = processors[static_cast<size_t>(rank) % processors.size()];
    CPU_ZERO(&set);
    CPU_SET(mine, &set);
    if (sched_setaffinity(0, sizeof set, &set))
        throw std::system_error{errno, std::generic_category(), "sched_setaffinity"};
    return mine;
}

} // namespace fabtests_ext
