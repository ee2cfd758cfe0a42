// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ondemand/seal.hpp"

#include <rdma/fabric.h>

namespace odrc::ofi {

// The auth_key of attributes (fi_domain(3), fi_endpoint(3)).
template <class Attributes>
std::span<const std::byte> auth_key(const Attributes& a) noexcept {
    return {reinterpret_cast<const std::byte*>(a.auth_key), a.auth_key_size};
}

// Whether one can be as it is: there, as long as it says, and no longer than we take.
template <class Attributes>
bool usable_auth_key(const Attributes& a) noexcept {
    return a.auth_key_size == 0 || (a.auth_key && a.auth_key_size <= ondemand::Seal::kMaxKey);
}

// The seal of what is opened with the attributes: of their key, or else another one. Throws Error.
template <class Attributes>
ondemand::Seal seal_of(const Attributes* a, const ondemand::Seal& otherwise) {
    return a && a->auth_key_size > 0 ? ondemand::Seal{auth_key(*a)} : otherwise;
}

} // namespace odrc::ofi
