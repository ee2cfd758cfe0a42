// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <new>
#include <sys/mman.h>
#include <type_traits>

namespace fabtests_ext {

// Zeroed memory that a process has in common with those it forks afterwards.
template <class T>
class Shared {
    static_assert(std::is_trivially_destructible_v<T>);

public:
    Shared() {
        void* memory =
            mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc{};
        object_ = new (memory) T{};
    }
    ~Shared() { munmap(object_, sizeof(T)); }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;

    T* operator->() const noexcept { return object_; }
    T& operator*() const noexcept { return *object_; }

private:
    T* object_;
};

} // namespace fabtests_ext
