// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "communicator.hpp"

// Contexts of communicators: pairs of numbers, of which the first is the communicator's (tag.hpp).
namespace odrc::mpi {

// One that is free at all members of the parent, who call this at once. None: error says why.
std::optional<uint32_t> take_context(Communicator& parent, int& error);
void give_back_context(uint32_t context) noexcept;

} // namespace odrc::mpi
