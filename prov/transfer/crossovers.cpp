// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/crossovers.hpp"

#include "base/host.hpp"
#include "base/log.hpp"
#include "base/parameters.hpp"
#include "transfer/device_costs.hpp"
#include "transfer/kept_crossovers.hpp"

#include <algorithm>
#include <map>
#include <mutex>

namespace odrc::transfer {
namespace {

// A way that has always been good enough is left for one that takes three quarters of it. A
// connection to oneself does not show all that one to another process takes, and a machine that
// does something else meanwhile shows more.
constexpr double kClearly = 0.75;
// Memory that is registered in order not to be copied is used so often before it is another.
constexpr double kUses = 16;

bool clearly_less(double one, double other) noexcept { return one < kClearly * other; }

uint32_t last_before(size_t i) noexcept { return i > 0 ? kComparedSizes[i - 1] : 0; }

// Who wants less of a way begins at its end.
template <class Behind>
uint32_t go_down(uint32_t from, Behind&& is_behind) noexcept {
    for (size_t i = kComparedSizes.size(); i-- > 0;) {
        if (kComparedSizes[i] > from) continue;
        if (!is_behind(i)) break;
        from = last_before(i);
    }
    return from;
}

// And who wants more, at its beginning.
template <class Ahead>
uint32_t go_up(uint32_t from, Ahead&& is_ahead) noexcept {
    for (size_t i = 0; i < kComparedSizes.size() && is_ahead(i); ++i) from = kComparedSizes[i];
    return from;
}

} // namespace

CrossoverRange CrossoverRange::of(const verbs::Adapter& adapter) noexcept {
    const uint32_t device = adapter.max_inline();
    const bool all_is_known = adapter.whole_memory_key().has_value();
    const auto eager = static_cast<uint32_t>(wire::kEagerLimit);
    // What it takes to be read from another process's memory a device does not show that is
    // connected to itself.
    const bool has_slices = adapter.port().delivers && all_is_known;
    const auto sliced = static_cast<uint32_t>(has_slices ? wire::kSlicedLimit : 0);
    return {.least = {std::min(device, kComparedSizes.front()), 0, 0, kInjectSize, 0},
            .most = {device, eager, eager, eager, sliced},
            .usual = {device, 0, all_is_known ? 0 : eager, eager, sliced}};
}

Crossovers CrossoverRange::clamp(const Crossovers& wanted) const noexcept {
    return {std::clamp(wanted.inlined, least.inlined, most.inlined),
            std::clamp(wanted.copied, least.copied, most.copied),
            std::clamp(wanted.unregistered, least.unregistered, most.unregistered),
            std::clamp(wanted.eager, least.eager, most.eager),
            std::clamp(wanted.sliced, least.sliced, most.sliced)};
}

Crossovers choose(const DeviceCosts& costs, const CrossoverRange& range) noexcept {
    const auto& of_size = costs.of_size;
    const bool all_is_known = range.usual.unregistered == 0;
    const double registering = costs.found + costs.fresh / kUses;
    const auto in_its_frame = [&](size_t i) {
        return all_is_known ? std::min(of_size[i].copied, of_size[i].gathered) : of_size[i].copied;
    };
    const auto inlined = go_down(range.usual.inlined, [&](size_t i) {
        return clearly_less(in_its_frame(i), of_size[i].inlined);
    });
    const auto copied =
        go_up(0, [&](size_t i) { return clearly_less(of_size[i].copied, of_size[i].gathered); });
    const auto unregistered =
        all_is_known ? copied : go_down(range.usual.unregistered, [&](size_t i) {
            return clearly_less(of_size[i].gathered + registering, of_size[i].copied);
        });
    // Both sides have to register what is read and where it goes.
    const auto eager = go_down(range.usual.eager, [&](size_t i) {
        return clearly_less(2 * costs.word + 2 * costs.found + of_size[i].read,
                            in_its_frame(i) + of_size[i].taken);
    });
    return range.clamp({inlined, copied, unregistered, eager, range.usual.sliced});
}

// ---- once for each device ----------------------------------------------------------------------

namespace {

struct Known {
    Crossovers crossovers;
    std::string why;
};

Known find_out(verbs::Adapter& adapter, const std::string& key, const CrossoverRange& range) {
    const KeptCrossovers kept{key};
    if (const auto found = kept.find(range)) return {*found, "as kept in " + kept.path()};
    const auto costs = measure(adapter);
    if (!costs) return {range.usual, "as ever, for they take too long to measure"};
    const Crossovers chosen = choose(*costs, range);
    kept.keep(chosen);
    return {chosen, "as measured"};
}

} // namespace

Crossovers crossovers_of(verbs::Adapter& adapter) {
    // Never destroyed: domains may be opened while the program exits.
    static std::mutex& lock = *new std::mutex;
    static auto& known = *new std::map<std::string, Known>;
    const CrossoverRange range = CrossoverRange::of(adapter);
    Known all{range.usual, "as FI_ODRC_CROSSOVERS says"};
    if (const auto& given = parameters().crossovers) {
        const auto [inlined, copied, eager, sliced] = *given;
        all.crossovers = range.clamp({inlined, copied, copied, eager, sliced});
    } else if (parameters().measures_crossovers) {
        const std::string key = key_of(adapter);
        const std::lock_guard guard{lock};
        auto place = known.find(key);
        if (place == known.end()) place = known.emplace(key, find_out(adapter, key, range)).first;
        all = place->second;
    }
    ODRC_INFO(FI_LOG_DOMAIN,
              "{}: up to {} bytes go inline, up to {} are copied, or {} where they are not "
              "registered, more is gathered; up to {} a message goes in one frame, up to {} in "
              "several, a longer one is announced: {}",
              adapter.port().name(), all.crossovers.inlined, all.crossovers.copied,
              all.crossovers.unregistered, all.crossovers.eager, all.crossovers.sliced, all.why);
    adapter.limit_inline(all.crossovers.inlined);
    return all.crossovers;
}

} // namespace odrc::transfer
