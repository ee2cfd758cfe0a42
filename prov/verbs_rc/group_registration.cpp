// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "verbs_rc/group_registration.hpp"

#include <array>

namespace odrc::verbs {
namespace {

// Of one list.
class Groups {
public:
    Groups(Adapter& adapter, int access, RegistrationCache::Moment handed_over,
           std::span<Registration> keys) noexcept
        : adapter_{adapter}
        , access_{access}
        , handed_over_{handed_over}
        , keys_{keys} {}

    int register_all(std::span<const Piece> sorted) noexcept {
        std::array<Piece, kMostPieces> missing;
        size_t count = 0;
        for (const Piece& piece : sorted)
            if (!find(piece, sorted)) missing[count++] = piece;
        for (auto rest = std::span<const Piece>{missing}.first(count); !rest.empty();) {
            const size_t size = first_group(rest);
            if (const int error = register_group(rest.first(size))) return error;
            rest = rest.subspan(size);
        }
        return 0;
    }

private:
    // Whether it was registered before. Then it has its key, and the registration with it if it is
    // the first of the pieces in that region.
    bool find(const Piece& piece, std::span<const Piece> sorted) noexcept {
        Registration found;
        if (!adapter_.find_registered(piece.memory, access_, handed_over_, found)) return false;
        const bool is_held = std::ranges::any_of(
            sorted, [&](const Piece& p) { return keys_[p.index].lkey() == found.lkey(); });
        if (is_held)
            keys_[piece.index] = {found.lkey(), found.rkey()};
        else
            keys_[piece.index] = std::move(found);
        return true;
    }

    int register_group(std::span<const Piece> group) noexcept {
        Registration& key = keys_[group.front().index];
        if (group.size() == 1) {
            const Range& memory = group.front().memory;
            return adapter_.register_memory(reinterpret_cast<void*>(memory.begin), memory.bytes(),
                                            access_, handed_over_, key);
        }
        if (register_together(group, key) == 0) {
            for (const Piece& piece : group.subspan(1))
                keys_[piece.index] = {key.lkey(), key.rkey()};
            return 0;
        }
        const size_t half = group.size() / 2;
        if (const int error = register_group(group.first(half))) return error;
        return register_group(group.subspan(half));
    }

    int register_together(std::span<const Piece> group, Registration& key) noexcept {
        std::array<Range, kMostPieces> apart;
        size_t count = 0;
        for (const Piece& piece : group) {
            if (count > 0 && piece.memory.begin <= apart[count - 1].end)
                apart[count - 1] = apart[count - 1].with(piece.memory);
            else
                apart[count++] = piece.memory;
        }
        return adapter_.register_together({apart.data(), count}, access_, handed_over_, key);
    }

    Adapter& adapter_;
    const int access_;
    const RegistrationCache::Moment handed_over_;
    const std::span<Registration> keys_;
};

} // namespace

size_t first_group(std::span<const Piece> sorted) noexcept {
    uintptr_t end = 0;
    for (size_t i = 0; i < sorted.size(); ++i) {
        const Range pages = pages_of(sorted[i].memory);
        if (i > 0 && pages.begin > end && pages.begin - end > kWorthOneCall) return i;
        end = std::max(end, pages.end);
    }
    return sorted.size();
}

int register_groups(Adapter& adapter, std::span<const iovec> list, size_t bytes, int access,
                    RegistrationCache::Moment handed_over, std::span<Registration> keys) noexcept {
    std::array<Piece, kMostPieces> pieces;
    uint32_t count = 0;
    for (uint32_t i = 0; i < list.size(); ++i) {
        const size_t n = std::min(bytes, list[i].iov_len);
        bytes -= n;
        const auto begin = reinterpret_cast<uintptr_t>(list[i].iov_base);
        if (n > 0 && keys[i].lkey() == 0) pieces[count++] = {{begin, begin + n}, i};
    }
    const std::span sorted = std::span{pieces}.first(count);
    std::ranges::sort(sorted, {}, [](const Piece& p) { return p.memory.begin; });
    const int error = Groups{adapter, access, handed_over, keys}.register_all(sorted);
    if (error)
        for (const Piece& piece : sorted) keys[piece.index] = {};
    return error;
}

} // namespace odrc::verbs
