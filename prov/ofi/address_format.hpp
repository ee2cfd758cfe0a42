// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/place_in_job.hpp"
#include "ondemand/native_address.hpp"

#include <optional>
#include <rdma/fabric.h>
#include <variant>

namespace odrc::ofi {

// Whether what a program asks for gets addresses of the provider's own format, with which peers
// connect without a word: if it asks for them, or leaves that open and the user asks to connect to
// all.
bool native_format(const fi_info* hints) noexcept;

// The place of the next endpoint of this process in its job; unknown if nobody has said.
PlaceInJob next_place_in_job() noexcept;

// How many bytes an address takes, of whichever of our formats it is.
size_t address_length(const void* address) noexcept;

// What an address says, of whichever format it is; none if it is none of an endpoint.
struct AnyAddress {
    ondemand::Address socket;
    std::optional<ondemand::NativeAddress> native;

    static std::optional<AnyAddress> from(const void* address, size_t length) noexcept;
    std::string text() const { return native ? native->text() : socket.text(); }
};

} // namespace odrc::ofi
