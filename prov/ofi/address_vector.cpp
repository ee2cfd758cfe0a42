// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/address_vector.hpp"

#include "base/log.hpp"
#include "ofi/endpoint.hpp"
#include "ofi/resolve.hpp"

#include <charconv>
#include <cstring>

namespace odrc::ofi {
namespace {

using ondemand::Address;

// Writes down how one insertion went (fi_av(3): FI_SYNC_ERR). Gives whether it went well.
bool note(fi_addr_t number, size_t i, fi_addr_t* fi_addr, uint64_t flags, void* context) noexcept {
    const bool good = number != FI_ADDR_NOTAVAIL;
    if (fi_addr) fi_addr[i] = number;
    if (flags & FI_SYNC_ERR) static_cast<int*>(context)[i] = good ? 0 : FI_EINVAL;
    return good;
}

int av_insert(fid_av* f, const void* address, size_t count, fi_addr_t* fi_addr, uint64_t flags,
              void* context) {
    auto& av = static_cast<AddressVector&>(*f);
    const auto* at = static_cast<const std::byte*>(address);
    int good = 0;
    for (size_t i = 0; i < count; ++i) {
        const size_t length = av.stride(at);
        good += note(av.insert(at, length), i, fi_addr, flags, context);
        at += length;
    }
    return good;
}

int av_insertsvc(fid_av* f, const char* node, const char* service, fi_addr_t* fi_addr,
                 uint64_t flags, void* context) {
    auto& av = static_cast<AddressVector&>(*f);
    Address address;
    const int error = guarded([&] {
        return resolve(node, service, AF_UNSPEC, (flags & FI_NUMERICHOST) != 0, false, address);
    });
    if (error) return error;
    return note(av.insert(address.get(), address.length()), 0, fi_addr, flags, context);
}

// A name or number that ends in digits, counted up: node1, node2 ... (fi_av(3)).
std::string successor(const char* text, size_t steps) {
    const std::string s{text};
    const size_t digits = s.find_last_not_of("0123456789") + 1; // 0 where all are
    unsigned long value = 0;
    std::from_chars(s.data() + digits, s.data() + s.size(), value);
    std::string number = std::to_string(value + steps);
    if (number.size() < s.size() - digits) number.insert(0, s.size() - digits - number.size(), '0');
    return s.substr(0, digits) + number;
}

int av_insertsym(fid_av* f, const char* node, size_t nodes, const char* service, size_t services,
                 fi_addr_t* fi_addr, uint64_t flags, void* context) {
    if (!node || !service) return -FI_EINVAL;
    auto& av = static_cast<AddressVector&>(*f);
    return guarded([&] {
        int good = 0;
        for (size_t n = 0; n < nodes; ++n) {
            for (size_t s = 0; s < services; ++s) {
                Address address;
                fi_addr_t number = FI_ADDR_NOTAVAIL;
                if (resolve(successor(node, n).c_str(), successor(service, s).c_str(), AF_UNSPEC,
                            (flags & FI_NUMERICHOST) != 0, false, address) == 0)
                    number = av.insert(address.get(), address.length());
                good += note(number, n * services + s, fi_addr, flags, context);
            }
        }
        return good;
    });
}

int av_remove(fid_av* f, fi_addr_t* fi_addr, size_t count, uint64_t) {
    int result = 0;
    for (size_t i = 0; i < count; ++i)
        if (const int error = static_cast<AddressVector&>(*f).remove(fi_addr[i])) result = error;
    return result;
}

int av_lookup(fid_av* f, fi_addr_t fi_addr, void* out, size_t* length) {
    const auto address = static_cast<AddressVector&>(*f).table().at(fi_addr);
    if (!address) return -FI_EINVAL;
    const size_t room = std::exchange(*length, address->length());
    if (room > 0) std::memcpy(out, address->get(), std::min(room, *length));
    return 0;
}

const char* av_straddr(fid_av* f, const void* raw, char* buffer, size_t* length) {
    const auto address = Address::from(raw, static_cast<AddressVector&>(*f).stride(raw));
    guarded([&] {
        const std::string text = address ? address->text() : "(no IP address)";
        if (*length > 0) std::snprintf(buffer, *length, "%s", text.c_str());
        *length = text.size() + 1;
        return 0;
    });
    return buffer;
}

fi_ops av_fid_ops = plain_ops<AddressVector>();

fi_ops_av make_av_ops() noexcept {
    fi_ops_av ops{}; // later versions of libfabric have more entries
    ops.size = sizeof ops;
    ops.insert = av_insert;
    ops.insertsvc = av_insertsvc;
    ops.insertsym = av_insertsym;
    ops.remove = av_remove;
    ops.lookup = av_lookup;
    ops.straddr = av_straddr;
    ops.av_set = unsupported;
    return ops;
}
fi_ops_av av_ops = make_av_ops();

} // namespace

AddressVector::AddressVector(Domain& domain, const fi_av_attr* attr, void* context)
    : fid_av{}
    , on_domain_{domain.leaning} {
    if (attr && (attr->flags & ~FI_SYMMETRIC || attr->name || attr->rx_ctx_bits > 0)) {
        ODRC_WARN(FI_LOG_AV, "shared, asynchronous and multi-context address vectors are not "
                             "supported");
        throw Error{FI_ENOSYS};
    }
    fid = {.fclass = FI_CLASS_AV, .context = context, .ops = &av_fid_ops};
    ops = &av_ops;
}

void AddressVector::attach(Endpoint& endpoint) {
    std::lock_guard lock{mutex_};
    endpoints_.push_back(&endpoint);
}

void AddressVector::detach(Endpoint& endpoint) noexcept {
    std::lock_guard lock{mutex_};
    std::erase(endpoints_, &endpoint);
}

size_t AddressVector::stride(const void* address) const noexcept {
    sa_family_t family;
    std::memcpy(&family, address, sizeof family);
    return family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

fi_addr_t AddressVector::insert(const void* raw, size_t length) noexcept {
    fi_addr_t number = FI_ADDR_NOTAVAIL;
    const auto address = Address::from(raw, length);
    if (!address || address->port() == 0 || address->wildcard()) {
        ODRC_WARN(FI_LOG_AV, "what was to be inserted is no address of an endpoint");
        return number;
    }
    guarded([&] {
        number = table_.insert(*address);
        return 0;
    });
    return number;
}

int AddressVector::remove(fi_addr_t number) noexcept {
    {
        std::lock_guard lock{mutex_};
        for (Endpoint* endpoint : endpoints_) endpoint->forget(number);
    }
    return table_.remove(number) ? 0 : -FI_EINVAL;
}

} // namespace odrc::ofi
