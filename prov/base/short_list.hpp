// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/pool.hpp"

#include <array>
#include <span>

namespace odrc {

// A list of at most Most items, of which there are few nearly always. That many lie inside; what
// is longer lies in an object of a pool, so that it costs short lists nothing that it could be.
template <class T, size_t Few, size_t Most>
class ShortList {
public:
    using Long = std::array<T, Most>;

    // Makes room for so many, up to Most. Called once. False when memory is out.
    bool make(size_t count, Pool<Long>& longs) noexcept {
        if (count > Few) {
            long_ = {longs.create(), {&longs}};
            if (!long_) return false;
        }
        count_ = static_cast<uint32_t>(count);
        return true;
    }

    // The same for one item.
    T& make_one() noexcept {
        count_ = 1;
        return few_[0];
    }

    std::span<T> list() noexcept { return {long_ ? long_->data() : few_.data(), count_}; }
    std::span<const T> list() const noexcept {
        return {long_ ? long_->data() : few_.data(), count_};
    }
    T& operator[](size_t i) noexcept { return list()[i]; }
    const T& operator[](size_t i) const noexcept { return list()[i]; }
    size_t size() const noexcept { return count_; }

private:
    struct GiveBack {
        Pool<Long>* longs;
        void operator()(Long* list) const noexcept { longs->destroy(list); }
    };

    uint32_t count_{0};
    std::unique_ptr<Long, GiveBack> long_;
    std::array<T, Few> few_;
};

} // namespace odrc
