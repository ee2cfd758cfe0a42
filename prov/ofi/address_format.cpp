// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/address_format.hpp"

#include "base/host.hpp"
#include "base/parameters.hpp"
#include "ofi/fi_odrc.h"

#include <atomic>
#include <cstring>

namespace odrc::ofi {

bool native_format(const fi_info* hints) noexcept {
    const uint32_t asked = hints ? hints->addr_format : uint32_t{FI_FORMAT_UNSPEC};
    if (asked == FI_FORMAT_UNSPEC) return parameters().connect == Connect::all;
    return asked == FI_ODRC_ADDRESS;
}

PlaceInJob next_place_in_job() noexcept {
    static std::atomic<uint32_t> endpoints{0};
    PlaceInJob place = place_by_launcher();
    if (!place.known()) return {};
    const uint32_t number = endpoints.fetch_add(1, std::memory_order_relaxed);
    if (number > kMostEndpointsInJob) return {};
    place.endpoint = static_cast<uint8_t>(number);
    return place;
}

size_t address_length(const void* address) noexcept {
    if (ondemand::NativeAddress::is_meant(address)) return ondemand::NativeAddress::kBytes;
    sa_family_t family;
    std::memcpy(&family, address, sizeof family);
    return family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

std::optional<AnyAddress> AnyAddress::from(const void* address, size_t length) noexcept {
    using ondemand::NativeAddress;
    if (length == 0) return std::nullopt;
    if (!NativeAddress::is_meant(address)) {
        const auto socket = ondemand::Address::from(address, length);
        return socket ? std::optional{AnyAddress{*socket, std::nullopt}} : std::nullopt;
    }
    NativeAddress::Bytes bytes;
    if (length < sizeof bytes) return std::nullopt;
    std::memcpy(bytes.data(), address, sizeof bytes);
    const auto native = NativeAddress::decode(bytes);
    return native ? std::optional{AnyAddress{native->socket, native}} : std::nullopt;
}

} // namespace odrc::ofi
