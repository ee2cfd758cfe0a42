// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <sys/mman.h>

namespace fabtests_ext {

// As many stretches of memory as messages of a size go from or into at a time, which can be given
// back to the kernel and had anew: a provider that had registered them must do so again.
class Stretches {
public:
    Stretches(size_t count, size_t size)
        : size_{(size + kPage) / kPage * kPage}
        , bytes_{count * size_} {
        map();
    }
    ~Stretches() { munmap(memory_, bytes_); }
    Stretches(const Stretches&) = delete;
    Stretches& operator=(const Stretches&) = delete;

    char* operator[](size_t i) const noexcept { return memory_ + i * size_; }

    // All of it is there at once: what is timed afterwards waits for no page.
    void renew() {
        munmap(memory_, bytes_);
        map();
    }

private:
    static constexpr size_t kPage = 4096;

    void map() {
        void* memory =
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc{};
        memory_ = static_cast<char*>(memory);
        std::memset(memory_, 'o', bytes_);
    }

    size_t size_;
    size_t bytes_;
    char* memory_{nullptr};
};

} // namespace fabtests_ext
