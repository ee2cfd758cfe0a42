// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What fi_atomic(3) lets a target's memory be changed by: every operation on every type.

#include "transfer/atomic_operation.hpp"

#include "base/spin_lock.hpp"

#include <array>
#include <bit>
#include <complex>
#include <cstring>
#include <mutex>
#include <tuple>
#include <utility>

namespace odrc::transfer {
namespace {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

// In the order of fi_datatype.
using Types = std::tuple<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t,
                         float, double, std::complex<float>, std::complex<double>, long double,
                         std::complex<long double>, Int128, Uint128>;
static_assert(FI_INT8 == 0 && FI_FLOAT == 8 && FI_LONG_DOUBLE_COMPLEX == 13 && FI_UINT128 == 15);
constexpr size_t kTypes = std::tuple_size_v<Types>;
constexpr size_t kOperations = FI_MSWAP + 1;

template <class T>
constexpr bool kIsWide = std::is_same_v<T, Int128> || std::is_same_v<T, Uint128>;
template <class T>
constexpr bool kIsInteger = std::is_integral_v<T> || kIsWide<T>;
// Complex numbers are in no order.
template <class T>
constexpr bool kIsOrdered = kIsInteger<T> || std::is_floating_point_v<T>;

// Sums and products of integers wrap around, which those of unsigned ones do, unless they are so
// short that they are promoted.
template <class T>
using Wrapping =
    std::conditional_t<!kIsInteger<T>, T,
                       std::conditional_t<(sizeof(T) < 8), uint32_t,
                                          std::conditional_t<sizeof(T) == 8, uint64_t, Uint128>>>;

constexpr bool compares(fi_op op) noexcept { return op >= FI_CSWAP && op <= FI_MSWAP; }

template <class T>
constexpr bool suits(fi_op op) noexcept {
    switch (op) {
    case FI_BOR:
    case FI_BAND:
    case FI_BXOR:
    case FI_MSWAP:
        return kIsInteger<T>;
    case FI_MIN:
    case FI_MAX:
    case FI_CSWAP_LE:
    case FI_CSWAP_LT:
    case FI_CSWAP_GE:
    case FI_CSWAP_GT:
        return kIsOrdered<T>;
    default:
        return true;
    }
}

template <class T>
bool truth(const T& value) noexcept {
    return value != T{};
}

// What a target with that value becomes. In the words of fi_atomic(3), value is addr[i].
template <class T, fi_op Op>
T combined(const T& value, const T& operand, const T& compare) noexcept {
    using W = Wrapping<T>;
    if constexpr (Op == FI_MIN) return operand < value ? operand : value;
    if constexpr (Op == FI_MAX) return operand > value ? operand : value;
    if constexpr (Op == FI_SUM) return static_cast<T>(W(value) + W(operand));
    if constexpr (Op == FI_PROD) return static_cast<T>(W(value) * W(operand));
    if constexpr (Op == FI_LOR) return T(truth(value) || truth(operand));
    if constexpr (Op == FI_LAND) return T(truth(value) && truth(operand));
    if constexpr (Op == FI_LXOR) return T(truth(value) != truth(operand));
    if constexpr (Op == FI_BOR) return static_cast<T>(value | operand);
    if constexpr (Op == FI_BAND) return static_cast<T>(value & operand);
    if constexpr (Op == FI_BXOR) return static_cast<T>(value ^ operand);
    if constexpr (Op == FI_ATOMIC_READ) return value;
    if constexpr (Op == FI_ATOMIC_WRITE) return operand;
    if constexpr (Op == FI_CSWAP) return compare == value ? operand : value;
    if constexpr (Op == FI_CSWAP_NE) return compare != value ? operand : value;
    if constexpr (Op == FI_CSWAP_LE) return compare <= value ? operand : value;
    if constexpr (Op == FI_CSWAP_LT) return compare < value ? operand : value;
    if constexpr (Op == FI_CSWAP_GE) return compare >= value ? operand : value;
    if constexpr (Op == FI_CSWAP_GT) return compare > value ? operand : value;
    if constexpr (Op == FI_MSWAP)
        return static_cast<T>((operand & compare) | (value & static_cast<T>(~compare)));
}

template <class T>
T element(const std::byte* from, size_t i) noexcept {
    T value;
    std::memcpy(static_cast<void*>(&value), from + i * sizeof(T), sizeof(T));
    return value;
}

// An integer that the processor changes at once, as wide as an element and aligned alike.
template <size_t Size>
using Bits = std::conditional_t<
    Size == 1, uint8_t,
    std::conditional_t<Size == 2, uint16_t, std::conditional_t<Size == 4, uint32_t, uint64_t>>>;
template <class T>
constexpr bool kAtOnce = sizeof(T) <= 8 && alignof(T) == sizeof(T);

// For all others: no two threads of the process change one at the same time. Not the domain's,
// for two domains may be opened to the same memory.
constinit SpinLock wide_elements;

// Changes one element and gives what it was. It may lie in memory of which another process, too,
// thinks as its own.
template <class T, fi_op Op>
T change(std::byte* at, const T& operand, const T& compare) noexcept {
    if constexpr (kAtOnce<T>) {
        using B = Bits<sizeof(T)>;
        auto& memory = *reinterpret_cast<B*>(at);
        // To read, no right to write is needed.
        B bits = __atomic_load_n(&memory, __ATOMIC_SEQ_CST);
        for (;;) {
            const T value = std::bit_cast<T>(bits);
            if constexpr (Op == FI_ATOMIC_READ) return value;
            const B changed = std::bit_cast<B>(combined<T, Op>(value, operand, compare));
            if (__atomic_compare_exchange_n(&memory, &bits, changed, true, __ATOMIC_SEQ_CST,
                                            __ATOMIC_SEQ_CST))
                return value;
        }
    } else {
        const std::lock_guard guard{wide_elements};
        const T value = element<T>(at, 0);
        if constexpr (Op != FI_ATOMIC_READ) {
            const T changed = combined<T, Op>(value, operand, compare);
            std::memcpy(at, &changed, sizeof changed);
        }
        return value;
    }
}

template <class T, fi_op Op>
void apply(const AtomicElements& e) noexcept {
    for (size_t i = 0; i < e.count; ++i) {
        const T operand = Op == FI_ATOMIC_READ ? T{} : element<T>(e.operands, i);
        const T compare = compares(Op) ? element<T>(e.compares, i) : T{};
        const T before = change<T, Op>(e.target + i * sizeof(T), operand, compare);
        if (e.results) std::memcpy(e.results + i * sizeof(T), &before, sizeof before);
    }
}

// ---- the table ----------------------------------------------------------------------------------

using Row = std::array<AtomicOperation, kOperations>;

template <class T, fi_op Op>
constexpr AtomicOperation operation() noexcept {
    if constexpr (suits<T>(Op))
        return {.apply = apply<T, Op>,
                .size = sizeof(T),
                .alignment = alignof(T),
                .writes = Op != FI_ATOMIC_READ,
                .has_operands = Op != FI_ATOMIC_READ};
    else
        return {};
}

template <class T, size_t... Op>
constexpr Row row(std::index_sequence<Op...>) noexcept {
    return {operation<T, static_cast<fi_op>(Op)>()...};
}

template <size_t... Type>
constexpr std::array<Row, kTypes> table(std::index_sequence<Type...>) noexcept {
    return {row<std::tuple_element_t<Type, Types>>(std::make_index_sequence<kOperations>{})...};
}

constexpr auto kTable = table(std::make_index_sequence<kTypes>{});

constexpr bool belongs(fi_op op, AtomicCall call) noexcept {
    if (compares(op)) return call == AtomicCall::compare;
    if (op == FI_ATOMIC_READ) return call == AtomicCall::fetch;
    return call == AtomicCall::update || call == AtomicCall::fetch;
}

} // namespace

const AtomicOperation* find_operation(AtomicCall call, fi_datatype type, fi_op op) noexcept {
    const auto t = static_cast<size_t>(type), o = static_cast<size_t>(op);
    if (t >= kTypes || o >= kOperations || !belongs(op, call)) return nullptr;
    const AtomicOperation& found = kTable[t][o];
    return found.apply ? &found : nullptr;
}

} // namespace odrc::transfer
