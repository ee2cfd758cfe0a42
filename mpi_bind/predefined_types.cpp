// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "predefined_types.hpp"

#include "pair.hpp"

#include <complex>

namespace odrc::mpi {
namespace {

template <class T>
constexpr Basic integer() noexcept {
    constexpr bool is_signed = std::is_signed_v<T>;
    switch (sizeof(T)) {
    case 1:
        return is_signed ? Basic::int8 : Basic::uint8;
    case 2:
        return is_signed ? Basic::int16 : Basic::uint16;
    case 4:
        return is_signed ? Basic::int32 : Basic::uint32;
    default:
        return is_signed ? Basic::int64 : Basic::uint64;
    }
}

} // namespace

#define ADD(handle, type, basic) add<type>(handle, #handle, basic)
#define ADD_INTEGER(handle, type) add<type>(handle, #handle, integer<type>())

PredefinedTypes::PredefinedTypes() {
    add<char>(MPI_CHAR, "MPI_CHAR", Basic::none);
    ADD_INTEGER(MPI_SIGNED_CHAR, signed char);
    ADD_INTEGER(MPI_UNSIGNED_CHAR, unsigned char);
    ADD(MPI_BYTE, unsigned char, Basic::byte);
    ADD(MPI_PACKED, unsigned char, Basic::none);
    ADD(MPI_WCHAR, wchar_t, Basic::none);
    ADD_INTEGER(MPI_SHORT, short);
    ADD_INTEGER(MPI_UNSIGNED_SHORT, unsigned short);
    ADD_INTEGER(MPI_INT, int);
    ADD_INTEGER(MPI_UNSIGNED, unsigned);
    ADD_INTEGER(MPI_LONG, long);
    ADD_INTEGER(MPI_UNSIGNED_LONG, unsigned long);
    ADD_INTEGER(MPI_LONG_LONG_INT, long long);
    ADD_INTEGER(MPI_UNSIGNED_LONG_LONG, unsigned long long);
    ADD(MPI_FLOAT, float, Basic::float32);
    ADD(MPI_DOUBLE, double, Basic::float64);
    ADD(MPI_LONG_DOUBLE, long double, Basic::float80);
    ADD(MPI_C_BOOL, bool, Basic::boolean);
    ADD_INTEGER(MPI_INT8_T, int8_t);
    ADD_INTEGER(MPI_INT16_T, int16_t);
    ADD_INTEGER(MPI_INT32_T, int32_t);
    ADD_INTEGER(MPI_INT64_T, int64_t);
    ADD_INTEGER(MPI_UINT8_T, uint8_t);
    ADD_INTEGER(MPI_UINT16_T, uint16_t);
    ADD_INTEGER(MPI_UINT32_T, uint32_t);
    ADD_INTEGER(MPI_UINT64_T, uint64_t);
    ADD_INTEGER(MPI_AINT, MPI_Aint);
    ADD_INTEGER(MPI_COUNT, MPI_Count);
    ADD_INTEGER(MPI_OFFSET, MPI_Offset);
    ADD(MPI_C_FLOAT_COMPLEX, std::complex<float>, Basic::complex32);
    ADD(MPI_C_DOUBLE_COMPLEX, std::complex<double>, Basic::complex64);
    ADD(MPI_C_LONG_DOUBLE_COMPLEX, std::complex<long double>, Basic::complex80);
    add_pair<float, int>(MPI_FLOAT_INT, "MPI_FLOAT_INT", Basic::float_int);
    add_pair<double, int>(MPI_DOUBLE_INT, "MPI_DOUBLE_INT", Basic::double_int);
    add_pair<long, int>(MPI_LONG_INT, "MPI_LONG_INT", Basic::long_int);
    add_pair<short, int>(MPI_SHORT_INT, "MPI_SHORT_INT", Basic::short_int);
    add_pair<int, int>(MPI_2INT, "MPI_2INT", Basic::two_int);
    add_pair<long double, int>(MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT", Basic::long_double_int);
    ADD(MPI_CXX_BOOL, bool, Basic::boolean);
    ADD(MPI_CXX_FLOAT_COMPLEX, std::complex<float>, Basic::complex32);
    ADD(MPI_CXX_DOUBLE_COMPLEX, std::complex<double>, Basic::complex64);
    ADD(MPI_CXX_LONG_DOUBLE_COMPLEX, std::complex<long double>, Basic::complex80);
    ADD(MPI_CHARACTER, char, Basic::none);
    ADD(MPI_LOGICAL, MPI_Fint, Basic::int32);
    ADD_INTEGER(MPI_INTEGER, MPI_Fint);
    ADD(MPI_REAL, float, Basic::float32);
    ADD(MPI_DOUBLE_PRECISION, double, Basic::float64);
    ADD(MPI_COMPLEX, std::complex<float>, Basic::complex32);
    ADD(MPI_DOUBLE_COMPLEX, std::complex<double>, Basic::complex64);
    ADD_INTEGER(MPI_INTEGER1, int8_t);
    ADD_INTEGER(MPI_INTEGER2, int16_t);
    ADD_INTEGER(MPI_INTEGER4, int32_t);
    ADD_INTEGER(MPI_INTEGER8, int64_t);
    ADD(MPI_REAL4, float, Basic::float32);
    ADD(MPI_REAL8, double, Basic::float64);
    add_pair<MPI_Fint, MPI_Fint>(MPI_2INTEGER, "MPI_2INTEGER", Basic::two_int);
    add_pair<float, float>(MPI_2REAL, "MPI_2REAL", Basic::two_float);
    add_pair<double, double>(MPI_2DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION", Basic::two_double);
}

#undef ADD
#undef ADD_INTEGER

// Never destroyed: programs have their handles until they end.
PredefinedTypes& PredefinedTypes::get() {
    static PredefinedTypes& all = *new PredefinedTypes;
    return all;
}

template <class T>
void PredefinedTypes::add(MPI_Datatype handle, const char* name, Basic basic) {
    put(handle, name, basic,
        std::make_unique<Datatype>(Layout::run(1, sizeof(T)), 0, sizeof(T), alignof(T)));
}

template <class Value, class Index>
void PredefinedTypes::add_pair(MPI_Datatype handle, const char* name, Basic basic) {
    using Pair = PairOf<Value, Index>;
    LayoutRef layout = Layout::list({{0, Layout::run(1, sizeof(Value)), 0},
                                     {offsetof(Pair, index), Layout::run(1, sizeof(Index)), 0}});
    put(handle, name, basic,
        std::make_unique<Datatype>(std::move(layout), 0, sizeof(Pair), alignof(Pair)));
}

void PredefinedTypes::put(MPI_Datatype handle, const char* name, Basic basic,
                          std::unique_ptr<Datatype> type) {
    type->predefined_ = static_cast<uint8_t>(number_of(handle));
    type->basic_ = basic;
    type->name = name;
    type->commit();
    types[number_of(handle)] = std::move(type);
}

Datatype* Datatype::of(MPI_Datatype handle) noexcept {
    const uintptr_t number = number_of(handle);
    if (number >= kFirstAddress) return reinterpret_cast<Datatype*>(handle);
    return number < PredefinedTypes::kCount ? PredefinedTypes::get().types[number].get() : nullptr;
}

MPI_Datatype Datatype::handle() noexcept {
    return predefined_ ? ODRC_MPI_HANDLE(MPI_Datatype, predefined_)
                       : reinterpret_cast<MPI_Datatype>(this);
}

} // namespace odrc::mpi
