// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ondemand/seal.hpp"

#include "base/error.hpp"
#include "base/log.hpp"

#include <cstring>
#include <sodium.h>

namespace odrc::ondemand {
namespace {

// What else the application derives from its key has nothing to do with what we do, nor numbers
// with seals.
using Purpose = const unsigned char[crypto_generichash_blake2b_PERSONALBYTES + 1];
constexpr Purpose kSealing = "odrc wireup seal", kNumbering = "odrc laid number";

const unsigned char* bytes_of(std::span<const std::byte> s) noexcept {
    return reinterpret_cast<const unsigned char*>(s.data());
}

// An address as both sides see it, which a scope of one host's is no part of.
std::array<unsigned char, 18> plain(const Address& address) noexcept {
    std::array<unsigned char, 18> bytes{};
    if (address.family() == AF_INET6) {
        sockaddr_in6 v6;
        std::memcpy(&v6, address.get(), sizeof v6);
        std::memcpy(bytes.data(), &v6.sin6_addr, 16);
    } else {
        sockaddr_in v4;
        std::memcpy(&v4, address.get(), sizeof v4);
        bytes[10] = bytes[11] = 0xff; // mapped (RFC 4291, 2.5.5.2)
        std::memcpy(bytes.data() + 12, &v4.sin_addr, 4);
    }
    bytes[16] = static_cast<unsigned char>(address.port() >> 8);
    bytes[17] = static_cast<unsigned char>(address.port());
    return bytes;
}

} // namespace

Seal::Seal(std::span<const std::byte> key)
    : keyed_{!key.empty()} {
    if (sodium_init() < 0) {
        ODRC_WARN(FI_LOG_EP_CTRL, "libsodium does not start");
        throw Error{FI_ENODEV};
    }
    crypto_generichash_blake2b_salt_personal(key_.data(), key_.size(), bytes_of(key), key.size(),
                                             nullptr, 0, nullptr, kSealing);
}

Seal::~Seal() { sodium_memzero(key_.data(), key_.size()); }

Seal::Mac Seal::mac(std::span<const std::byte> content, const Address& to) const noexcept {
    Mac mac;
    const auto receiver = plain(to);
    crypto_generichash_state state;
    crypto_generichash_init(&state, key_.data(), key_.size(), mac.size());
    crypto_generichash_update(&state, bytes_of(content), content.size());
    crypto_generichash_update(&state, receiver.data(), receiver.size());
    crypto_generichash_final(&state, mac.data(), mac.size());
    sodium_memzero(&state, sizeof state);
    return mac;
}

void Seal::put(std::span<std::byte> datagram, const Address& to) const noexcept {
    const size_t content = datagram.size() - kBytes;
    const Mac made = mac(datagram.first(content), to);
    std::memcpy(datagram.data() + content, made.data(), kBytes);
}

bool Seal::holds(std::span<const std::byte> datagram, const Address& to) const noexcept {
    const size_t content = datagram.size() - kBytes;
    const Mac made = mac(datagram.first(content), to);
    return sodium_memcmp(made.data(), datagram.data() + content, kBytes) == 0;
}

uint64_t Seal::number(std::span<const std::byte> known) const noexcept {
    uint8_t made[crypto_generichash_blake2b_BYTES_MIN];
    crypto_generichash_blake2b_salt_personal(made, sizeof made, bytes_of(known), known.size(),
                                             key_.data(), key_.size(), nullptr, kNumbering);
    uint64_t number;
    std::memcpy(&number, made, sizeof number);
    return number;
}

} // namespace odrc::ondemand
