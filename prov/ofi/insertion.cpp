// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/insertion.hpp"

#include "base/log.hpp"
#include "ofi/address_format.hpp"

namespace odrc::ofi {

int Insertion::check() const noexcept {
    if (flags_ & ~(FI_MORE | FI_SYNC_ERR | FI_AV_USER_ID | FI_NUMERICHOST)) return -FI_EINVAL;
    if (flags_ & FI_SYNC_ERR && (!context_ || av_.asynchronous())) return -FI_EINVAL;
    // A vector of user ids has them set one by one.
    if (flags_ & FI_AV_USER_ID && (!fi_addr_ || av_.has_ids())) return -FI_EINVAL;
    if (av_.asynchronous() && !av_.events()) return -FI_ENOEQ;
    return 0;
}

// FI_AV_USER_ID: what is to be filled in says, before, what the application calls the address.
std::optional<fi_addr_t> Insertion::id() const noexcept {
    if (flags_ & FI_AV_USER_ID) return fi_addr_[next_];
    if (av_.has_ids()) return FI_ADDR_NOTAVAIL;
    return std::nullopt;
}

void Insertion::insert(const void* raw, size_t length) {
    const auto address = AnyAddress::from(raw, length);
    if (address && address->socket.port() != 0 && !address->socket.wildcard()) {
        const auto* native = address->native ? &*address->native : nullptr;
        const fi_addr_t number = av_.table().insert(address->socket, id(), native);
        if (native) av_.introduce(*native);
        return note(number, 0);
    }
    ODRC_WARN(FI_LOG_AV, "what was to be inserted is no address of an endpoint");
    fail(FI_EINVAL);
}

void Insertion::fail(int error) { note(FI_ADDR_NOTAVAIL, error); }

void Insertion::note(fi_addr_t number, int error) {
    const size_t i = next_++;
    if (fi_addr_) fi_addr_[i] = number;
    if (flags_ & FI_SYNC_ERR) static_cast<int*>(context_)[i] = error;
    if (!error) {
        ++inserted_;
        return;
    }
    if (!av_.asynchronous()) return;
    fi_eq_err_entry entry{};
    entry.fid = &av_.fid;
    entry.context = context_;
    entry.data = i;
    entry.err = error;
    entry.prov_errno = error;
    av_.events()->push_error(entry);
}

int Insertion::end() {
    if (!av_.asynchronous()) return inserted_;
    av_.events()->push(
        FI_AV_COMPLETE,
        {.fid = &av_.fid, .context = context_, .data = static_cast<uint64_t>(inserted_)});
    return 0;
}

} // namespace odrc::ofi
