// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Remote procedure calls: operations on objects that one process has, as in Orca.

#include "bench/patterns/messenger.hpp"

#include <vector>

namespace bench {

class Calls {
public:
    // Carries out what somebody asks for, and may leave something for an answer.
    using Operation = std::function<void(Bytes arguments, std::vector<std::byte>& answer)>;

    Calls(Messenger& messenger, Operation operation);

    // The answer is there until the next call. One at a time; meanwhile those of others are served.
    Bytes call(int owner, Bytes arguments);

private:
    Messenger& messenger_;
    Operation operation_;
    std::vector<std::byte> answer_, served_;
    bool answered_{false};
};

} // namespace bench
