// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/range_lists.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "ofi/endpoint.hpp"

#include <cstring>

namespace odrc::ofi {
namespace {

int get_list(fid_ep* ep, void* list, size_t* length) {
    return guarded([&] { return static_cast<Endpoint&>(*ep).list(list, *length); });
}

int give_list(fid_ep* ep, fi_addr_t peer, const void* list, size_t length) {
    return guarded([&] {
        return static_cast<Endpoint&>(*ep).meet(peer,
                                                {static_cast<const std::byte*>(list), length});
    });
}

} // namespace

int Endpoint::list(void* out, size_t& length) {
    if (!enabled()) return -FI_EOPBADSTATE;
    const Entry entry{gate()};
    const auto bytes = engine_->range_list().encode();
    const size_t room = std::exchange(length, bytes.size());
    if (room < bytes.size()) return -FI_ETOOSMALL;
    std::memcpy(out, bytes.data(), bytes.size());
    const size_t address =
        native_format_ ? ondemand::NativeAddress::kBytes : engine_->address().length();
    engine_->published(address + bytes.size());
    return 0;
}

int Endpoint::meet(fi_addr_t number, std::span<const std::byte> bytes) {
    if (!enabled()) return -FI_EOPBADSTATE;
    const auto peer = addresses_->table().native_at(number);
    const auto list = ondemand::RangeList::decode(bytes);
    if (!peer || !list || !list->goes_on(*peer)) {
        ODRC_WARN(FI_LOG_EP_CTRL, "{}: what was given for a list of {} is none of its queue pairs",
                  domain_.adapter().port().name(), peer ? peer->text() : "nobody we know");
        return -FI_EINVAL;
    }
    const Entry entry{gate()};
    engine_->introduce(*peer, &*list);
    return 0;
}

fi_odrc_ranges_ops ranges_ops = {.size = sizeof ranges_ops, .get = get_list, .give = give_list};

} // namespace odrc::ofi
