// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Memory in pieces of random lengths, with gaps between them that nobody may touch.

#include <algorithm>
#include <cstddef>
#include <random>
#include <sys/uio.h>
#include <vector>

namespace fabtests_ext {

using Random = std::mt19937_64;

// So many bytes in 1 to limit lengths, some of them 0.
inline std::vector<size_t> cut(size_t size, size_t limit, Random& random) {
    std::vector<size_t> ends(random() % limit);
    for (size_t& end : ends) end = random() % (size + 1);
    ends.push_back(size);
    std::ranges::sort(ends);
    for (size_t i = ends.size() - 1; i > 0; --i) ends[i] -= ends[i - 1];
    return ends;
}

class Pieces {
public:
    Pieces(size_t size, size_t limit, Random& random) {
        size_t at = 0;
        for (const size_t length : cut(size, limit, random)) {
            at += random() % kMostGap;
            pieces_.push_back({at, length});
            at += length;
        }
        memory_.assign(at + kMostGap, kGap);
        for (const Piece& p : pieces_) iov_.push_back({memory_.data() + p.at, p.length});
    }

    const std::vector<iovec>& iov() const noexcept { return iov_; }

    void put(const std::vector<std::byte>& bytes) {
        auto from = bytes.begin();
        for (const Piece& p : pieces_) {
            std::copy_n(from, p.length, memory_.begin() + long(p.at));
            from += long(p.length);
        }
    }
    std::vector<std::byte> get() const {
        std::vector<std::byte> bytes;
        for (const Piece& p : pieces_)
            bytes.insert(bytes.end(), memory_.begin() + long(p.at),
                         memory_.begin() + long(p.at + p.length));
        return bytes;
    }

    bool gaps_untouched() const {
        size_t at = 0;
        for (const Piece& p : pieces_) {
            if (!all_gap(at, p.at)) return false;
            at = p.at + p.length;
        }
        return all_gap(at, memory_.size());
    }

private:
    static constexpr std::byte kGap{0xa5};
    static constexpr size_t kMostGap = 16;
    struct Piece {
        size_t at, length;
    };

    bool all_gap(size_t from, size_t to) const {
        return std::all_of(memory_.begin() + long(from), memory_.begin() + long(to),
                           [](std::byte b) { return b == kGap; });
    }

    std::vector<std::byte> memory_;
    std::vector<Piece> pieces_;
    std::vector<iovec> iov_;
};

} // namespace fabtests_ext
