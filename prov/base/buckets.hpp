// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/list.hpp"

#include <cstddef>
#include <memory>

namespace odrc {

// A hash table of intrusive lists that keeps the items of one key in the order in which they were
// added. Its items know their hash: they are asked for it when the table grows.
template <class T, class Tag = void>
class Buckets {
public:
    List<T, Tag>& operator[](size_t hash) noexcept { return lists_[hash & (size_ - 1)]; }

    // Adds an item; hash_of(item) gives its hash. False when memory is out.
    template <class HashOf>
    bool add(T& item, HashOf&& hash_of) noexcept {
        if (2 * count_ >= size_ && !grow(hash_of) && size_ == 0) return false;
        (*this)[hash_of(item)].push_back(item);
        ++count_;
        return true;
    }
    void remove(T& item) noexcept {
        List<T, Tag>::erase(item);
        --count_;
    }
    size_t count() const noexcept { return count_; }

private:
    template <class HashOf>
    bool grow(HashOf&& hash_of) noexcept {
        const size_t size = size_ == 0 ? 16 : 2 * size_;
        std::unique_ptr<List<T, Tag>[]> lists { new (std::nothrow) List<T, Tag>[ size ] };
        if (!lists) return false;
        for (size_t i = 0; i < size_; ++i)
            while (T* item = lists_[i].pop_front())
                lists[hash_of(*item) & (size - 1)].push_back(*item);
        lists_ = std::move(lists);
        size_ = size;
        return true;
    }

    std::unique_ptr<List<T, Tag>[]> lists_;
    size_t size_{0};
    size_t count_{0};
};

} // namespace odrc
