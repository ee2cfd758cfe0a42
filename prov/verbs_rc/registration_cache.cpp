// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "verbs_rc/registration_cache.hpp"

#include <algorithm>
#include <sys/eventfd.h>

namespace odrc::verbs {
namespace {

Range pages_of(const Range& bytes) noexcept {
    static const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    return {bytes.begin & ~(page - 1), (bytes.end + page - 1) & ~(page - 1)};
}

bool allows(int access, int wanted) noexcept { return (access & wanted) == wanted; }

} // namespace

RegistrationCache::RegistrationCache(Context& context, ibv_pd* pd, Gate::Kind kind,
                                     const Limits& limits, std::shared_ptr<MemoryMonitor> monitor,
                                     Watchdog& watchdog)
    : context_{context}
    , pd_{pd}
    , limits_{limits}
    , monitor_{std::move(monitor)}
    , watchdog_{watchdog}
    , died_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)}
    , gate_{kind} {
    places_.reserve(limits.count);
    watchdog_.add(*this, died_.get());
    monitor_->add(*this);
}

RegistrationCache::~RegistrationCache() {
    monitor_->remove(*this);
    watchdog_.remove(*this, died_.get());
    for (const Place& place : places_) delete place.region;
    while (CachedRegion* region = dead_.pop_front()) delete region;
}

RegistrationCache::Use RegistrationCache::take(void* address, size_t length, int access,
                                               Moment handed_over, bool& fresh) noexcept {
    fresh = false;
    const auto begin = reinterpret_cast<uintptr_t>(address);
    const Range wanted{begin, begin + length};
    if (wanted.bytes() > limits_.bytes || monitor_->inherited()) return {nullptr, {this}};
    {
        Entry inside{gate_};
        if (!settled_since(handed_over)) return {nullptr, {this}};
        if (CachedRegion* region = find(wanted, access)) return {use(*region), {this}};
    }
    fresh = true;
    return register_anew(wanted, access);
}

// Has the monitor been asked after that moment? An asking is counted before it is done: who hands
// memory over and does not find this one in the count does so before the kernel looks, and what
// was at his addresses before is on its way out by then, or out.
bool RegistrationCache::settled_since(Moment moment) noexcept {
    if (settled_ > moment) return true;
    const Moment asking = asked_.fetch_add(1, std::memory_order_seq_cst) + 1;
    if (!monitor_->settled()) return false;
    settled_ = asking;
    return true;
}

CachedRegion* RegistrationCache::find(const Range& wanted, int access) noexcept {
    if (!last_ || !last_->memory.covers(wanted)) {
        const size_t i = first_ending_after(wanted.begin);
        if (i == places_.size() || !places_[i].memory.covers(wanted)) return nullptr;
        last_ = places_[i].region;
    }
    return last_->mr && allows(last_->access, access) ? last_ : nullptr;
}

CachedRegion* RegistrationCache::use(CachedRegion& region) noexcept {
    if (region.users++ == 0) List<CachedRegion>::erase(region);
    return &region;
}

// The region can be found, without its registration, before its pages are watched, and they are
// watched before they are registered: so whatever happens to the memory that the device gets to
// know happens to the region, too.
RegistrationCache::Use RegistrationCache::register_anew(const Range& wanted, int access) noexcept {
    Use region{new (std::nothrow) CachedRegion, {this}};
    if (!region) return region;
    region->memory = wanted;
    region->access = access;
    region->users = 1;
    bool placed = false, watched = false;
    {
        Entry inside{gate_};
        placed = place(*region);
        watched = placed && monitor_->watch(pages_of(region->memory));
        if (placed && !watched) hide(*region);
    }
    deregister_dead();
    if (!watched) return {nullptr, {this}};

    ibv_mr* mr = context_.reg_mr(pd_, reinterpret_cast<void*>(region->memory.begin),
                                 region->memory.bytes(), region->access);
    {
        Entry inside{gate_};
        if (mr)
            region->mr = Mr{context_, mr};
        else if (region->findable)
            hide(*region);
    }
    return mr ? std::move(region) : Use{nullptr, {this}};
}

// Lets the region be found, in the place of all that it overlaps. It grows over them and has their
// rights, so that buffers that overlap are one registration in the end; but not to more than twice
// its size, so that a window that slides over much memory is not registered from where it began.
// Not while another thread registers one of them, nor where there is no room.
bool RegistrationCache::place(CachedRegion& region) noexcept {
    region.findable = false;
    const size_t first = first_ending_after(region.memory.begin);
    Range all = region.memory;
    int rights = region.access;
    size_t past = first;
    for (; past < places_.size() && places_[past].memory.begin < region.memory.end; ++past) {
        const CachedRegion& other = *places_[past].region;
        if (!other.mr) return false;
        all.begin = std::min(all.begin, other.memory.begin);
        all.end = std::max(all.end, other.memory.end);
        rights |= other.access;
    }
    for (; past > first; --past) hide(first);
    if (all.bytes() <= std::min(2 * region.memory.bytes(), limits_.bytes)) {
        region.memory = all;
        region.access = rights;
    }
    if (!make_room(region.memory.bytes())) return false;
    const size_t here = first_ending_after(region.memory.begin);
    places_.insert(places_.begin() + static_cast<ptrdiff_t>(here), {region.memory, &region});
    bytes_ += region.memory.bytes();
    region.findable = true;
    return true;
}

bool RegistrationCache::make_room(size_t bytes) noexcept {
    while (places_.size() >= limits_.count || bytes_ + bytes > limits_.bytes) {
        CachedRegion* longest_unused = idle_.front();
        if (!longest_unused) return false;
        hide(*longest_unused);
    }
    return true;
}

size_t RegistrationCache::first_ending_after(uintptr_t address) const noexcept {
    const auto place =
        std::ranges::upper_bound(places_, address, {}, [](const Place& p) { return p.memory.end; });
    return static_cast<size_t>(place - places_.begin());
}

void RegistrationCache::hide(CachedRegion& region) noexcept {
    hide(first_ending_after(region.memory.begin));
}

void RegistrationCache::hide(size_t index) noexcept {
    CachedRegion& region = *places_[index].region;
    places_.erase(places_.begin() + static_cast<ptrdiff_t>(index));
    bytes_ -= region.memory.bytes();
    region.findable = false;
    if (last_ == &region) last_ = nullptr;
    if (region.users > 0) return;
    List<CachedRegion>::erase(region);
    dead_.push_back(region);
}

void RegistrationCache::on_gone(const Range& range) noexcept {
    const size_t i = first_ending_after(range.begin);
    while (i < places_.size() && places_[i].memory.begin < range.end) hide(i);
    if (!dead_.empty()) eventfd_write(died_.get(), 1);
}

// ---- the end ----------------------------------------------------------------------------------

void RegistrationCache::give_back(CachedRegion& region) noexcept {
    if (monitor_->inherited()) return; // the parent's
    bool dead;
    {
        Entry inside{gate_};
        if (--region.users == 0) (region.findable ? idle_ : dead_).push_back(region);
        dead = !dead_.empty();
    }
    if (dead) deregister_dead();
}

Time RegistrationCache::serve() noexcept {
    eventfd_t count;
    eventfd_read(died_.get(), &count);
    deregister_dead<WatchdogEntry>();
    return kNever;
}

template <class Inside>
void RegistrationCache::deregister_dead() noexcept {
    const auto next = [this] {
        Inside inside{gate_};
        return dead_.pop_front();
    };
    while (CachedRegion* region = next()) delete region;
}

bool RegistrationCache::give_up_idle() noexcept {
    if (monitor_->inherited()) return false;
    bool any;
    {
        Entry inside{gate_};
        while (CachedRegion* region = idle_.front()) hide(*region);
        any = !dead_.empty();
    }
    deregister_dead();
    return any;
}

} // namespace odrc::verbs
