// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "fabtests_ext/support/samples.hpp"

namespace fabtests_ext::logp {

// The microseconds of one way, from half of there and back.
template <class Way>
double there_and_back(Way& way, size_t times) {
    const Stopwatch watch;
    for (size_t i = 0; i < times; ++i) {
        if (!way.first()) way.receive();
        way.send();
        way.prepare();
        if (way.first()) way.receive();
    }
    return watch.nanoseconds() / 2e3 / static_cast<double>(times);
}

} // namespace fabtests_ext::logp
