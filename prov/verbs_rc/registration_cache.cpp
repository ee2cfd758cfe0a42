// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "verbs_rc/registration_cache.hpp"

#include <algorithm>
#include <sys/eventfd.h>

namespace odrc::verbs {
namespace {

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
    while (!places_.empty()) hide(*places_.back().region);
    while (CachedRegion* region = dead_.pop_front()) delete region;
}

RegistrationCache::Use RegistrationCache::take(void* address, size_t length, int access,
                                               Moment handed_over, bool& fresh) noexcept {
    fresh = false;
    const auto begin = reinterpret_cast<uintptr_t>(address);
    Range wanted{begin, begin + length};
    if (wanted.bytes() > limits_.bytes || monitor_->inherited()) return {nullptr, {this}};
    {
        Entry inside{gate_};
        if (!settled_since(handed_over)) return {nullptr, {this}};
        if (CachedRegion* region = look_up(wanted, access)) return {use(*region), {this}};
    }
    fresh = true;
    return register_anew({&wanted, 1}, access);
}

RegistrationCache::Use RegistrationCache::find(const Range& memory, int access,
                                               Moment handed_over) noexcept {
    if (monitor_->inherited()) return {nullptr, {this}};
    Entry inside{gate_};
    CachedRegion* region = settled_since(handed_over) ? look_up(memory, access) : nullptr;
    return {region ? use(*region) : nullptr, {this}};
}

RegistrationCache::Use RegistrationCache::take_together(std::span<Range> pieces, int access,
                                                        Moment handed_over) noexcept {
    const Range all = pieces.front().with(pieces.back());
    if (all.bytes() > limits_.bytes || pieces.size() > limits_.count || monitor_->inherited())
        return {nullptr, {this}};
    {
        Entry inside{gate_};
        if (!settled_since(handed_over)) return {nullptr, {this}};
    }
    return register_anew(pieces, access);
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

CachedRegion* RegistrationCache::look_up(const Range& wanted, int access) noexcept {
    if (!last_.region || !last_.memory.covers(wanted)) {
        const size_t i = first_ending_after(wanted.begin);
        if (i == places_.size() || !places_[i].memory.covers(wanted)) return nullptr;
        last_ = places_[i];
    }
    CachedRegion* region = last_.region;
    return region->mr && allows(region->access, access) ? region : nullptr;
}

CachedRegion* RegistrationCache::use(CachedRegion& region) noexcept {
    if (region.users++ == 0) List<CachedRegion>::erase(region);
    return &region;
}

// The region can be found, without its registration, before its pages are watched, and they are
// watched before they are registered: so whatever happens to the memory that the device gets to
// know happens to the region, too.
RegistrationCache::Use RegistrationCache::register_anew(std::span<Range> pieces,
                                                        int access) noexcept {
    Use region{new (std::nothrow) CachedRegion, {this}};
    if (!region) return region;
    region->memory = pieces.front().with(pieces.back());
    region->access = access;
    region->users = 1;
    bool placed = false, watched = false;
    {
        Entry inside{gate_};
        placed = place(*region, pieces);
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

// Lets the region be found by its pieces, in the place of all that these overlap. They grow over
// that and the region has its rights, so that buffers that overlap are one registration in the end;
// but not to more than twice its size, so that a window that slides over much memory is not
// registered from where it began. Not while another thread registers one of them, nor where there
// is no room.
bool RegistrationCache::place(CachedRegion& region, std::span<Range> pieces) noexcept {
    region.findable = false;
    Range all = region.memory;
    int rights = region.access;
    for (const Range& piece : pieces) {
        for (const Place& other : places_in(piece)) {
            if (!other.region->mr) return false;
            all = all.with(other.memory);
            rights |= other.region->access;
        }
    }
    if (all.bytes() <= std::min(2 * region.memory.bytes(), limits_.bytes)) {
        region.memory = all;
        region.access = rights;
        for (Range& piece : pieces)
            for (const Place& other : places_in(piece)) piece = piece.with(other.memory);
    }
    for (const Range& piece : pieces) hide_all_in(piece);
    if (!make_room(region.memory.bytes(), pieces.size())) return false;
    for (const Range& piece : pieces) {
        const size_t here = first_ending_after(piece.begin);
        if (here < places_.size() && places_[here].region == &region) // both grew over the same
            places_[here].memory = places_[here].memory.with(piece);
        else
            places_.insert(places_.begin() + static_cast<ptrdiff_t>(here), {piece, &region});
    }
    bytes_ += region.memory.bytes();
    region.findable = true;
    return true;
}

bool RegistrationCache::make_room(size_t bytes, size_t pieces) noexcept {
    while (places_.size() + pieces > limits_.count || bytes_ + bytes > limits_.bytes) {
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

std::span<const RegistrationCache::Place>
RegistrationCache::places_in(const Range& range) const noexcept {
    const size_t first = first_ending_after(range.begin);
    size_t past = first;
    while (past < places_.size() && places_[past].memory.begin < range.end) ++past;
    return std::span{places_}.subspan(first, past - first);
}

void RegistrationCache::hide_all_in(const Range& range) noexcept {
    for (auto in = places_in(range); !in.empty(); in = places_in(range)) hide(*in.front().region);
}

void RegistrationCache::hide(CachedRegion& region) noexcept {
    const auto first =
        places_.begin() + static_cast<ptrdiff_t>(first_ending_after(region.memory.begin));
    const auto past = first + static_cast<ptrdiff_t>(places_in(region.memory).size());
    places_.erase(std::remove_if(first, past, [&](const Place& p) { return p.region == &region; }),
                  past);
    bytes_ -= region.memory.bytes();
    region.findable = false;
    if (last_.region == &region) last_ = {};
    if (region.users > 0) return;
    List<CachedRegion>::erase(region);
    dead_.push_back(region);
}

// Where what lies between two pieces of a region goes, the region goes with it, or that would stay
// pinned for nobody. (Where another region has a piece between them, too, it stays until there is
// no room for it.)
void RegistrationCache::on_gone(const Range& range) noexcept {
    hide_all_in(range);
    const size_t i = first_ending_after(range.begin);
    if (i > 0 && i < places_.size() && places_[i].region == places_[i - 1].region)
        hide(*places_[i].region);
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
