// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// fi_collective(3): what may be combined, and how.

#include "collectives.hpp"

#include <array>
#include <complex>
#include <limits>

using namespace duo;

namespace {

constexpr size_t kSize = 3;

class Combiner {
public:
    template <class T>
    T operator()(fi_datatype type, fi_op op, const std::array<T, kSize>& in) {
        std::array<T, kSize> values = in, results{};
        for (size_t i = 0; i < kSize; ++i)
            REQUIRE(fi_allreduce(circle.ep(i), &values[i], 1, nullptr, &results[i], nullptr,
                                 group.at(i), type, op, 0, &values[i]) == 0);
        for (size_t i = 0; i < kSize; ++i) CHECK(!circle.outcome(i, &values[i]).error);
        CHECK(results[0] == results[1]);
        CHECK(results[0] == results[2]);
        return results[0];
    }

private:
    Circle circle{kSize};
    const Joined group{circle, first(kSize)};
};

} // namespace

TEST_CASE("members' values are combined as their type says") {
    Combiner combine;
    CHECK(combine(FI_INT8, FI_MIN, std::array<int8_t, 3>{3, -128, 127}) == -128);
    CHECK(combine(FI_UINT8, FI_MAX, std::array<uint8_t, 3>{3, 200, 127}) == 200);
    CHECK(combine(FI_UINT8, FI_SUM, std::array<uint8_t, 3>{200, 200, 1}) == 145);
    CHECK(combine(FI_INT16, FI_PROD, std::array<int16_t, 3>{-3, 20, 5}) == -300);
    CHECK(combine(FI_UINT16, FI_LOR, std::array<uint16_t, 3>{0, 0, 9}) == 1);
    CHECK(combine(FI_INT32, FI_LAND, std::array<int32_t, 3>{1, 0, 9}) == 0);
    CHECK(combine(FI_UINT32, FI_LXOR, std::array<uint32_t, 3>{1, 7, 9}) == 1);
    CHECK(combine(FI_INT64, FI_BOR, std::array<int64_t, 3>{1, 6, 8}) == 15);
    CHECK(combine(FI_UINT64, FI_BAND, std::array<uint64_t, 3>{7, 14, 6}) == 6);
    CHECK(combine(FI_UINT64, FI_BXOR, std::array<uint64_t, 3>{7, 14, 6}) == 15);
    CHECK(combine(FI_FLOAT, FI_SUM, std::array<float, 3>{0.5F, 0.25F, -2}) == -1.25F);
    CHECK(combine(FI_DOUBLE, FI_MAX, std::array<double, 3>{0.5, -0.25, 1e300}) == 1e300);
    CHECK(combine(FI_LONG_DOUBLE, FI_PROD, std::array<long double, 3>{0.5L, 3, 4}) == 6);
    using Complex = std::complex<double>;
    CHECK(combine(FI_DOUBLE_COMPLEX, FI_SUM,
                  std::array<Complex, 3>{Complex{1, 2}, Complex{3, 4}, Complex{-1, 0}}) ==
          Complex{3, 6});
}

TEST_CASE("a floating-point sum does not depend on who asks") {
    Combiner combine;
    combine(FI_FLOAT, FI_SUM, std::array<float, 3>{0.1F, 1e8F, -1e8F});
    combine(FI_DOUBLE, FI_PROD, std::array<double, 3>{1.1, 1e-308, 3.3});
}

TEST_CASE("a collective is done for just the types and operations that the query claims") {
    Circle circle{1};
    const Joined group{circle, {0}};
    alignas(32) std::array<std::byte, 64> in{}, out{};
    size_t claimed = 0;
    const auto agree = [&](int type, int op) {
        fi_collective_attr attr{};
        attr.datatype = static_cast<fi_datatype>(type);
        attr.op = static_cast<fi_op>(op);
        const int said = fi_query_collective(circle[0].endpoint.domain(), FI_ALLREDUCE, &attr, 0);
        const ssize_t done = fi_allreduce(circle.ep(0), in.data(), 1, nullptr, out.data(), nullptr,
                                          group.at(0), attr.datatype, attr.op, 0, in.data());
        CHECK_MESSAGE(said == done, "type ", type, ", operation ", op);
        if (done) return;
        ++claimed;
        CHECK(attr.datatype_attr.size <= in.size());
        CHECK(!circle.outcome(0, in.data()).error);
    };
    for (int type = FI_INT8; type < FI_INT8 + 24; ++type)
        for (int op = FI_MIN; op <= FI_MSWAP + 3; ++op) agree(type, op);
    agree(FI_VOID, FI_NOOP);
    agree(FI_INT32, FI_NOOP);
    CHECK(claimed == 10 * 10 + 3 * 7 + 3 * 5); // integers, real and complex numbers
}
