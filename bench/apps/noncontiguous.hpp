// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// What the benchmarks of noncontiguous messages have in common: datatypes, where the elements of
// messages lie, memory for them, and medians.

#include "bench/apps/app.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <list>
#include <string>
#include <sys/mman.h>
#include <utility>
#include <vector>

namespace bench {

// A datatype, made by a call that is told where it goes, and committed.
class Type {
public:
    template <class Make>
    explicit Type(Make&& make) {
        make(&type_);
        MPI_Type_commit(&type_);
    }
    ~Type() { MPI_Type_free(&type_); }
    Type(const Type&) = delete;
    Type& operator=(const Type&) = delete;

    operator MPI_Datatype() const noexcept { return type_; }

private:
    MPI_Datatype type_{MPI_DATATYPE_NULL};
};

// A struct of datatypes, each so many bytes behind the beginning.
class Parts {
public:
    template <class Make>
    MPI_Datatype make(Make&& call) {
        return made_.emplace_back(call);
    }
    void add(size_t offset, MPI_Datatype type) {
        offsets_.push_back(MPI_Aint(offset));
        types_.push_back(type);
    }
    Type all() const {
        return Type{[this](MPI_Datatype* made) {
            const std::vector<int> once(types_.size(), 1);
            MPI_Type_create_struct(int(types_.size()), once.data(), offsets_.data(), types_.data(),
                                   made);
        }};
    }

private:
    std::list<Type> made_; // freed when what is made of them is
    std::vector<MPI_Aint> offsets_;
    std::vector<MPI_Datatype> types_;
};

// A block of a constant number of bytes: a compiler sees in the loops what it would see in a
// program.
template <size_t bytes>
using Bytes = std::integral_constant<size_t, bytes>;

// Where the elements of a message lie, made of a shape, which has
//   extent()      how many bytes of memory they lie in,
//   type()        its datatype, and
//   walk(visit)   the loops of a program that packs by hand: they call visit(offset, bytes) for
//   each
//                 block, in the order of the type.
struct Layout {
    template <class Shape>
    explicit Layout(const Shape& shape)
        : extent{shape.extent()}
        , type{shape.type()}
        , pack{[shape](const std::byte* memory, std::byte* packed) {
            shape.walk([&](size_t offset, auto size) {
                std::memcpy(packed, memory + offset, size);
                packed += size;
            });
        }}
        , unpack{[shape](std::byte* memory, const std::byte* packed) {
            shape.walk([&](size_t offset, auto size) {
                std::memcpy(memory + offset, packed, size);
                packed += size;
            });
        }} {
        shape.walk([this](size_t offset, size_t size) {
            bytes += size;
            // What follows on the block before is of it.
            if (!blocks.empty() && blocks.back().offset + blocks.back().size == offset)
                blocks.back().size += size;
            else
                blocks.push_back({offset, size});
        });
    }

    struct Block {
        size_t offset, size;
    };

    const size_t extent;
    const Type type;
    const std::function<void(const std::byte* memory, std::byte* packed)> pack;
    const std::function<void(std::byte* memory, const std::byte* packed)> unpack;
    size_t bytes{0};
    std::vector<Block> blocks;
};

// The shape of a message that is contiguous.
struct Contiguous {
    size_t extent() const noexcept { return bytes; }
    Type type() const {
        return Type{[this](MPI_Datatype* made) {
            int size = 0;
            MPI_Type_size(element, &size);
            MPI_Type_contiguous(int(bytes) / size, element, made);
        }};
    }
    template <class Visit>
    void walk(Visit&& visit) const {
        visit(size_t{0}, bytes);
    }

    size_t bytes;
    MPI_Datatype element;
};

[[noreturn]] inline void give_up(const char* why) {
    std::fprintf(stderr, "%s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

// Pages of its own, all there already: huge ones, if there are any. Else where they lie, and so
// what they are in each other's way in a cache, would be another matter in each process.
class Pages {
public:
    explicit Pages(size_t size)
        : size_{size}
        , begin_{::mmap(nullptr, mapped(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                        0)} {
        if (begin_ == MAP_FAILED) give_up("no memory");
        ::madvise(data(), mapped() - kHuge, MADV_HUGEPAGE);
        std::memset(data(), 0, size);
    }
    ~Pages() {
        if (begin_ != nullptr) ::munmap(begin_, mapped());
    }
    Pages(Pages&& other) noexcept
        : size_{other.size_}
        , begin_{std::exchange(other.begin_, nullptr)} {}
    Pages& operator=(Pages&& other) noexcept {
        std::swap(size_, other.size_);
        std::swap(begin_, other.begin_);
        return *this;
    }

    std::byte* data() const noexcept {
        const auto begin = reinterpret_cast<uintptr_t>(begin_);
        return reinterpret_cast<std::byte*>((begin + kHuge - 1) / kHuge * kHuge);
    }
    size_t size() const noexcept { return size_; }

private:
    static constexpr size_t kHuge = size_t{2} << 20;

    // So that it may begin with a huge page.
    size_t mapped() const noexcept { return (size_ + kHuge - 1) / kHuge * kHuge + kHuge; }

    size_t size_;
    void* begin_;
};

// A clock of nanoseconds, which MPI_Wtime is not everywhere.
inline double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

} // namespace bench
