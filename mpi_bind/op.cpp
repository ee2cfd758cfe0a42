// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "op.hpp"

#include "pair.hpp"

#include <array>
#include <climits>
#include <complex>
#include <concepts>

namespace odrc::mpi {
namespace {

template <class T>
constexpr bool is_pair = false;
template <class V, class I>
constexpr bool is_pair<PairOf<V, I>> = true;

// ---- the operations: those of a type that have no meaning for it do not compile ----------------

struct Max {
    template <class T>
    requires std::totally_ordered<T> &&(!std::same_as<T, bool>)T operator()(T a, T b) const {
        return a < b ? b : a;
    }
};
struct Min {
    template <class T>
    requires std::totally_ordered<T> &&(!std::same_as<T, bool>)T operator()(T a, T b) const {
        return b < a ? b : a;
    }
};
struct Sum {
    template <class T>
    requires(!std::same_as<T, bool>) auto operator()(T a, T b) const
        -> decltype(static_cast<T>(a + b)) {
        return static_cast<T>(a + b);
    }
};
struct Product {
    template <class T>
    requires(!std::same_as<T, bool>) auto operator()(T a, T b) const
        -> decltype(static_cast<T>(a * b)) {
        return static_cast<T>(a * b);
    }
};
struct LogicalAnd {
    template <std::integral T>
    T operator()(T a, T b) const {
        return a && b;
    }
};
struct LogicalOr {
    template <std::integral T>
    T operator()(T a, T b) const {
        return a || b;
    }
};
struct LogicalXor {
    template <std::integral T>
    T operator()(T a, T b) const {
        return !a != !b;
    }
};
struct BitAnd {
    template <std::integral T>
    requires(!std::same_as<T, bool>) T operator()(T a, T b) const { return static_cast<T>(a & b); }
};
struct BitOr {
    template <std::integral T>
    requires(!std::same_as<T, bool>) T operator()(T a, T b) const { return static_cast<T>(a | b); }
};
struct BitXor {
    template <std::integral T>
    requires(!std::same_as<T, bool>) T operator()(T a, T b) const { return static_cast<T>(a ^ b); }
};
// Of equal values the lower index.
struct MaxLocation {
    template <class T>
    requires is_pair<T> T operator()(T a, T b) const {
        if (a.value == b.value) return {a.value, a.index < b.index ? a.index : b.index};
        return a.value > b.value ? a : b;
    }
};
struct MinLocation {
    template <class T>
    requires is_pair<T> T operator()(T a, T b) const {
        if (a.value == b.value) return {a.value, a.index < b.index ? a.index : b.index};
        return a.value < b.value ? a : b;
    }
};

// ---- the table ---------------------------------------------------------------------------------

using Function = void (*)(const void* in, void* inout, size_t count);

template <class Operation, class T>
constexpr Function function() noexcept {
    if constexpr (std::invocable<Operation, T, T>)
        return [](const void* in, void* inout, size_t count) {
            const auto* a = static_cast<const T*>(in);
            auto* b = static_cast<T*>(inout);
            for (size_t i = 0; i < count; ++i) b[i] = Operation{}(a[i], b[i]);
        };
    else
        return nullptr;
}

// A type of which only the bits have a meaning: arithmetic on it has none.
template <class Operation>
constexpr Function function_of_bytes() noexcept {
    constexpr bool is_of_bits = std::same_as<Operation, BitAnd> || std::same_as<Operation, BitOr> ||
                                std::same_as<Operation, BitXor>;
    if constexpr (is_of_bits)
        return function<Operation, unsigned char>();
    else
        return nullptr;
}

constexpr size_t kBasics = static_cast<size_t>(Basic::two_double) + 1;

// In the order of Basic.
template <class O>
constexpr std::array<Function, kBasics> row() noexcept {
    return {nullptr,
            function_of_bytes<O>(),
            function<O, bool>(),
            function<O, int8_t>(),
            function<O, int16_t>(),
            function<O, int32_t>(),
            function<O, int64_t>(),
            function<O, uint8_t>(),
            function<O, uint16_t>(),
            function<O, uint32_t>(),
            function<O, uint64_t>(),
            function<O, float>(),
            function<O, double>(),
            function<O, long double>(),
            function<O, std::complex<float>>(),
            function<O, std::complex<double>>(),
            function<O, std::complex<long double>>(),
            function<O, PairOf<float, int>>(),
            function<O, PairOf<double, int>>(),
            function<O, PairOf<long, int>>(),
            function<O, PairOf<short, int>>(),
            function<O, PairOf<int, int>>(),
            function<O, PairOf<long double, int>>(),
            function<O, PairOf<float, float>>(),
            function<O, PairOf<double, double>>()};
}

// In the order of the handles, from MPI_MAX on.
constexpr std::array kTable{row<Max>(),       row<Min>(),         row<Sum>(),
                            row<Product>(),   row<LogicalAnd>(),  row<BitAnd>(),
                            row<LogicalOr>(), row<BitOr>(),       row<LogicalXor>(),
                            row<BitXor>(),    row<MaxLocation>(), row<MinLocation>()};

Function find(MPI_Op op, Basic basic) noexcept {
    return kTable[number_of(op) - 1][static_cast<size_t>(basic)];
}

} // namespace

Op* Op::of(MPI_Op handle) noexcept {
    // Never destroyed: programs have their handles until they end.
    static auto& predefined = *[] {
        auto* all = new std::array<std::unique_ptr<Op>, kTable.size()>;
        for (size_t i = 0; i < all->size(); ++i)
            (*all)[i] = std::make_unique<Op>(ODRC_MPI_HANDLE(MPI_Op, i + 1));
        return all;
    }();
    const uintptr_t number = number_of(handle);
    if (number >= kFirstAddress) return reinterpret_cast<Op*>(handle);
    return number >= 1 && number <= predefined.size() ? predefined[number - 1].get() : nullptr;
}

MPI_Op Op::handle() noexcept {
    return is_predefined() ? predefined_ : reinterpret_cast<MPI_Op>(this);
}

bool Op::takes(const Datatype& type) const noexcept {
    return function_ || find(predefined_, type.basic()) != nullptr;
}

void Op::apply(const void* in, void* inout, size_t count, Datatype& type) const {
    if (!function_) return find(predefined_, type.basic())(in, inout, count);
    const auto* from = static_cast<const std::byte*>(in);
    auto* to = static_cast<std::byte*>(inout);
    MPI_Datatype handle = type.handle();
    for (size_t done = 0; done < count;) { // a call's count is an int
        int n = static_cast<int>(std::min<size_t>(count - done, INT_MAX));
        const ptrdiff_t offset = static_cast<ptrdiff_t>(done) * type.extent();
        function_(const_cast<std::byte*>(from + offset), to + offset, &n, &handle);
        done += static_cast<size_t>(n);
    }
}

} // namespace odrc::mpi
