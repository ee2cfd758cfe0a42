// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

namespace odrc::soft {

// This process's objects of one kind by number. Numbers come back from shared memory, where
// anything may be written: what they find is one of our objects, or null.
template <class T>
class Table {
public:
    explicit Table(uint32_t size)
        : size_{size}
        , entries_{static_cast<std::atomic<T*>*>(std::calloc(size, sizeof(T*)))} {
        if (!entries_) throw std::bad_alloc{};
    }
    ~Table() { std::free(entries_); }
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;

    // False when the table is full.
    bool add(T& object, uint32_t& index) noexcept {
        std::lock_guard lock{mutex_};
        if (!free_.empty()) {
            index = free_.back();
            free_.pop_back();
        } else if (used_ < size_) {
            index = used_++;
        } else {
            return false;
        }
        entries_[index].store(&object, std::memory_order_release);
        return true;
    }

    void remove(uint32_t index) noexcept {
        std::lock_guard lock{mutex_};
        entries_[index].store(nullptr, std::memory_order_release);
        try {
            free_.push_back(index);
        } catch (const std::bad_alloc&) {
            // The number stays unused: memory is out anyway.
        }
    }

    T* find(uint64_t index) const noexcept {
        return index < size_ ? entries_[index].load(std::memory_order_acquire) : nullptr;
    }

    // Visits one object, or all. None is added or removed meanwhile.
    template <class F>
    void with(uint64_t index, F&& f) {
        std::lock_guard lock{mutex_};
        if (T* object = find(index)) f(*object);
    }
    template <class F>
    void for_each(F&& f) {
        std::lock_guard lock{mutex_};
        for (uint32_t i = 0; i < used_; ++i)
            if (T* object = find(i)) f(*object);
    }

private:
    const uint32_t size_;
    std::atomic<T*>* entries_;
    std::mutex mutex_;
    std::vector<uint32_t> free_;
    uint32_t used_{0};
};

} // namespace odrc::soft
