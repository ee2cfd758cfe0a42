// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Its functions are what the library is for; all else stays within (-fvisibility).
#pragma GCC visibility push(default)
#include "mpi.h"
#pragma GCC visibility pop

#include <cstdint>
#include <utility>

// Handles of predefined objects are numbers below this, and no addresses.
namespace odrc::mpi {

inline constexpr uintptr_t kFirstAddress = 256;

template <class Handle>
uintptr_t number_of(Handle handle) noexcept {
    return reinterpret_cast<uintptr_t>(handle);
}

// An object that lasts as long as somebody uses it, its handle among them: what a program frees may
// still be in use (MPI 2.5.1).
class Counted {
public:
    virtual ~Counted() = default;
    Counted() = default;
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

    void use() noexcept { ++users_; }
    void release() noexcept {
        if (--users_ == 0) delete this;
    }

private:
    uint32_t users_{1};
};

// One who uses it.
template <class T>
class Ref {
public:
    Ref() = default;
    explicit Ref(T& object) noexcept
        : object_{&object} {
        object.use();
    }
    Ref(Ref&& other) noexcept
        : object_{std::exchange(other.object_, nullptr)} {}
    Ref& operator=(Ref&& other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Ref() {
        if (object_) object_->release();
    }
    T& operator*() const noexcept { return *object_; }
    T* operator->() const noexcept { return object_; }
    explicit operator bool() const noexcept { return object_ != nullptr; }

private:
    T* object_{nullptr};
};

} // namespace odrc::mpi
