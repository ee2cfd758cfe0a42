// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ondemand/tickets.hpp"

#include <cstring>
#include <sodium.h>

namespace odrc::ondemand {

static_assert(crypto_shorthash_KEYBYTES == 16 && crypto_shorthash_BYTES == sizeof(uint64_t));

Tickets::~Tickets() { sodium_memzero(secret_.data(), secret_.size()); }

void Tickets::renew() noexcept { randombytes_buf(secret_.data(), secret_.size()); }

uint64_t Tickets::of(const Address& from, uint64_t endpoint) const noexcept {
    unsigned char content[sizeof(Address) + sizeof endpoint];
    std::memcpy(content, from.get(), from.length());
    std::memcpy(content + from.length(), &endpoint, sizeof endpoint);
    uint64_t ticket = 0;
    crypto_shorthash(reinterpret_cast<unsigned char*>(&ticket), content,
                     from.length() + sizeof endpoint, secret_.data());
    return ticket | 1;
}

} // namespace odrc::ondemand
