// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Objects of one type, handed out and taken back without a system call, in slabs that are never
// given up before the pool is. An object keeps its index for life, so that a number that went
// over the wire can be looked up again; a generation tells its users apart.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace odrc {

template <class T>
class Pool {
    static constexpr size_t kSlab = 64;

    struct Cell {
        alignas(T) std::byte storage[sizeof(T)];
        Cell* next{nullptr};
        uint32_t index{0};
        uint32_t generation{0};
        bool used{false};

        T* object() noexcept { return std::launder(reinterpret_cast<T*>(storage)); }
    };
    static_assert(offsetof(Cell, storage) == 0);

public:
    Pool() = default;
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    ~Pool() {
        for (auto& slab : slabs_)
            for (size_t i = 0; i < kSlab; ++i)
                if (slab[i].used) slab[i].object()->~T();
    }

    // Null when memory is out. What a T leaves uninitialized is not written.
    template <class... Args>
    T* create(Args&&... args) noexcept {
        if (!free_ && !grow()) return nullptr;
        Cell* cell = std::exchange(free_, free_->next);
        cell->used = true;
        ++size_;
        if constexpr (sizeof...(Args) == 0)
            return new (cell->storage) T;
        else
            return new (cell->storage) T(std::forward<Args>(args)...);
    }

    void destroy(T* t) noexcept {
        t->~T();
        Cell* cell = cell_of(t);
        cell->used = false;
        ++cell->generation;
        cell->next = std::exchange(free_, cell);
        --size_;
    }

    // A number that finds this object until it is destroyed, and never another one (within 2^32
    // reuses of its place).
    uint64_t handle(T* t) const noexcept {
        const Cell* cell = cell_of(t);
        return uint64_t{cell->generation} << 32 | cell->index;
    }

    T* find(uint64_t handle) const noexcept {
        const uint32_t index = static_cast<uint32_t>(handle);
        if (index / kSlab >= slabs_.size()) return nullptr;
        Cell& cell = slabs_[index / kSlab][index % kSlab];
        return cell.used && cell.generation == handle >> 32 ? cell.object() : nullptr;
    }

    size_t size() const noexcept { return size_; }

private:
    static Cell* cell_of(T* t) noexcept { return reinterpret_cast<Cell*>(t); }

    bool grow() noexcept {
        try {
            auto slab = std::make_unique<Cell[]>(kSlab);
            const auto first = static_cast<uint32_t>(slabs_.size() * kSlab);
            slabs_.push_back(std::move(slab));
            for (size_t i = kSlab; i-- > 0;) {
                Cell& cell = slabs_.back()[i];
                cell.index = first + static_cast<uint32_t>(i);
                cell.next = std::exchange(free_, &cell);
            }
            return true;
        } catch (const std::bad_alloc&) {
            return false;
        }
    }

    std::vector<std::unique_ptr<Cell[]>> slabs_;
    Cell* free_{nullptr};
    size_t size_{0};
};

} // namespace odrc
