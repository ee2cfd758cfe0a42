// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// fi_atomic(3): who is offered it, what is refused at once, what fails at the peer.

#include "atomics.hpp"

using namespace duo;

namespace {

// One atomic of each family, each of which may fail.
enum class Family { update, fetch, compare };

std::optional<int> error_of(Duo& d, Family family, uint64_t address, uint64_t key, size_t count = 1,
                            fi_datatype type = FI_UINT64) {
    const std::vector<char> in(count * 32), compare(count * 32);
    std::vector<char> out(count * 32);
    int context = 0;
    fid_ep* ep = d.a.ep();
    switch (family) {
    case Family::update:
        REQUIRE(fi_atomic(ep, in.data(), count, nullptr, d.to_b, address, key, type, FI_SUM,
                          &context) == 0);
        break;
    case Family::fetch:
        REQUIRE(fi_fetch_atomic(ep, nullptr, count, nullptr, out.data(), nullptr, d.to_b, address,
                                key, type, FI_ATOMIC_READ, &context) == 0);
        break;
    case Family::compare:
        REQUIRE(fi_compare_atomic(ep, in.data(), count, nullptr, compare.data(), nullptr,
                                  out.data(), nullptr, d.to_b, address, key, type, FI_CSWAP,
                                  &context) == 0);
    }
    const Outcome o = d.outcome(d.a, &context);
    if (!o.error) return std::nullopt;
    CHECK(o.error->flags == (FI_ATOMIC | (family == Family::update ? FI_WRITE : FI_READ)));
    return o.error->err;
}

Info info_for(uint64_t caps, uint64_t order = 0, int mr_mode = kRmaMode) {
    const Info hints{fi_allocinfo()};
    hints->caps = caps;
    hints->domain_attr->mr_mode = mr_mode;
    hints->domain_attr->name = strdup(choice().domain.c_str());
    hints->fabric_attr->prov_name = strdup("odrc");
    hints->tx_attr->msg_order = order;
    fi_info* info = nullptr;
    const int error = fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints.get(), &info);
    if (error) REQUIRE(error == -FI_ENODATA);
    return Info{info};
}

} // namespace

TEST_CASE("atomics are given to who asks for them, with the orders that they keep") {
    REQUIRE(info_for(0));
    CHECK((info_for(0)->caps & FI_ATOMIC) == 0);
    CHECK((info_for(FI_RMA)->caps & FI_ATOMIC) == 0);
    CHECK_FALSE(info_for(FI_ATOMIC, 0, 0)); // without the registration that they need
    const Info atomics = info_for(FI_ATOMIC), both = info_for(FI_ATOMIC | FI_RMA);
    REQUIRE(atomics);
    REQUIRE(both);
    constexpr uint64_t kWays = FI_ATOMIC | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    CHECK((atomics->caps & kWays) == kWays);
    CHECK((atomics->tx_attr->caps & (FI_ATOMIC | FI_WRITE)) == (FI_ATOMIC | FI_WRITE));
    CHECK((atomics->rx_attr->caps & (FI_ATOMIC | FI_REMOTE_WRITE)) ==
          (FI_ATOMIC | FI_REMOTE_WRITE));
    CHECK(atomics->domain_attr->mr_mode == kRmaMode);
    CHECK(atomics->tx_attr->rma_iov_limit == atomics->tx_attr->iov_limit);
    CHECK((info_for(FI_ATOMIC | FI_WRITE)->caps & kWays) == (FI_ATOMIC | FI_WRITE));

    constexpr uint64_t kAmongAtomics =
        FI_ORDER_ATOMIC_WAW | FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_RAR;
    constexpr uint64_t kMixed = FI_ORDER_WAW | FI_ORDER_RAW | FI_ORDER_RAR;
    CHECK((both->tx_attr->msg_order & kAmongAtomics) == kAmongAtomics);
    CHECK((both->tx_attr->msg_order & (FI_ORDER_SAS | FI_ORDER_SAW)) ==
          (FI_ORDER_SAS | FI_ORDER_SAW));
    // A read or write may overtake an atomic.
    CHECK((both->tx_attr->msg_order & kMixed) == 0);
    CHECK_FALSE(info_for(FI_ATOMIC | FI_RMA, FI_ORDER_RAW));
    CHECK((info_for(FI_ATOMIC, kMixed)->tx_attr->msg_order & kMixed) == kMixed);
    CHECK(both->ep_attr->max_order_war_size > 0);
    CHECK(both->ep_attr->max_order_war_size < 8192);
}

TEST_CASE("what may not be changed is not, and the connection stands") {
    Duo d{kAtomicWishes};
    Numbers<uint64_t> there{d.b, std::vector<uint64_t>(100, 5)};
    for (const Family family : {Family::update, Family::fetch, Family::compare}) {
        CAPTURE(static_cast<int>(family));
        // A message that goes with them on one connection, and is not lost with it.
        int sending = 0, receiving = 0;
        char in = 0;
        REQUIRE(fi_tsend(d.a.ep(), "m", 1, nullptr, d.to_b, 1, &sending) == 0);
        CHECK(error_of(d, family, there.at(100), there.key()) == FI_EACCES);
        CHECK(error_of(d, family, there.at(0) - 8, there.key()) == FI_EACCES);
        CHECK(error_of(d, family, there.at(50), there.key(), 51) == FI_EACCES);
        CHECK(error_of(d, family, UINT64_MAX - 7, there.key()) == FI_EACCES);
        CHECK(error_of(d, family, there.at(0), 0xfedcba98) == FI_EACCES); // a key of nobody
        // At an address that does not suit the type, though the region has it.
        CHECK(error_of(d, family, there.at(1) + 4, there.key()) == FI_EINVAL);
        CHECK(error_of(d, family, there.at(1) + 1, there.key(), 1, FI_INT16) == FI_EINVAL);
        CHECK(error_of(d, family, there.at(1) + 4, there.key(), 1, FI_DOUBLE) == FI_EINVAL);
        // A region that may be read only, and one that may be written only.
        Shared readable{d.b, 8, FI_REMOTE_READ}, writable{d.b, 8, FI_REMOTE_WRITE};
        const auto denied = std::optional{FI_EACCES}, granted = std::optional<int>{};
        CHECK(error_of(d, family, readable.at(0), readable.key()) ==
              (family == Family::fetch ? granted : denied));
        CHECK(error_of(d, family, writable.at(0), writable.key()) ==
              (family == Family::update ? granted : denied));
        // A key that was good.
        Shared gone{d.b, 8};
        CHECK_FALSE(error_of(d, family, gone.at(0), gone.key()));
        const uint64_t key = gone.key();
        gone.region.reset();
        CHECK(error_of(d, family, gone.at(0), key) == FI_EACCES);

        CHECK_FALSE(error_of(d, family, there.at(99), there.key()));
        REQUIRE(fi_trecv(d.b.ep(), &in, 1, nullptr, FI_ADDR_UNSPEC, 1, 0, &receiving) == 0);
        CHECK_FALSE(d.outcome(d.b, &receiving).error);
        CHECK_FALSE(d.outcome(d.a, &sending).error);
    }
    CHECK(there.all() == std::vector<uint64_t>(100, 5));
    CHECK(d.a.outcomes.empty());
    CHECK(d.b.outcomes.empty());
}

TEST_CASE("a fetch that changes what it reads needs both rights") {
    Duo d{kAtomicWishes};
    Shared readable{d.b, 8, FI_REMOTE_READ}, writable{d.b, 8, FI_REMOTE_WRITE};
    const uint64_t one = 1;
    uint64_t out = 77;
    for (const Shared* there : {&readable, &writable}) {
        int context = 0;
        REQUIRE(fi_fetch_atomic(d.a.ep(), &one, 1, nullptr, &out, nullptr, d.to_b, there->at(0),
                                there->key(), FI_UINT64, FI_SUM, &context) == 0);
        const Outcome o = d.outcome(d.a, &context);
        REQUIRE(o.error);
        CHECK(o.error->err == FI_EACCES);
        CHECK(o.error->len == 8);
        CHECK(there->bytes == std::vector<char>(8));
        CHECK(out == 77);
    }
}

TEST_CASE("a piece that may not be changed fails the whole atomic, and nothing is changed") {
    Duo d{kAtomicWishes};
    Numbers<uint32_t> there{d.b, {1, 2, 3, 4}};
    const uint32_t in[4] = {10, 20, 30, 40};
    int context = 0;
    const fi_ioc operands{const_cast<uint32_t*>(in), 4};
    const fi_rma_ioc remote[2] = {{there.at(0), 2, there.key()}, {there.at(3), 2, there.key()}};
    const fi_msg_atomic m =
        atomic_message(d.to_b, {&operands, 1}, {remote, 2}, FI_UINT32, FI_SUM, &context);
    REQUIRE(fi_atomicmsg(d.a.ep(), &m, FI_COMPLETION) == 0);
    const Outcome o = d.outcome(d.a, &context);
    REQUIRE(o.error);
    CHECK(o.error->err == FI_EACCES);
    CHECK(there.all() == std::vector<uint32_t>{1, 2, 3, 4});
}

TEST_CASE("an injected atomic that fails is not told of, unless its completion was asked for") {
    Duo d{kAtomicWishes};
    const uint64_t in = 1;
    REQUIRE(fi_inject_atomic(d.a.ep(), &in, 1, d.to_b, 0, 0xfedcba98, FI_UINT64, FI_SUM) == 0);
    CHECK(error_of(d, Family::update, 0, 0xfedcba98) == FI_EACCES);
    CHECK(d.a.outcomes.empty());
}

TEST_CASE("what cannot be meant is refused at once, as fi_atomic(3) says") {
    Duo d{kAtomicWishes};
    fid_ep* ep = d.a.ep();
    Numbers<uint64_t> there{d.b, std::vector<uint64_t>(1024)};
    std::vector<uint64_t> here(1025);
    const size_t limit = d.a.endpoint.info().tx_attr->rma_iov_limit;
    std::vector<fi_ioc> local(limit + 1), results(limit + 1);
    std::vector<fi_rma_ioc> remote(limit + 1);
    for (auto& v : local) v = {here.data(), 1};
    for (auto& v : results) v = {here.data(), 1};
    for (auto& v : remote) v = {there.at(0), 1, there.key()};
    fi_msg_atomic m = atomic_message(d.to_b, {local.data(), limit}, {remote.data(), limit},
                                     FI_UINT64, FI_SUM, nullptr);
    const auto with = [&](auto&& change) {
        fi_msg_atomic changed = m;
        change(changed);
        return fi_atomicmsg(ep, &changed, 0);
    };
    // Too many pieces, or none, or not as many elements on all sides.
    CHECK(with([](auto& c) { ++c.iov_count; }) == -FI_EINVAL);
    CHECK(with([](auto& c) { ++c.rma_iov_count; }) == -FI_EINVAL);
    CHECK(with([](auto& c) { --c.rma_iov_count; }) == -FI_EINVAL);
    CHECK(with([](auto& c) { c.iov_count = c.rma_iov_count = 0; }) == -FI_EINVAL);
    m.op = FI_CSWAP;
    for (const size_t wrong : {limit + 1, limit - 1}) {
        fi_msg_atomic sum = m;
        sum.op = FI_SUM;
        CHECK(fi_fetch_atomicmsg(ep, &sum, results.data(), nullptr, wrong, 0) == -FI_EINVAL);
        CHECK(fi_compare_atomicmsg(ep, &m, local.data(), nullptr, wrong, results.data(), nullptr,
                                   limit, 0) == -FI_EINVAL);
    }
    m.op = FI_SUM;
    CHECK(fi_atomic(ep, here.data(), 0, nullptr, d.to_b, there.at(0), there.key(), FI_UINT64,
                    FI_SUM, nullptr) == -FI_EINVAL);
    CHECK(with([](auto& c) { c.addr = 12345; }) == -FI_EINVAL); // nobody has that number
    // Types and operations that there are not, or not in this family.
    CHECK(with([](auto& c) { c.datatype = static_cast<fi_datatype>(99); }) == -FI_EOPNOTSUPP);
    CHECK(with([](auto& c) { c.op = static_cast<fi_op>(99); }) == -FI_EOPNOTSUPP);
    CHECK(with([](auto& c) { c.op = FI_CSWAP; }) == -FI_EOPNOTSUPP);
    CHECK(with([](auto& c) { c.op = FI_ATOMIC_READ; }) == -FI_EOPNOTSUPP);
    CHECK(with([](auto& c) { c.datatype = FI_DOUBLE, c.op = FI_BOR; }) == -FI_EOPNOTSUPP);
    // Flags.
    for (const uint64_t flag : {FI_TAGGED, FI_REMOTE_CQ_DATA, FI_COMMIT_COMPLETE, FI_PEEK})
        CHECK(fi_atomicmsg(ep, &m, flag) == -FI_EBADFLAGS);
    // Sizes.
    size_t count = 0;
    REQUIRE(fi_atomicvalid(ep, FI_UINT64, FI_SUM, &count) == 0);
    REQUIRE(count < here.size());
    CHECK(fi_atomic(ep, here.data(), count + 1, nullptr, d.to_b, there.at(0), there.key(),
                    FI_UINT64, FI_SUM, nullptr) == -FI_EMSGSIZE);
    CHECK(fi_atomic(ep, here.data(), SIZE_MAX, nullptr, d.to_b, there.at(0), there.key(), FI_UINT64,
                    FI_SUM, nullptr) == -FI_EMSGSIZE);
    const size_t inject_size = d.a.endpoint.info().tx_attr->inject_size;
    CHECK(fi_inject_atomic(ep, here.data(), inject_size / 8 + 1, d.to_b, there.at(0), there.key(),
                           FI_UINT64, FI_SUM) == -FI_EMSGSIZE);
    CHECK(fi_atomic(ep, here.data(), 1, nullptr, d.to_b, there.at(0),
                    uint64_t{1} << 60 | there.key(), FI_UINT64, FI_SUM,
                    nullptr) == -FI_EKEYREJECTED);
    // Questions.
    fi_atomic_attr attr{};
    fid_domain* domain = d.a.endpoint.domain();
    CHECK(fi_query_atomic(domain, FI_INT32, FI_SUM, &attr, FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC) ==
          -FI_EINVAL);
    CHECK(fi_query_atomic(domain, FI_INT32, FI_SUM, &attr, FI_TAGGED) == -FI_EOPNOTSUPP);
    CHECK(d.a.outcomes.empty());
}

TEST_CASE("an endpoint does the atomics that it was opened for") {
    uint64_t number = 0;
    size_t count = 0;
    Duo without{kRmaWishes};
    CHECK(fi_atomic(without.a.ep(), &number, 1, nullptr, without.to_b, 0, 0, FI_UINT64, FI_SUM,
                    nullptr) == -FI_EOPNOTSUPP);
    CHECK(fi_atomicvalid(without.a.ep(), FI_UINT64, FI_SUM, &count) == -FI_EOPNOTSUPP);
    Duo writers{{.caps = FI_ATOMIC | FI_WRITE | FI_REMOTE_WRITE, .mr_mode = kRmaMode}};
    CHECK(fi_atomicvalid(writers.a.ep(), FI_UINT64, FI_SUM, &count) == 0);
    CHECK(fi_fetch_atomicvalid(writers.a.ep(), FI_UINT64, FI_SUM, &count) == -FI_EOPNOTSUPP);
    CHECK(fi_fetch_atomic(writers.a.ep(), &number, 1, nullptr, &number, nullptr, writers.to_b, 0, 0,
                          FI_UINT64, FI_SUM, nullptr) == -FI_EOPNOTSUPP);
    Numbers<uint64_t> there{writers.b, {1}};
    CHECK_FALSE(error_of(writers, Family::update, there.at(0), there.key()));

    fid_ep* raw = nullptr;
    auto* info = const_cast<fi_info*>(&writers.a.endpoint.info());
    REQUIRE(fi_endpoint(writers.a.endpoint.domain(), info, &raw, nullptr) == 0);
    const Owned<fid_ep> ep{raw};
    CHECK(fi_inject_atomic(raw, &number, 1, 0, 0, 0, FI_UINT64, FI_SUM) == -FI_EOPBADSTATE);
    CHECK(fi_atomicvalid(raw, FI_UINT64, FI_SUM, &count) == 0); // that is known before
}
