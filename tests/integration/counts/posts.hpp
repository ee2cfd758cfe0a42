// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "observation.hpp"

#include <rdma/fi_domain.h>

namespace counts {

// From now on the observation is of what this thread posts to the device of this domain, too, which
// is odrc's. Of one kind of device and one thread at a time.
void count_posts_in(Observation& observation, fid_domain& domain);

} // namespace counts
