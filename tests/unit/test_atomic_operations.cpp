// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Every operation of fi_atomic(3) on every type, against a plain expression.

#include "transfer/atomic_operation.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <map>
#include <thread>
#include <vector>

using namespace odrc::transfer;

namespace {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

enum class Family { integer, real, complex };

// Values that meet each other, extremes among them.
template <class T>
struct Kind {
    fi_datatype type;
    Family family;
    std::vector<T> values;
};

template <class T>
Kind<T> integer(fi_datatype type) {
    const T most = static_cast<T>(type % 2 || type == FI_UINT128
                                      ? ~T{0}
                                      : static_cast<T>(~(Uint128{1} << (8 * sizeof(T) - 1))));
    const T least = static_cast<T>(most + Uint128{1});
    return {type, Family::integer, {0, 1, 2, T(7), most, T(most - 1), least, T(0x5a), T(-1)}};
}
template <class T>
Kind<T> real(fi_datatype type) {
    using L = std::numeric_limits<T>;
    return {
        type, Family::real, {T(0), -T(0), T(1), T(-2.5), T(0.1), L::infinity(), L::quiet_NaN()}};
}
template <class T>
Kind<std::complex<T>> complex_of(fi_datatype type) {
    return {type, Family::complex, {{0, 0}, {1, 0}, {0, 1}, {T(-2.5), T(0.1)}, {3, 4}}};
}

template <class F>
void for_each_type(F&& f) {
    f(integer<int8_t>(FI_INT8));
    f(integer<uint8_t>(FI_UINT8));
    f(integer<int16_t>(FI_INT16));
    f(integer<uint16_t>(FI_UINT16));
    f(integer<int32_t>(FI_INT32));
    f(integer<uint32_t>(FI_UINT32));
    f(integer<int64_t>(FI_INT64));
    f(integer<uint64_t>(FI_UINT64));
    f(real<float>(FI_FLOAT));
    f(real<double>(FI_DOUBLE));
    f(real<long double>(FI_LONG_DOUBLE));
    f(complex_of<float>(FI_FLOAT_COMPLEX));
    f(complex_of<double>(FI_DOUBLE_COMPLEX));
    f(complex_of<long double>(FI_LONG_DOUBLE_COMPLEX));
    f(integer<Int128>(FI_INT128));
    f(integer<Uint128>(FI_UINT128));
}

// What the target t becomes with the operand b and the compared value c. Sums and products of
// integers are those of the widest unsigned type, cut off.
template <class T>
using Expression = T (*)(T t, T b, T c);

template <class T>
std::map<fi_op, Expression<T>> expressions(Family family) {
    std::map<fi_op, Expression<T>> of{
        {FI_LOR, [](T t, T b, T) { return T(t != T(0) || b != T(0)); }},
        {FI_LAND, [](T t, T b, T) { return T(t != T(0) && b != T(0)); }},
        {FI_LXOR, [](T t, T b, T) { return T((t != T(0)) != (b != T(0))); }},
        {FI_ATOMIC_READ, [](T t, T, T) { return t; }},
        {FI_ATOMIC_WRITE, [](T, T b, T) { return b; }},
        {FI_CSWAP, [](T t, T b, T c) { return c == t ? b : t; }},
        {FI_CSWAP_NE, [](T t, T b, T c) { return c != t ? b : t; }}};
    if constexpr (requires(T t) { ~t; }) {
        of[FI_SUM] = [](T t, T b, T) { return T(Uint128(t) + Uint128(b)); };
        of[FI_PROD] = [](T t, T b, T) { return T(Uint128(t) * Uint128(b)); };
        of[FI_BOR] = [](T t, T b, T) { return T(t | b); };
        of[FI_BAND] = [](T t, T b, T) { return T(t & b); };
        of[FI_BXOR] = [](T t, T b, T) { return T(t ^ b); };
        of[FI_MSWAP] = [](T t, T b, T c) { return T((b & c) | (t & ~c)); };
    } else {
        of[FI_SUM] = [](T t, T b, T) { return t + b; };
        of[FI_PROD] = [](T t, T b, T) { return t * b; };
    }
    if constexpr (requires(T t) { t < t; }) {
        of[FI_MIN] = [](T t, T b, T) { return b < t ? b : t; };
        of[FI_MAX] = [](T t, T b, T) { return b > t ? b : t; };
        of[FI_CSWAP_LE] = [](T t, T b, T c) { return c <= t ? b : t; };
        of[FI_CSWAP_LT] = [](T t, T b, T c) { return c < t ? b : t; };
        of[FI_CSWAP_GE] = [](T t, T b, T c) { return c >= t ? b : t; };
        of[FI_CSWAP_GT] = [](T t, T b, T c) { return c > t ? b : t; };
    }
    REQUIRE(of.size() == (family == Family::integer ? 19 : family == Family::real ? 15 : 9));
    return of;
}

// The same value, a NaN being a NaN; of a long double, not the bytes that mean nothing.
template <class T>
bool same(const T& a, const T& b) {
    return a == b || (a != a && b != b);
}

AtomicCall call_for(fi_op op) {
    if (op >= FI_CSWAP && op <= FI_MSWAP) return AtomicCall::compare;
    return AtomicCall::fetch;
}

} // namespace

TEST_CASE("every operation on every type does what its expression says") {
    for_each_type([]<class T>(const Kind<T>& kind) {
        CAPTURE(kind.type);
        const auto expected = expressions<T>(kind.family);
        // All triples of values in one operation, at places in memory that suit no type.
        std::vector<T> targets, operands, compares;
        for (const T& t : kind.values)
            for (const T& b : kind.values)
                for (const T& c : kind.values) {
                    targets.push_back(t);
                    operands.push_back(b);
                    compares.push_back(c);
                }
        const size_t count = targets.size(), bytes = count * sizeof(T);
        std::vector<std::byte> b(bytes + 1), c(bytes + 1), r(bytes + 1);
        std::memcpy(&b[1], static_cast<const void*>(operands.data()), bytes);
        std::memcpy(&c[1], static_cast<const void*>(compares.data()), bytes);
        for (const auto& each : expected) {
            const fi_op op = each.first;
            const auto& expression = each.second;
            CAPTURE(op);
            const AtomicOperation* operation = find_operation(call_for(op), kind.type, op);
            REQUIRE(operation);
            CHECK(operation->size == sizeof(T));
            CHECK(operation->alignment == alignof(T));
            CHECK(operation->writes == (op != FI_ATOMIC_READ));
            for (const bool fetches : {true, false}) {
                std::vector<T> memory = targets;
                operation->apply({.target = reinterpret_cast<std::byte*>(memory.data()),
                                  .operands = &b[1],
                                  .compares = &c[1],
                                  .results = fetches ? &r[1] : nullptr,
                                  .count = count});
                size_t wrong = 0;
                for (size_t i = 0; i < count; ++i) {
                    T before;
                    std::memcpy(static_cast<void*>(&before), &r[1 + i * sizeof(T)], sizeof(T));
                    wrong += fetches && !same(before, targets[i]);
                    wrong += !same(memory[i], expression(targets[i], operands[i], compares[i]));
                }
                CHECK(wrong == 0);
            }
        }
    });
}

TEST_CASE("an operation belongs to the calls that fi_atomic(3) lists it for") {
    for_each_type([]<class T>(const Kind<T>& kind) {
        const auto sensible = expressions<T>(kind.family);
        for (int o = 0; o <= FI_MSWAP; ++o) {
            const auto op = static_cast<fi_op>(o);
            const bool any = sensible.contains(op), compares = op >= FI_CSWAP;
            CAPTURE(kind.type);
            CAPTURE(op);
            CHECK((find_operation(AtomicCall::compare, kind.type, op) != nullptr) ==
                  (any && compares));
            CHECK((find_operation(AtomicCall::fetch, kind.type, op) != nullptr) ==
                  (any && !compares));
            CHECK((find_operation(AtomicCall::update, kind.type, op) != nullptr) ==
                  (any && !compares && op != FI_ATOMIC_READ));
        }
    });
    for (const auto call : {AtomicCall::update, AtomicCall::fetch, AtomicCall::compare}) {
        CHECK_FALSE(find_operation(call, static_cast<fi_datatype>(FI_UINT128 + 1), FI_SUM));
        CHECK_FALSE(find_operation(call, static_cast<fi_datatype>(-1), FI_SUM));
        CHECK_FALSE(find_operation(call, FI_INT32, static_cast<fi_op>(FI_MSWAP + 1)));
        CHECK_FALSE(find_operation(call, FI_INT32, static_cast<fi_op>(-1)));
        CHECK_FALSE(find_operation(call, FI_VOID, FI_NOOP));
    }
    CHECK_FALSE(find_operation(static_cast<AtomicCall>(7), FI_INT32, FI_SUM));
}

TEST_CASE("no change of an element is lost, whatever its width") {
    for_each_type([]<class T>(const Kind<T>& kind) {
        if constexpr (sizeof(T) == 1) return; // too small to count so far
        CAPTURE(kind.type);
        constexpr int kTimes = 15'000; // two threads' fit into 16 bits
        const AtomicOperation* add = find_operation(AtomicCall::update, kind.type, FI_SUM);
        alignas(32) T counter{};
        const T one(1);
        const auto count = [&] {
            for (int i = 0; i < kTimes; ++i)
                add->apply({.target = reinterpret_cast<std::byte*>(&counter),
                            .operands = reinterpret_cast<const std::byte*>(&one),
                            .compares = nullptr,
                            .results = nullptr,
                            .count = 1});
        };
        std::jthread other{count};
        count();
        other.join();
        CHECK(same(counter, T(2 * kTimes)));
    });
}
