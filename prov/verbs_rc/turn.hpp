// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/fd.hpp"
#include "verbs_rc/device.hpp"

namespace odrc::verbs {

// This process's turn to create queue pairs on a device of this host: while it has it, no other
// process of this user makes many, so that the numbers of one process lie together (Xu et al.
// 2024). A turn that does not come in time is not waited for: numbers in disorder are longer to
// tell, and nothing worse. It ends with the object, and with the process, however that ends.
class Turn {
public:
    explicit Turn(const Port& port) noexcept;

    bool had() const noexcept { return static_cast<bool>(file_); }

private:
    Fd file_;
};

} // namespace odrc::verbs
