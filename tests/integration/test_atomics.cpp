// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// fi_atomic(3)

#include "atomics.hpp"

#include <numeric>

using namespace duo;

namespace {

constexpr uint64_t kUpdated = FI_ATOMIC | FI_WRITE;
constexpr uint64_t kFetched = FI_ATOMIC | FI_READ;

} // namespace

TEST_CASE("each of the three families, the first time without a connection") {
    for (const int first : {0, 1, 2}) {
        Duo d{kAtomicWishes};
        Numbers<uint64_t> there{d.b, {5, 7, 9}};
        const uint64_t in[2] = {10, 20}, compare[2] = {15, 9};
        uint64_t out[2] = {};
        int context = 0;
        fid_ep* ep = d.a.ep();
        for (int i = 0; i < 3; ++i) {
            CAPTURE(first);
            switch ((first + i) % 3) {
            case 0:
                there.set({5, 7, 9});
                REQUIRE(fi_atomic(ep, in, 2, nullptr, d.to_b, there.at(1), there.key(), FI_UINT64,
                                  FI_SUM, &context) == 0);
                CHECK(d.outcome(d.a, &context).entry.flags == kUpdated);
                CHECK(there.all() == std::vector<uint64_t>{5, 17, 29});
                break;
            case 1:
                there.set({5, 7, 9});
                REQUIRE(fi_fetch_atomic(ep, in, 2, nullptr, out, nullptr, d.to_b, there.at(0),
                                        there.key(), FI_UINT64, FI_MAX, &context) == 0);
                CHECK(d.outcome(d.a, &context).entry.flags == kFetched);
                CHECK(out[0] == 5);
                CHECK(out[1] == 7);
                CHECK(there.all() == std::vector<uint64_t>{10, 20, 9});
                break;
            default:
                there.set({5, 15, 3});
                REQUIRE(fi_compare_atomic(ep, in, 2, nullptr, compare, nullptr, out, nullptr,
                                          d.to_b, there.at(1), there.key(), FI_UINT64, FI_CSWAP,
                                          &context) == 0);
                CHECK(d.outcome(d.a, &context).entry.flags == kFetched);
                CHECK(out[0] == 15);
                CHECK(out[1] == 3);
                CHECK(there.all() == std::vector<uint64_t>{5, 10, 3});
            }
        }
        CHECK(d.b.outcomes.empty());
    }
}

TEST_CASE("every type, operation and family that is said to be valid is done, at its full count") {
    Duo d{kAtomicWishes};
    fid_ep* ep = d.a.ep();
    Shared there{d.b, 3 * kRoom};
    const auto operands = pattern(kRoom, 1), compares = pattern(kRoom, 2);
    std::vector<char> before(kRoom), results(kRoom);
    size_t done = 0;
    int context = 0;
    // The target is in the midst of its region, where every type is aligned.
    const size_t begin = kRoom + (64 - there.at(kRoom) % 64);
    for (int t = 0; t <= FI_UINT128; ++t) {
        for (int o = 0; o <= FI_MSWAP; ++o) {
            const auto type = static_cast<fi_datatype>(t);
            const auto op = static_cast<fi_op>(o);
            CAPTURE(t);
            CAPTURE(o);
            for (const uint64_t family : {0ull, FI_FETCH_ATOMIC, FI_COMPARE_ATOMIC}) {
                fi_atomic_attr attr{};
                size_t count = 0;
                const int valid = family == 0 ? fi_atomicvalid(ep, type, op, &count)
                                  : family == FI_FETCH_ATOMIC
                                      ? fi_fetch_atomicvalid(ep, type, op, &count)
                                      : fi_compare_atomicvalid(ep, type, op, &count);
                CHECK(fi_query_atomic(d.a.endpoint.domain(), type, op, &attr, family) == valid);
                const char* in = operands.data();
                char* out = results.data();
                const auto call = [&](size_t n) {
                    if (family == 0)
                        return fi_atomic(ep, in, n, nullptr, d.to_b, there.at(begin), there.key(),
                                         type, op, &context);
                    if (family == FI_FETCH_ATOMIC)
                        return fi_fetch_atomic(ep, op == FI_ATOMIC_READ ? nullptr : in, n, nullptr,
                                               out, nullptr, d.to_b, there.at(begin), there.key(),
                                               type, op, &context);
                    return fi_compare_atomic(ep, in, n, nullptr, compares.data(), nullptr, out,
                                             nullptr, d.to_b, there.at(begin), there.key(), type,
                                             op, &context);
                };
                if (valid) {
                    CHECK(valid == -FI_EOPNOTSUPP);
                    CHECK(call(1) == -FI_EOPNOTSUPP);
                    continue;
                }
                ++done;
                REQUIRE(count == attr.count);
                const size_t bytes = count * attr.size;
                REQUIRE(bytes <= kRoom);
                there.bytes.assign(there.bytes.size(), 3);
                std::ranges::fill(before, 3);
                CHECK(call(count + 1) == -FI_EMSGSIZE);
                REQUIRE(call(count) == 0);
                CHECK_FALSE(d.outcome(d.a, &context).error);
                // Some bytes of a long double mean nothing, and need not be kept.
                if (type != FI_LONG_DOUBLE && type != FI_LONG_DOUBLE_COMPLEX) {
                    if (family != 0) CHECK(std::memcmp(out, before.data(), bytes) == 0);
                    if (op == FI_ATOMIC_WRITE)
                        CHECK(std::memcmp(&there.bytes[begin], in, bytes) == 0);
                    if (op == FI_ATOMIC_READ)
                        CHECK(std::memcmp(&there.bytes[begin], before.data(), bytes) == 0);
                }
                const auto other = [](char c) { return c != 3; };
                CHECK(std::none_of(there.bytes.begin(), there.bytes.begin() + begin, other));
                CHECK(std::none_of(there.bytes.begin() + begin + bytes, there.bytes.end(), other));
            }
        }
    }
    // Ten integers, three reals and three complex types: 11, 8 and 6 base operations, as many
    // fetching ones and a read, and 7, 6 and 2 comparing ones.
    CHECK(done == 10 * (11 + 12 + 7) + 3 * (8 + 9 + 6) + 3 * (6 + 7 + 2));
}

TEST_CASE("pieces on all sides need not match") {
    Duo d{kAtomicWishes};
    std::vector<int32_t> numbers(40);
    std::iota(numbers.begin(), numbers.end(), 0);
    Numbers<int32_t> there{d.b, numbers};
    std::vector<int32_t> in(24), compare(24), out(24, -1);
    std::iota(in.begin(), in.end(), 100);
    fi_ioc operands[8], compares[2] = {{&compare[0], 23}, {&compare[23], 1}};
    for (size_t i = 0; i < 8; ++i) operands[i] = {&in[3 * i], 3};
    fi_ioc results[3] = {{&out[0], 1}, {&out[1], 0}, {&out[1], 23}};
    const fi_rma_ioc remote[3] = {{there.at(30), 10, there.key()},
                                  {there.at(0), 4, there.key()},
                                  {there.at(10), 10, there.key()}};
    std::vector<int32_t> before;
    for (const fi_rma_ioc& r : remote)
        for (size_t i = 0; i < r.count; ++i)
            before.push_back(numbers[(r.addr - there.at(0)) / sizeof(int32_t) + i]);
    compare = before;
    compare[5] = -7; // this one is not swapped
    int context = 0;
    fi_msg_atomic m =
        atomic_message(d.to_b, {operands, 8}, {remote, 3}, FI_INT32, FI_CSWAP, &context);
    REQUIRE(fi_compare_atomicmsg(d.a.ep(), &m, compares, nullptr, 2, results, nullptr, 3,
                                 FI_COMPLETION) == 0);
    CHECK_FALSE(d.outcome(d.a, &context).error);
    CHECK(out == before);
    CHECK(there.all()[30] == 100);
    CHECK(there.all()[35] == 35);
    CHECK(there.all()[0] == 110);
    CHECK(there.all()[10] == 114);
    CHECK(there.all()[20] == 20);

    m.op = FI_SUM;
    REQUIRE(fi_atomicmsg(d.a.ep(), &m, FI_COMPLETION | FI_DELIVERY_COMPLETE) == 0);
    CHECK(d.outcome(d.a, &context).entry.flags == kUpdated);
    CHECK(there.all()[10] == 228);
    m.op = FI_ATOMIC_READ;
    m.iov_count = 0;
    REQUIRE(fi_fetch_atomicmsg(d.a.ep(), &m, results, nullptr, 3, FI_COMPLETION) == 0);
    CHECK_FALSE(d.outcome(d.a, &context).error);
    CHECK(out[14] == 228);
    // The calls with pieces on this side alone.
    REQUIRE(fi_atomicv(d.a.ep(), operands, nullptr, 8, d.to_b, there.at(1), there.key(), FI_INT32,
                       FI_ATOMIC_WRITE, &context) == 0);
    CHECK_FALSE(d.outcome(d.a, &context).error);
    REQUIRE(fi_fetch_atomicv(d.a.ep(), nullptr, nullptr, 0, results, nullptr, 3, d.to_b,
                             there.at(1), there.key(), FI_INT32, FI_ATOMIC_READ, &context) == 0);
    CHECK_FALSE(d.outcome(d.a, &context).error);
    CHECK(out == in);
    REQUIRE(fi_compare_atomicv(d.a.ep(), operands, nullptr, 8, compares, nullptr, 2, results,
                               nullptr, 3, d.to_b, there.at(1), there.key(), FI_INT32, FI_MSWAP,
                               &context) == 0);
    CHECK_FALSE(d.outcome(d.a, &context).error);
    CHECK(there.all()[1] == in[0]);
}

TEST_CASE("an endpoint changes memory of its own process") {
    Duo d{kAtomicWishes};
    const fi_addr_t self = d.a.endpoint.insert(d.a.endpoint.name());
    Numbers<double> there{d.a, {1.5}};
    const double in = 2;
    double out = 0;
    int context = 0;
    REQUIRE(fi_fetch_atomic(d.a.ep(), &in, 1, nullptr, &out, nullptr, self, there.at(0),
                            there.key(), FI_DOUBLE, FI_PROD, &context) == 0);
    CHECK_FALSE(d.outcome(d.a, &context).error);
    CHECK(out == 1.5);
    CHECK(there.all()[0] == 3);
}

TEST_CASE("an injected atomic has taken its operands with it, and is told of only when asked") {
    Duo d{kAtomicWishes};
    std::vector<uint8_t> in(d.a.endpoint.info().tx_attr->inject_size, 1);
    Numbers<uint8_t> there{d.b, std::vector<uint8_t>(in.size())};
    CHECK(fi_inject_atomic(d.a.ep(), in.data(), in.size(), d.to_b, there.at(0), there.key(),
                           FI_UINT8, FI_SUM) == 0);
    std::ranges::fill(in, 9);
    d.until([&] { return there.all() == std::vector<uint8_t>(in.size(), 1); });
    d.settle();
    CHECK(d.a.outcomes.empty());
    int context = 0;
    const fi_ioc operands{in.data(), in.size()};
    const fi_rma_ioc target{there.at(0), in.size(), there.key()};
    const fi_msg_atomic m =
        atomic_message(d.to_b, {&operands, 1}, {&target, 1}, FI_UINT8, FI_SUM, &context);
    REQUIRE(fi_atomicmsg(d.a.ep(), &m, FI_INJECT | FI_COMPLETION) == 0);
    CHECK(d.outcome(d.a, &context).entry.flags == kUpdated);
    CHECK(there.all() == std::vector<uint8_t>(in.size(), 10));
}

TEST_CASE("a base atomic counts as a write, one with results as a read") {
    const Watched target{kAtomicWishes};
    Watched side{kAtomicWishes};
    fid_domain* domain = side.endpoint.domain();
    auto* info = const_cast<fi_info*>(&side.endpoint.info());
    fid_cntr* raw_counters[2] = {};
    fi_cntr_attr attr{};
    for (auto& raw : raw_counters) REQUIRE(fi_cntr_open(domain, &attr, &raw, nullptr) == 0);
    const Owned<fid_cntr> read{raw_counters[0]}, written{raw_counters[1]};
    fid_ep* raw = nullptr;
    REQUIRE(fi_endpoint(domain, info, &raw, nullptr) == 0);
    const Owned<fid_ep> ep{raw};
    REQUIRE(fi_ep_bind(raw, &side.endpoint.av()->fid, 0) == 0);
    REQUIRE(fi_ep_bind(raw, &side.endpoint.cq()->fid,
                       FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION) == 0);
    REQUIRE(fi_ep_bind(raw, &read->fid, FI_READ) == 0);
    REQUIRE(fi_ep_bind(raw, &written->fid, FI_WRITE) == 0);
    REQUIRE(fi_enable(raw) == 0);
    const fi_addr_t to = side.endpoint.insert(target.endpoint.name());
    Numbers<uint32_t> there{target, {1}};
    const uint32_t two = 2;
    uint32_t out = 0;
    const auto wait_for = [&](fid_cntr* counter, uint64_t number) {
        const auto end = Clock::now() + kPatience;
        while (fi_cntr_read(counter) < number) {
            REQUIRE(Clock::now() < end);
            fi_cq_tagged_entry none;
            CHECK(fi_cq_read(target.endpoint.cq(), &none, 1) == -FI_EAGAIN);
            sched_yield();
        }
    };
    REQUIRE(fi_atomic(raw, &two, 1, nullptr, to, there.at(0), there.key(), FI_UINT32, FI_SUM,
                      nullptr) == 0);
    REQUIRE(fi_inject_atomic(raw, &two, 1, to, there.at(0), there.key(), FI_UINT32, FI_SUM) == 0);
    wait_for(written.get(), 2);
    CHECK(fi_cntr_read(read.get()) == 0);
    REQUIRE(fi_fetch_atomic(raw, &two, 1, nullptr, &out, nullptr, to, there.at(0), there.key(),
                            FI_UINT32, FI_SUM, nullptr) == 0);
    REQUIRE(fi_compare_atomic(raw, &two, 1, nullptr, &two, nullptr, &out, nullptr, to, there.at(0),
                              there.key(), FI_UINT32, FI_CSWAP, nullptr) == 0);
    wait_for(read.get(), 2);
    CHECK(out == 7);
    CHECK(fi_cntr_read(written.get()) == 2);
    // An error counts as such, and has an entry, though none was asked for.
    REQUIRE(fi_atomic(raw, &two, 1, nullptr, to, there.at(1), there.key(), FI_UINT32, FI_SUM,
                      &out) == 0);
    const auto end = Clock::now() + kPatience;
    while (fi_cntr_readerr(written.get()) == 0) {
        REQUIRE(Clock::now() < end);
        fi_cq_tagged_entry none;
        fi_cq_read(target.endpoint.cq(), &none, 1);
        fi_cntr_read(written.get());
        sched_yield();
    }
    side.poll();
    const auto o = side.take(&out);
    REQUIRE(o);
    REQUIRE(o->error);
    CHECK(o->error->err == FI_EACCES);
}
