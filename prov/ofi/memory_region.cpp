// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/memory_region.hpp"

#include "base/log.hpp"
#include "ofi/attributes.hpp"
#include "ofi/counter.hpp"
#include "verbs_rc/remote_key.hpp"

#include <cstring>

namespace odrc::ofi {
namespace {

// Permissions (fi_mr(3)), and what the region is meant for, which permits nothing: FI_COLLECTIVE is
// named there, other operations are given by programs all the same.
constexpr uint64_t kPermissions =
    FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
constexpr uint64_t kMeantFor =
    FI_COLLECTIVE | FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_MULTICAST;

// What the device must be allowed to do. It writes into what receives and reads fill; and what
// peers may write, the device has to be able to (ibv_reg_mr(3)). An atomic of its own tells what
// was there: only who may read and write may ask for one.
int access_of(const Domain& domain, uint64_t asked) noexcept {
    int access = 0;
    if (asked & (FI_RECV | FI_READ | FI_REMOTE_WRITE)) access |= IBV_ACCESS_LOCAL_WRITE;
    if (asked & FI_REMOTE_READ) access |= IBV_ACCESS_REMOTE_READ;
    if (asked & FI_REMOTE_WRITE) access |= IBV_ACCESS_REMOTE_WRITE;
    if (domain.device_atomics() && (asked & kRemoteModifiers) == kRemoteModifiers)
        access |= IBV_ACCESS_REMOTE_ATOMIC;
    return access;
}

// Why a region cannot be as asked; null if it can.
const char* unusable(const fi_mr_attr& attr) noexcept {
    if (!attr.mr_iov || attr.iov_count != kMrIovLimit) return "it is not in one piece";
    if (attr.access & ~(kPermissions | kMeantFor)) return "access of an unknown kind";
    if (attr.offset != 0) return "an offset";
    if (attr.auth_key_size > 0) return "an auth_key";
    if (attr.iface != FI_HMEM_SYSTEM) return "it is not in the memory of the host";
    return nullptr;
}

const fi_mr_attr& checked(const fi_mr_attr& attr) {
    if (const char* why = unusable(attr)) {
        ODRC_WARN(FI_LOG_MR, "memory is not registered: {}", why);
        throw Error{FI_EINVAL};
    }
    return attr;
}

// Programs register what is empty, too, and some drivers refuse to: it has the keys of a byte of
// ours, which give access to nothing. (IBTA 1.4, 9.7.4.1.3: nothing is checked for no bytes.)
verbs::Mr region_on(verbs::Adapter& adapter, const iovec& memory, int access) {
    static std::byte unread{};
    if (memory.iov_len == 0) return adapter.make_region(&unread, sizeof unread, 0);
    return adapter.make_region(memory.iov_base, memory.iov_len, access);
}

// Words are changed by the domain's device alone (SharedWords).
verbs::Mr on_soft(Domain& domain, const iovec& memory, int access) {
    if (!domain.soft()) return {};
    return region_on(*domain.soft(), memory, access & ~IBV_ACCESS_REMOTE_ATOMIC);
}

int mr_regattr(fid* f, const fi_mr_attr* attr, uint64_t flags, fid_mr** mr) {
    if (flags & ~FI_RMA_EVENT) return -FI_EBADFLAGS; // any region may have counters
    if (!attr) return -FI_EINVAL;
    return create<MemoryRegion>(mr, as<Domain>(f), *attr);
}

int mr_regv(fid* f, const iovec* iov, size_t count, uint64_t access, uint64_t offset,
            uint64_t requested_key, uint64_t flags, fid_mr** mr, void* context) {
    fi_mr_attr attr{};
    attr.mr_iov = iov;
    attr.iov_count = count;
    attr.access = access;
    attr.offset = offset;
    attr.requested_key = requested_key;
    attr.context = context;
    return mr_regattr(f, &attr, flags, mr);
}

int mr_reg(fid* f, const void* buffer, size_t length, uint64_t access, uint64_t offset,
           uint64_t requested_key, uint64_t flags, fid_mr** mr, void* context) {
    const iovec iov{const_cast<void*>(buffer), length};
    return mr_regv(f, &iov, 1, access, offset, requested_key, flags, mr, context);
}

int mr_bind(fid* f, fid* other, uint64_t flags) noexcept {
    if (other->fclass != FI_CLASS_CNTR) return -FI_EINVAL;
    return guarded([&] { return as<MemoryRegion>(f).bind(as<Counter>(other), flags); });
}

int mr_control(fid* f, int command, void* argument) noexcept {
    MemoryRegion& region = as<MemoryRegion>(f);
    switch (command) {
    case FI_GET_RAW_MR:
        return region.raw(*static_cast<struct fi_mr_raw_attr*>(argument));
    case FI_REFRESH: {
        const auto& change = *static_cast<const fi_mr_modify*>(argument);
        if (change.flags != 0) return -FI_EBADFLAGS;
        if (!change.attr.mr_iov && change.attr.iov_count > 0) return -FI_EINVAL;
        return region.refresh({change.attr.mr_iov, change.attr.iov_count});
    }
    default:
        return -FI_ENOSYS;
    }
}

int map_raw(const struct fi_mr_map_raw& map) noexcept {
    if (map.flags != 0) return -FI_EBADFLAGS;
    if (map.key_size != sizeof *map.key) return -FI_EINVAL;
    std::memcpy(map.key, map.raw_key, sizeof *map.key);
    return 0;
}

fi_ops mr_fid_ops = plain_ops<MemoryRegion>(mr_bind, mr_control);

} // namespace

fi_ops_mr memory_ops = {
    .size = sizeof(fi_ops_mr), .reg = mr_reg, .regv = mr_regv, .regattr = mr_regattr};

MemoryRegion::MemoryRegion(Domain& domain, const fi_mr_attr& attr)
    : fid_mr{}
    , domain_{domain}
    , on_domain_{domain.leaning}
    , memory_{*checked(attr).mr_iov}
    , region_{region_on(domain.adapter(), memory_, access_of(domain, attr.access))}
    , on_soft_{on_soft(domain, memory_, access_of(domain, attr.access))}
    , in_table_{domain.adapter().regions(),
                region_->rkey,
                {reinterpret_cast<uint64_t>(memory_.iov_base), memory_.iov_len,
                 access_of(domain, attr.access)}} {
    fid = {.fclass = FI_CLASS_MR, .context = attr.context, .ops = &mr_fid_ops};
    mem_desc = reinterpret_cast<void*>(uintptr_t{region_->lkey});
    key = verbs::RemoteKey::of(region_->rkey,
                               access_of(domain, attr.access) & IBV_ACCESS_REMOTE_ATOMIC,
                               on_soft_ ? on_soft_->rkey : 0)
              .bits();
}

MemoryRegion::~MemoryRegion() { domain_.region_counters().tallies().forget(region_->rkey); }

int MemoryRegion::bind(Counter& counter, uint64_t flags) {
    if (!flags || flags & ~kRemoteModifiers || &counter.domain() != &domain_) return -FI_EINVAL;
    if ((flags & FI_REMOTE_READ && on_read_) || (flags & FI_REMOTE_WRITE && on_written_))
        return -FI_EINVAL;
    transfer::RegionTallies::Pair tallies = tallies_;
    if (flags & FI_REMOTE_READ) tallies.read = &counter.tally();
    if (flags & FI_REMOTE_WRITE) tallies.written = &counter.tally();
    domain_.region_counters().add(counter);
    domain_.region_counters().tallies().set(region_->rkey, tallies);
    tallies_ = tallies;
    if (flags & FI_REMOTE_READ) on_read_.emplace(counter.leaning);
    if (flags & FI_REMOTE_WRITE) on_written_.emplace(counter.leaning);
    return 0;
}

int MemoryRegion::refresh(std::span<const iovec> pieces) noexcept {
    const auto* begin = static_cast<const std::byte*>(memory_.iov_base);
    const auto* end = begin + memory_.iov_len;
    for (const iovec& piece : pieces) {
        const auto* at = static_cast<const std::byte*>(piece.iov_base);
        if (at < begin || at > end || piece.iov_len > static_cast<size_t>(end - at))
            return -FI_EINVAL;
    }
    return -domain_.adapter().renew(*region_.get());
}

int MemoryRegion::raw(const struct fi_mr_raw_attr& out) const noexcept {
    if (out.flags != 0) return -FI_EBADFLAGS;
    const size_t room = std::exchange(*out.key_size, sizeof key);
    if (room < sizeof key) return -FI_ETOOSMALL;
    std::memcpy(out.raw_key, &key, sizeof key);
    *out.base_addr = reinterpret_cast<uint64_t>(memory_.iov_base);
    return 0;
}

int control_keys(fid*, int command, void* argument) noexcept {
    switch (command) {
    case FI_MAP_RAW_MR:
        return map_raw(*static_cast<struct fi_mr_map_raw*>(argument));
    case FI_UNMAP_KEY:
        return 0; // nothing was kept for it
    default:
        return -FI_ENOSYS;
    }
}

} // namespace odrc::ofi
