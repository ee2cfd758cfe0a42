// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/address_vector.hpp"

#include "base/log.hpp"
#include "ofi/address_format.hpp"
#include "ofi/attributes.hpp"
#include "ofi/av_set.hpp"
#include "ofi/endpoint.hpp"
#include "ofi/insertion.hpp"
#include "ofi/resolve.hpp"

#include <charconv>
#include <cstring>

namespace odrc::ofi {
namespace {

using ondemand::Address;

int av_insert(fid_av* f, const void* address, size_t count, fi_addr_t* fi_addr, uint64_t flags,
              void* context) {
    auto& av = static_cast<AddressVector&>(*f);
    if (!address && count > 0) return -FI_EINVAL;
    Insertion insertion{av, fi_addr, flags, context};
    if (const int error = insertion.check()) return error;
    return guarded([&] {
        const auto* at = static_cast<const std::byte*>(address);
        for (size_t i = 0; i < count; ++i) {
            const size_t length = address_length(at);
            insertion.insert(at, length);
            at += length;
        }
        return insertion.end();
    });
}

void insert_by_name(Insertion& insertion, const char* node, const char* service, uint64_t flags) {
    Address address;
    if (const int error =
            resolve(node, service, AF_UNSPEC, (flags & FI_NUMERICHOST) != 0, false, address))
        insertion.fail(-error);
    else
        insertion.insert(address.get(), address.length());
}

int av_insertsvc(fid_av* f, const char* node, const char* service, fi_addr_t* fi_addr,
                 uint64_t flags, void* context) {
    if (!node || !service) return -FI_EINVAL;
    Insertion insertion{static_cast<AddressVector&>(*f), fi_addr, flags, context};
    if (const int error = insertion.check()) return error;
    return guarded([&] {
        insert_by_name(insertion, node, service, flags);
        return insertion.end();
    });
}

// A name or number that ends in digits, counted up: node1, node2 ... (fi_av(3)).
std::string successor(const std::string& s, size_t steps) {
    if (steps == 0) return s;
    const size_t digits = s.find_last_not_of("0123456789") + 1; // 0 where all are
    unsigned long value = 0;
    std::from_chars(s.data() + digits, s.data() + s.size(), value);
    std::string number = std::to_string(value + steps);
    if (number.size() < s.size() - digits) number.insert(0, s.size() - digits - number.size(), '0');
    return s.substr(0, digits) + number;
}

bool ends_in_digit(const std::string& s) noexcept {
    return !s.empty() && s.back() >= '0' && s.back() <= '9';
}

int av_insertsym(fid_av* f, const char* node, size_t nodes, const char* service, size_t services,
                 fi_addr_t* fi_addr, uint64_t flags, void* context) {
    if (!node || !service) return -FI_EINVAL;
    Insertion insertion{static_cast<AddressVector&>(*f), fi_addr, flags, context};
    if (const int error = insertion.check()) return error;
    return guarded([&] {
        if ((nodes > 1 && !ends_in_digit(node)) || (services > 1 && !ends_in_digit(service)))
            return -FI_EINVAL;
        for (size_t n = 0; n < nodes; ++n)
            for (size_t s = 0; s < services; ++s)
                insert_by_name(insertion, successor(node, n).c_str(), successor(service, s).c_str(),
                               flags);
        return insertion.end();
    });
}

int av_remove(fid_av* f, fi_addr_t* fi_addr, size_t count, uint64_t flags) {
    if (flags) return -FI_EINVAL;
    int result = 0;
    for (size_t i = 0; i < count; ++i)
        if (const int error = static_cast<AddressVector&>(*f).remove(fi_addr[i])) result = error;
    return result;
}

int av_lookup(fid_av* f, fi_addr_t fi_addr, void* out, size_t* length) {
    const auto& table = static_cast<AddressVector&>(*f).table();
    const auto address = table.at(fi_addr);
    if (!address) return -FI_EINVAL;
    if (const auto native = table.native_at(fi_addr)) {
        const auto bytes = native->encode();
        const size_t room = std::exchange(*length, bytes.size());
        if (room > 0) std::memcpy(out, bytes.data(), std::min(room, *length));
        return 0;
    }
    const size_t room = std::exchange(*length, address->length());
    if (room > 0) std::memcpy(out, address->get(), std::min(room, *length));
    return 0;
}

const char* av_straddr(fid_av*, const void* raw, char* buffer, size_t* length) {
    const auto address = AnyAddress::from(raw, address_length(raw));
    guarded([&] {
        const std::string text = address ? address->text() : "(no IP address)";
        if (*length > 0) std::snprintf(buffer, *length, "%s", text.c_str());
        *length = text.size() + 1;
        return 0;
    });
    return buffer;
}

#if FI_MAJOR_VERSION >= 2
int av_set_user_id(fid_av* f, fi_addr_t fi_addr, fi_addr_t id, uint64_t flags) {
    auto& av = static_cast<AddressVector&>(*f);
    if (flags || !av.has_ids()) return -FI_EINVAL;
    return guarded([&] { return av.table().identify(fi_addr, id) ? 0 : -FI_EINVAL; });
}
#endif

int av_bind(fid* f, fid* other, uint64_t flags) noexcept {
    if (flags || other->fclass != FI_CLASS_EQ) return -FI_EINVAL;
    return as<AddressVector>(f).bind(as<EventQueue>(other));
}

fi_ops av_fid_ops = plain_ops<AddressVector>(av_bind);

fi_ops_av make_av_ops() noexcept {
    fi_ops_av ops{}; // later versions of libfabric have more entries
    ops.size = sizeof ops;
    ops.insert = av_insert;
    ops.insertsvc = av_insertsvc;
    ops.insertsym = av_insertsym;
    ops.remove = av_remove;
    ops.lookup = av_lookup;
    ops.straddr = av_straddr;
    ops.av_set = open_av_set;
#if FI_MAJOR_VERSION >= 2
    ops.insert_auth_key = unsupported;
    ops.lookup_auth_key = unsupported;
    ops.set_user_id = av_set_user_id;
#endif
    return ops;
}
fi_ops_av av_ops = make_av_ops();

constexpr uint64_t kFlags = FI_EVENT | FI_SYMMETRIC | kVectorCaps;

uint64_t flags_of(const fi_av_attr* attr) {
    if (!attr) return 0;
    if (attr->name || attr->rx_ctx_bits > 0 || attr->flags & FI_READ) {
        ODRC_WARN(FI_LOG_AV, "shared and multi-context address vectors are not offered");
        throw Error{FI_ENOSYS};
    }
    if (attr->flags & ~kFlags || attr->type > FI_AV_TABLE) throw Error{FI_EINVAL};
    return attr->flags;
}

} // namespace

AddressVector::AddressVector(Domain& domain, fi_av_attr* attr, void* context)
    : fid_av{}
    , on_domain_{domain.leaning}
    , domain_{domain}
    , flags_{flags_of(attr)} {
    if (attr) table_.expect(attr->count);
    // Numbers are handed out in order whichever type was asked for.
    if (attr && attr->type == FI_AV_UNSPEC) attr->type = FI_AV_TABLE;
    fid = {.fclass = FI_CLASS_AV, .context = context, .ops = &av_fid_ops};
    ops = &av_ops;
}

int AddressVector::bind(EventQueue& events) noexcept {
    if (events_) return -FI_EINVAL;
    events_ = &events;
    on_events_.emplace(events.leaning);
    return 0;
}

void AddressVector::attach(Endpoint& endpoint) {
    std::lock_guard lock{mutex_};
    endpoints_.push_back(&endpoint);
}

void AddressVector::detach(Endpoint& endpoint) noexcept {
    std::lock_guard lock{mutex_};
    std::erase(endpoints_, &endpoint);
}

void AddressVector::introduce(const ondemand::NativeAddress& address) noexcept {
    std::lock_guard lock{mutex_};
    for (Endpoint* endpoint : endpoints_) endpoint->introduce(address);
}

int AddressVector::remove(fi_addr_t number) noexcept {
    {
        std::lock_guard lock{mutex_};
        for (Endpoint* endpoint : endpoints_) endpoint->forget(number);
    }
    return table_.remove(number) ? 0 : -FI_EINVAL;
}

} // namespace odrc::ofi
