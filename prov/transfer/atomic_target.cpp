// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The peers' atomics on memory of ours that come in frames, in the order in which these come.

#include "base/log.hpp"
#include "transfer/engine.hpp"

#include <algorithm>

namespace odrc::transfer {
namespace {

// What a frame asks for.
struct Wanted {
    explicit Wanted(const wire::Frame& f) noexcept
        : frame{f}
        , what{f.atomic()}
        , call{what.call}
        , operation{find_operation(call, static_cast<fi_datatype>(what.type),
                                   static_cast<fi_op>(what.op))} {}

    bool fetches() const noexcept { return call != AtomicCall::update; }
    // What the keys must give. A fetch that changes what it reads needs both.
    int access() const noexcept {
        return (operation->writes ? IBV_ACCESS_REMOTE_WRITE : 0) |
               (fetches() ? IBV_ACCESS_REMOTE_READ : 0);
    }

    // The keys, each once.
    std::span<const uint32_t> regions() noexcept {
        for (size_t i = 0; i < what.segments; ++i) keys[i] = frame.segment(i).rkey;
        const auto end = keys.begin() + what.segments;
        std::sort(keys.begin(), end);
        return {keys.begin(), std::unique(keys.begin(), end)};
    }

    const wire::Frame& frame;
    const wire::Atomic what;
    const AtomicCall call;
    const AtomicOperation* const operation; // null: there is no such
    size_t bytes{0};                        // that it changes
    std::array<uint32_t, wire::kIovLimit> keys{};
};

// Adds up its bytes. 0, or the fi_errno value of why it is not done.
int check(Wanted& wanted, const verbs::RegionTable& regions) noexcept {
    if (!wanted.operation) return FI_EOPNOTSUPP;
    for (size_t i = 0; i < wanted.what.segments; ++i) {
        const wire::RemoteSegment s = wanted.frame.segment(i);
        if (!regions.allows(s.rkey, s.address, s.length, wanted.access())) return FI_EACCES;
        if (s.address % wanted.operation->alignment || s.length % wanted.operation->size ||
            s.length > wire::kAtomicLimit)
            return FI_EINVAL;
        wanted.bytes += s.length;
    }
    const size_t sets = wanted.operation->has_operands + (wanted.call == AtomicCall::compare);
    const bool whole = wanted.frame.elements().size() == sets * wanted.bytes;
    return whole && wanted.bytes <= wire::kAtomicLimit ? 0 : FI_EINVAL;
}

// 0, or a fi_errno value; then some of it may have been done.
int carry_out(const Wanted& wanted, const verbs::RegionTable& regions, SharedWords& words,
              std::byte* results) noexcept {
    const AtomicOperation& operation = *wanted.operation;
    const bool of_words = operation.writes && is_word(static_cast<fi_datatype>(wanted.what.type));
    const std::byte* operands = wanted.frame.elements().data();
    const std::byte* compares = operands + wanted.bytes;
    size_t done = 0;
    for (size_t i = 0; i < wanted.what.segments; ++i) {
        const wire::RemoteSegment s = wanted.frame.segment(i);
        const AtomicElements elements{.target = reinterpret_cast<std::byte*>(s.address),
                                      .operands = operands + done,
                                      .compares = compares + done,
                                      .results = results ? results + done : nullptr,
                                      .count = s.length / operation.size};
        constexpr int kAtomic = IBV_ACCESS_REMOTE_ATOMIC;
        if (!of_words || !regions.allows(s.rkey, s.address, s.length, kAtomic))
            operation.apply(elements);
        else if (const int error = words.change(operation, elements, s.rkey))
            return error;
        done += s.length;
    }
    return 0;
}

} // namespace

void Engine::on_atomic(Lane& lane, const wire::Frame& frame) noexcept {
    Peer& peer = lane.peer();
    // Else the initiator has learned from its lane that this failed.
    if (!peer.in_session(lane.session())) return;
    Wanted wanted{frame};
    Results results{};
    int error = 0;
    {
        const auto hold = adapter_.regions().hold();
        error = check(wanted, adapter_.regions());
        if (!error && wanted.fetches() && !take_room(results, wanted.bytes)) error = FI_ENOMEM;
        if (!error) error = carry_out(wanted, adapter_.regions(), words_, results.begin());
    }
    if (error)
        ODRC_WARN(FI_LOG_EP_DATA, "{}: an atomic of {} on our memory was refused: {}",
                  adapter_.port().name(), peer.address.text(), fi_strerror(error));
    else
        count_event({.read = wanted.fetches(), .written = wanted.operation->writes},
                    wanted.regions());
    if (answer(peer, wire::FrameKind::finish, frame.handle, error, results)) return;
    ODRC_WARN(FI_LOG_EP_DATA, "{}: no memory to answer an atomic of {}", adapter_.port().name(),
              peer.address.text());
    wireup_.drop(peer, FI_ENOMEM);
}

// Room for what an atomic gives back, in the frame that will bring it. False when memory is out.
bool Engine::take_room(Results& results, size_t bytes) noexcept {
    results.bytes = bytes;
    results.pool = sizeof(wire::Finish) + bytes <= kInjectSize ? &injects_ : &frames_;
    results.buffer = results.pool->take();
    return results.buffer != nullptr;
}

} // namespace odrc::transfer
