// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What the program may set on an endpoint that is there: options, and the flags of later calls.

#include "ofi/attributes.hpp"
#include "ofi/endpoint.hpp"
#include "ofi/fi_odrc.h"

#include <cstring>

namespace odrc::ofi {

int Endpoint::get_option(int name, void* value, size_t& length) noexcept {
    if (name != FI_OPT_MIN_MULTI_RECV) return -FI_ENOPROTOOPT;
    const size_t room = std::exchange(length, sizeof min_multi_receive_);
    if (room < length) return -FI_ETOOSMALL;
    const Entry entry{gate()};
    std::memcpy(value, &min_multi_receive_, length);
    return 0;
}

int Endpoint::set_option(int name, const void* value, size_t length) noexcept {
    if (name == FI_ODRC_OPT_PLACE) return set_place(value, length);
    if (name != FI_OPT_MIN_MULTI_RECV) return -FI_ENOPROTOOPT;
    if (length != sizeof min_multi_receive_) return -FI_EINVAL;
    const Entry entry{gate()};
    std::memcpy(&min_multi_receive_, value, length);
    return 0;
}

int Endpoint::set_place(const void* value, size_t length) noexcept {
    fi_odrc_place place;
    if (enabled()) return -FI_EOPBADSTATE;
    if (length != sizeof place) return -FI_EINVAL;
    std::memcpy(&place, value, length);
    if (place.rank >= place.size || place.size > kMostInJob || place.endpoint > kMostEndpointsInJob)
        return -FI_EINVAL;
    place_ = {.rank = place.rank,
              .size = place.size,
              .job = job_number(&place.job, sizeof place.job),
              .endpoint = static_cast<uint8_t>(place.endpoint)};
    return 0;
}

// fi_control(3): FI_TRANSMIT or FI_RECV says which flags are meant.
int Endpoint::get_flags(uint64_t& flags) const noexcept {
    if ((flags & (FI_TRANSMIT | FI_RECV)) == FI_TRANSMIT)
        flags = transmit_flags_;
    else if ((flags & (FI_TRANSMIT | FI_RECV)) == FI_RECV)
        flags = receive_flags_;
    else
        return -FI_EINVAL;
    return 0;
}

int Endpoint::set_flags(uint64_t flags) noexcept {
    const uint64_t which = flags & (FI_TRANSMIT | FI_RECV);
    const uint64_t value = flags & ~(FI_TRANSMIT | FI_RECV);
    if (which == FI_TRANSMIT && !(value & ~kTransmitFlags))
        transmit_flags_ = value;
    else if (which == FI_RECV && !(value & ~kReceiveFlags))
        receive_flags_ = value;
    else
        return -FI_EINVAL;
    return 0;
}

} // namespace odrc::ofi
