// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstdint>
#include <vector>

namespace odrc::mpi {

// Small numbers for what others have to name.
template <class T>
class Numbers {
public:
    uint32_t add(T& object) {
        if (free_.empty()) {
            objects_.push_back(&object);
            free_.reserve(objects_.size()); // so that removing allocates nothing
            return static_cast<uint32_t>(objects_.size() - 1);
        }
        const uint32_t number = free_.back();
        free_.pop_back();
        objects_[number] = &object;
        return number;
    }
    void remove(uint32_t number) noexcept {
        objects_[number] = nullptr;
        free_.push_back(number);
    }
    T* find(uint32_t number) const noexcept {
        return number < objects_.size() ? objects_[number] : nullptr;
    }

private:
    std::vector<T*> objects_;
    std::vector<uint32_t> free_;
};

} // namespace odrc::mpi
