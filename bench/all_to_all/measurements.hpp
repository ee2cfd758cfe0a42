// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstddef>

namespace bench {

// How many bytes a process publishes, by the number of its peers; and how fast its queue pairs are
// made. 0, or a process has failed.
int published_bytes(int processes, size_t most);
int creation(size_t count);

// How long it takes until so many endpoints, in so many processes, are connected to each other, and
// have all said a word to each.
int set_up(int processes, size_t endpoints);

} // namespace bench
