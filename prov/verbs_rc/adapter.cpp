// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "verbs_rc/adapter.hpp"

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/log.hpp"
#include "base/parameters.hpp"

#include <algorithm>
#include <sys/resource.h>

namespace odrc::verbs {
namespace {

// What the parameters leave open follows from the host: as if a process ran on every processor,
// and half of the memory might be locked.
RegistrationCache::Limits cache_limits() noexcept {
    const Parameters& p = parameters();
    size_t bytes = p.cache_bytes;
    if (bytes == Parameters::kAutomatic) {
        const auto pages = static_cast<size_t>(sysconf(_SC_PHYS_PAGES));
        const auto processors = static_cast<size_t>(sysconf(_SC_NPROCESSORS_ONLN));
        bytes = pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) / processors / 2;
        rlimit locked{};
        if (getrlimit(RLIMIT_MEMLOCK, &locked) == 0)
            bytes = std::min<size_t>(bytes, locked.rlim_cur / 2);
    }
    return {p.cache_count, bytes};
}

} // namespace

Adapter::Adapter(const Device& device, Gate::Kind threads, Watchdog& watchdog)
    : port_{device.port()}
    , context_{device.open()}
    , events_{*context_, watchdog} {
    if (const ibv_gid gid = context_->gid(); gid.global.interface_id != 0) port_.gid = gid;
    pd_ = Pd{*context_, context_->alloc_pd()};
    if (!pd_) {
        ODRC_WARN(FI_LOG_DOMAIN, "{}: no protection domain: {}", port_.name(), fi_strerror(errno));
        throw Error{errno};
    }
    if (port_.whole_memory)
        open_whole_memory();
    else
        open_cache(threads, watchdog);
    max_inline_ = port_.max_inline > 0 ? port_.max_inline : probe_inline();
}

void Adapter::open_whole_memory() {
    whole_ = Mr{*context_, context_->reg_mr(pd(), nullptr, SIZE_MAX,
                                            IBV_ACCESS_ON_DEMAND | IBV_ACCESS_LOCAL_WRITE |
                                                IBV_ACCESS_REMOTE_READ)};
    if (!whole_) {
        ODRC_WARN(FI_LOG_DOMAIN, "{}: cannot register all memory: {}", port_.name(),
                  fi_strerror(errno));
        throw Error{errno};
    }
}

void Adapter::open_cache(Gate::Kind threads, Watchdog& watchdog) {
    const RegistrationCache::Limits limits = cache_limits();
    if (limits.count == 0 || limits.bytes == 0) return;
    if (auto monitor = MemoryMonitor::of_process())
        cache_ = std::make_unique<RegistrationCache>(*context_, pd(), threads, limits, monitor,
                                                     watchdog);
}

int Adapter::register_memory(void* address, size_t length, int access,
                             RegistrationCache::Moment handed_over, Registration& out) noexcept {
    if (whole_ || length == 0) {
        out = whole_ ? Registration{whole_->lkey, whole_->rkey} : Registration{};
        return 0;
    }
    if (cache_) {
        bool fresh = false;
        if (auto cached = cache_->take(address, length, access, handed_over, fresh)) {
            out = Registration{std::move(cached), fresh};
            return 0;
        }
    }
    ibv_mr* mr = reg_mr(address, length, access);
    if (!mr) {
        const int error = errno;
        tell_unregistered(length, error);
        return error;
    }
    out = Registration{*context_, mr};
    return 0;
}

bool Adapter::find_registered(const Range& memory, int access,
                              RegistrationCache::Moment handed_over, Registration& out) noexcept {
    if (!cache_) return false;
    auto cached = cache_->find(memory, access, handed_over);
    if (!cached) return false;
    out = Registration{std::move(cached), false};
    return true;
}

int Adapter::register_together(std::span<Range> pieces, int access,
                               RegistrationCache::Moment handed_over, Registration& out) noexcept {
    const Range all = pieces.front().with(pieces.back());
    if (cache_) {
        if (auto cached = cache_->take_together(pieces, access, handed_over)) {
            out = Registration{std::move(cached), true};
            return 0;
        }
    }
    ibv_mr* mr = reg_mr(reinterpret_cast<void*>(all.begin), all.bytes(), access);
    if (!mr) return errno;
    out = Registration{*context_, mr};
    return 0;
}

Mr Adapter::make_region(void* address, size_t length, int access) {
    ibv_mr* mr = reg_mr(address, length, access);
    if (!mr) {
        const int error = errno;
        tell_unregistered(length, error);
        throw Error{error};
    }
    return {*context_, mr};
}

int Adapter::renew(ibv_mr& region) noexcept {
    const int error = context_->renew_mr(&region);
    if (error)
        ODRC_WARN(FI_LOG_MR, "{}: cannot take up the new pages of a region of {} bytes: {}",
                  port_.name(), region.length, fi_strerror(error));
    return error;
}

// Null and errno. What fails while the cache keeps memory locked that nobody uses may work without.
ibv_mr* Adapter::reg_mr(void* address, size_t length, int access) noexcept {
    ibv_mr* mr = context_->reg_mr(pd(), address, length, access);
    if (!mr && errno == ENOMEM && cache_ && cache_->give_up_idle())
        mr = context_->reg_mr(pd(), address, length, access);
    return mr;
}

void Adapter::tell_unregistered(size_t length, int error) const noexcept {
    const bool may_be_limit = error == ENOMEM && !port_.whole_memory; // which takes nothing locked
    ODRC_WARN(FI_LOG_MR, "{}: cannot register {} bytes of user memory: {}{}", port_.name(), length,
              fi_strerror(error),
              may_be_limit ? " (locked memory limit, ulimit -l: " + locked_memory_limit() + ")"
                           : "");
}

// Drivers refuse a queue pair that asks for more inline data than they have, and say nowhere how
// much that is, which may depend on how many segments there are besides: ask for less and less.
uint32_t Adapter::probe_inline() {
    Cq cq{*context_, context_->create_cq(1, nullptr, nullptr)};
    if (!cq) return 0;
    for (const uint32_t bytes : {2048u, 1024u, 512u, 256u, 128u, 64u}) {
        ibv_qp_init_attr attr{};
        attr.send_cq = attr.recv_cq = cq.get();
        attr.cap = {.max_send_wr = 1,
                    .max_recv_wr = 1,
                    .max_send_sge = static_cast<uint32_t>(port_.device_attr.max_sge),
                    .max_recv_sge = 1,
                    .max_inline_data = bytes};
        attr.qp_type = IBV_QPT_RC;
        if (Qp qp{*context_, context_->create_qp(pd(), &attr)}) return attr.cap.max_inline_data;
    }
    return 0;
}

} // namespace odrc::verbs
