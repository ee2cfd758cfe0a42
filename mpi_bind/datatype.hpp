// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "handle.hpp"
#include "layout.hpp"

#include <string>

namespace odrc::mpi {

// What the elements of a predefined type are, for operations (op.hpp). Pairs are a value and an
// index.
enum class Basic : uint8_t {
    none, // no operation has them
    byte,
    boolean,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float32,
    float64,
    float80,
    complex32,
    complex64,
    complex80,
    float_int,
    double_int,
    long_int,
    short_int,
    two_int,
    long_double_int,
    two_float,
    two_double,
};

class KnownBlocks;
class TypeNumbers;

// MPI 4.1: what is sent, and how far from one to the next. Shared by its handle and by the
// operations that use it; predefined ones are for ever.
class Datatype : public Counted {
public:
    Datatype(LayoutRef layout, ptrdiff_t lb, ptrdiff_t ub, size_t alignment)
        : layout_{std::move(layout)}
        , lb_{lb}
        , ub_{ub}
        , alignment_{alignment} {}
    ~Datatype() override;

    static Datatype* of(MPI_Datatype handle) noexcept; // null: there is none
    MPI_Datatype handle() noexcept;

    const LayoutRef& layout() const noexcept { return layout_; }
    size_t size() const noexcept { return layout_->size(); }
    ptrdiff_t lb() const noexcept { return lb_; }
    ptrdiff_t ub() const noexcept { return ub_; }
    ptrdiff_t extent() const noexcept { return ub_ - lb_; }
    size_t alignment() const noexcept { return alignment_; }

    // So many of them lie in one piece, from the address on.
    bool is_contiguous(size_t count) const noexcept {
        return layout_->is_run() &&
               (count <= 1 || extent() == static_cast<ptrdiff_t>(layout_->size()));
    }

    bool is_predefined() const noexcept { return predefined_ != 0; }
    bool is_committed() const noexcept { return committed_; }
    void commit() noexcept { committed_ = true; }
    Basic basic() const noexcept { return basic_; }

    // How long its pieces are: counted when it is first asked for.
    KnownBlocks& blocks() const;

    std::string name;

private:
    friend struct PredefinedTypes;
    friend class TypeNumbers;

    LayoutRef layout_;
    ptrdiff_t lb_;
    ptrdiff_t ub_;
    size_t alignment_;
    uint8_t predefined_{0}; // its handle
    bool committed_{false};
    Basic basic_{Basic::none};
    mutable std::shared_ptr<KnownBlocks> blocks_;
    mutable TypeNumbers* numbers_{nullptr}; // peers may know it by a number of these
    mutable uint32_t number_{0};
};

// So many of a type in memory: what most calls are about.
struct Data {
    std::byte* address;
    size_t count;
    const Datatype* type;

    Data(const void* a, size_t n, const Datatype& t) noexcept
        : address{static_cast<std::byte*>(const_cast<void*>(a))}
        , count{n}
        , type{&t} {}

    size_t bytes() const noexcept { return count * type->size(); }
    bool is_contiguous() const noexcept { return type->is_contiguous(count); }
    // Of data that is: its first byte.
    std::byte* begin() const noexcept { return address + type->layout()->begin(); }

    // f(address, bytes) for each piece of the bytes from `from` on.
    template <class F>
    void for_each_piece(size_t from, size_t bytes, F&& f) const {
        type->layout()->for_each_piece(address, count, type->extent(), from, bytes, f);
    }
    // The next pieces of the data from that byte on, those that touch in memory joined: at most
    // that many bytes, and no more pieces than there is room for.
    Pieces pieces(size_t from, size_t most_bytes, std::span<iovec> into) const noexcept {
        return type->layout()->pieces(address, count, type->extent(), from, most_bytes, into);
    }
    // These copy as many bytes as they are given, from byte `from` on.
    void pack(size_t from, std::span<std::byte> out) const noexcept;
    void unpack(size_t from, std::span<const std::byte> in) const noexcept;
};

} // namespace odrc::mpi
