// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// FI_RMA_EVENT: reads and writes are counted where they happen (fi_endpoint(3), fi_mr(3))

#include "duo.hpp"

#include <rdma/fi_atomic.h>
#include <thread>

using namespace duo;

namespace {

Wishes counted(fi_wait_obj wait = FI_WAIT_NONE) {
    return {.caps = kRmaWishes.caps | FI_RMA_EVENT,
            .threading = wait == FI_WAIT_NONE ? FI_THREAD_DOMAIN : FI_THREAD_SAFE,
            .wait = wait,
            .remote_counters = true,
            .mr_mode = kRmaMode};
}

Owned<fid_cntr> open_counter(const Endpoint& endpoint, fi_wait_obj wait = FI_WAIT_NONE) {
    fi_cntr_attr attr{};
    attr.wait_obj = wait;
    fid_cntr* counter = nullptr;
    REQUIRE(fi_cntr_open(endpoint.domain(), &attr, &counter, nullptr) == 0);
    return Owned<fid_cntr>{counter};
}

// How often peers have read and written the memory of a side.
uint64_t reads(const Watched& side) { return fi_cntr_read(side.endpoint.read_by_peers()); }
uint64_t writes(const Watched& side) { return fi_cntr_read(side.endpoint.written_by_peers()); }

} // namespace

TEST_CASE("what peers read and write is counted when it is done, whatever its size") {
    Duo d{counted()};
    uint64_t round = 0;
    for (const size_t size : {0, 1, 100, 1024, 8192, 8193, 100'000, 20'000'000}) {
        CAPTURE(size);
        ++round;
        Shared there{d.b, size + 1};
        auto here = pattern(size, 'e');
        int writing = 0, reading = 0;
        REQUIRE(fi_write(d.a.ep(), here.data(), size, nullptr, d.to_b, there.at(0), there.key(),
                         &writing) == 0);
        d.until([&] { return writes(d.b) == round; });
        CHECK(std::equal(here.begin(), here.end(), there.bytes.begin()));
        CHECK(reads(d.b) == round - 1);
        REQUIRE(fi_read(d.a.ep(), here.data(), size, nullptr, d.to_b, there.at(0), there.key(),
                        &reading) == 0);
        d.until([&] { return reads(d.b) == round; });
        CHECK_FALSE(d.outcome(d.a, &writing).error);
        CHECK_FALSE(d.outcome(d.a, &reading).error);
    }
    CHECK(writes(d.b) == round);
    CHECK(reads(d.a) + writes(d.a) == 0);
    CHECK(d.b.outcomes.empty());
}

TEST_CASE("an injected write counts, before and after there is a connection") {
    Duo d{counted()};
    Shared there{d.b, 1024};
    auto here = pattern(1024, 'i');
    uint64_t count = 0;
    for (const size_t size : {8, 8, 0, 200, 1024}) {
        CAPTURE(size);
        now(d, [&] {
            return fi_inject_write(d.a.ep(), here.data(), size, d.to_b, there.at(0), there.key());
        });
        ++count;
        d.until([&] { return writes(d.b) == count; });
        CHECK(
            std::equal(here.begin(), here.begin() + static_cast<long>(size), there.bytes.begin()));
    }
    now(d, [&] {
        return fi_inject_writedata(d.a.ep(), here.data(), 8, 7, d.to_b, there.at(0), there.key());
    });
    d.until([&] { return writes(d.b) == count + 1; });
    CHECK(d.outcome(d.b, nullptr).entry.data == 7);
    CHECK(d.a.outcomes.empty());
}

TEST_CASE("a write counts once, however it is cut and whatever else is told of it") {
    Duo d{counted()};
    Shared there{d.b, 40'000}, beside{d.b, 40'000};
    auto here = pattern(80'000, 'p');
    const iovec iov{here.data(), here.size()};
    const fi_rma_iov remote[8] = {
        {there.at(0), 10'000, there.key()},      {beside.at(0), 10'000, beside.key()},
        {there.at(10'000), 10'000, there.key()}, {beside.at(10'000), 10'000, beside.key()},
        {there.at(20'000), 10'000, there.key()}, {beside.at(20'000), 10'000, beside.key()},
        {there.at(30'000), 10'000, there.key()}, {beside.at(30'000), 10'000, beside.key()}};
    const auto of_both = open_counter(d.b.endpoint), of_one = open_counter(d.b.endpoint);
    REQUIRE(fi_mr_bind(there.region.get(), &of_both->fid, FI_REMOTE_READ | FI_REMOTE_WRITE) == 0);
    REQUIRE(fi_mr_bind(beside.region.get(), &of_both->fid, FI_REMOTE_WRITE) == 0);
    REQUIRE(fi_mr_bind(beside.region.get(), &of_one->fid, FI_REMOTE_READ) == 0);
    int context = 0;
    fi_msg_rma m = rma_message(d.to_b, {&iov, 1}, {remote, 8}, &context, 9);
    REQUIRE(fi_writemsg(d.a.ep(), &m, FI_REMOTE_CQ_DATA | FI_DELIVERY_COMPLETE | FI_COMPLETION) ==
            0);
    CHECK_FALSE(d.outcome(d.a, &context).error);
    CHECK(d.outcome(d.b, nullptr).entry.data == 9);
    CHECK(writes(d.b) == 1);
    CHECK(fi_cntr_read(of_both.get()) == 2); // a region each
    REQUIRE(fi_readmsg(d.a.ep(), &m, FI_COMPLETION) == 0);
    CHECK_FALSE(d.outcome(d.a, &context).error);
    d.until([&] { return reads(d.b) == 1; });
    CHECK(fi_cntr_read(of_both.get()) == 3);
    CHECK(fi_cntr_read(of_one.get()) == 1);
    CHECK(writes(d.b) == 1);
}

TEST_CASE("an endpoint counts what it does to its own memory") {
    Duo d{counted()};
    const fi_addr_t self = d.a.endpoint.insert(d.a.endpoint.name());
    Shared there{d.a, 100};
    char here[100]{};
    int context = 0;
    REQUIRE(fi_write(d.a.ep(), here, sizeof here, nullptr, self, there.at(0), there.key(),
                     &context) == 0);
    CHECK_FALSE(d.outcome(d.a, &context).error);
    REQUIRE(fi_read(d.a.ep(), here, sizeof here, nullptr, self, there.at(0), there.key(),
                    &context) == 0);
    CHECK_FALSE(d.outcome(d.a, &context).error);
    d.until([&] { return writes(d.a) == 1 && reads(d.a) == 1; });
}

TEST_CASE("only what succeeds counts, and counting goes on afterwards") {
    Duo d{counted()};
    Shared there{d.b, 100};
    Shared shut{d.b, 100, FI_REMOTE_READ};
    const auto of_shut = open_counter(d.b.endpoint);
    REQUIRE(fi_mr_bind(shut.region.get(), &of_shut->fid, FI_REMOTE_WRITE) == 0);
    char here[100]{};
    int context = 0;
    for (uint64_t round = 1; round <= 3; ++round) {
        REQUIRE(fi_write(d.a.ep(), here, sizeof here, nullptr, d.to_b, shut.at(0), shut.key(),
                         &context) == 0);
        CHECK(d.outcome(d.a, &context).error->err == FI_EACCES);
        d.settle();
        REQUIRE(fi_write(d.a.ep(), here, sizeof here, nullptr, d.to_b, there.at(0), there.key(),
                         &context) == 0);
        CHECK_FALSE(d.outcome(d.a, &context).error);
        d.until([&] { return writes(d.b) == round; });
    }
    for (fid_cntr* counter : {d.b.endpoint.written_by_peers(), of_shut.get()})
        CHECK(fi_cntr_readerr(counter) == 0);
    CHECK(fi_cntr_read(of_shut.get()) == 0);
}

TEST_CASE("without the capability nothing counts, and no counter can be bound for it alone") {
    Wishes wishes = counted();
    wishes.caps &= ~FI_RMA_EVENT;
    CHECK_THROWS(Endpoint{choice(), wishes}); // fi_ep_bind(3) has refused
    wishes.remote_counters = false;
    const Watched plain{wishes};
    CHECK((plain.endpoint.info().caps & FI_RMA_EVENT) == 0);

    const auto counter = open_counter(plain.endpoint);
    fid_ep* raw = nullptr;
    REQUIRE(fi_endpoint(plain.endpoint.domain(), const_cast<fi_info*>(&plain.endpoint.info()), &raw,
                        nullptr) == 0);
    const Owned<fid_ep> ep{raw};
    constexpr uint64_t kRemote = FI_REMOTE_READ | FI_REMOTE_WRITE;
    CHECK(fi_ep_bind(raw, &counter->fid, kRemote) == -FI_EINVAL);
    CHECK(fi_ep_bind(raw, &counter->fid, FI_RECV | kRemote) == 0);
    CHECK(fi_ep_bind(raw, &counter->fid, FI_RECV) == -FI_EINVAL); // that is counted already

    for (const uint64_t caps : {FI_MSG | FI_RMA_EVENT, FI_RMA | FI_RMA_EVENT | FI_READ}) {
        const Info hints{fi_dupinfo(&plain.endpoint.info())};
        hints->caps = caps;
        hints->tx_attr->caps = hints->rx_attr->caps = 0;
        fi_info* info = nullptr;
        CHECK(fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints.get(), &info) ==
              -FI_ENODATA);
    }
}

TEST_CASE("one side may count where the other does not") {
    Watched counts{counted()}, plain{kRmaWishes};
    const fi_addr_t to_plain = counts.endpoint.insert(plain.endpoint.name());
    const fi_addr_t to_counts = plain.endpoint.insert(counts.endpoint.name());
    Shared at_plain{plain, 8}, at_counts{counts, 8};
    char here[8]{};
    int context = 0;
    const auto end = [&](Watched& side) {
        for (;;) {
            counts.poll();
            plain.poll();
            if (const auto o = side.take(&context)) return o->error.has_value();
        }
    };
    REQUIRE(fi_write(counts.ep(), here, 8, nullptr, to_plain, at_plain.at(0), at_plain.key(),
                     &context) == 0);
    CHECK_FALSE(end(counts));
    for (uint64_t i = 1; i <= 3; ++i) {
        REQUIRE(fi_write(plain.ep(), here, 8, nullptr, to_counts, at_counts.at(0), at_counts.key(),
                         &context) == 0);
        CHECK_FALSE(end(plain));
        while (writes(counts) < i) plain.poll();
    }
    CHECK(reads(counts) == 0);
}

TEST_CASE("a counter of a region is bound once for each kind, and keeps what it needs open") {
    Duo d{counted()};
    auto counter = open_counter(d.b.endpoint);
    const auto other = open_counter(d.b.endpoint), foreign = open_counter(d.a.endpoint);
    char bytes[8];
    fid_mr* mr = nullptr;
    // Programs say beforehand that they will bind a counter.
    REQUIRE(fi_mr_reg(d.b.endpoint.domain(), bytes, 8, FI_REMOTE_WRITE, 0, 0, FI_RMA_EVENT, &mr,
                      nullptr) == 0);
    CHECK(fi_mr_bind(mr, &counter->fid, 0) == -FI_EINVAL);
    CHECK(fi_mr_bind(mr, &counter->fid, FI_REMOTE_WRITE | FI_SEND) == -FI_EINVAL);
    CHECK(fi_mr_bind(mr, &foreign->fid, FI_REMOTE_WRITE) == -FI_EINVAL);
    CHECK(fi_mr_bind(mr, &d.b.ep()->fid, 0) == -FI_EINVAL);
    REQUIRE(fi_mr_bind(mr, &counter->fid, FI_REMOTE_WRITE) == 0);
    CHECK(fi_mr_bind(mr, &other->fid, FI_REMOTE_WRITE) == -FI_EINVAL);
    CHECK(fi_close(&counter->fid) == -FI_EBUSY);

    int context = 0;
    REQUIRE(fi_write(d.a.ep(), "1234567", 8, nullptr, d.to_b, reinterpret_cast<uint64_t>(bytes),
                     fi_mr_key(mr), &context) == 0);
    d.until([&] { return fi_cntr_read(counter.get()) == 1; });
    REQUIRE(fi_close(&mr->fid) == 0);
    counter.reset(); // it goes before the endpoint
    CHECK(d.outcome(d.a, &context).error == std::nullopt);
}

TEST_CASE("reading a region's counter is enough for progress, and one sleeps on it") {
    for (const auto wait : {FI_WAIT_NONE, FI_WAIT_UNSPEC, FI_WAIT_YIELD}) {
        CAPTURE(int{wait});
        Wishes wishes = counted(FI_WAIT_UNSPEC);
        wishes.remote_counters = false;
        Duo d{wishes};
        Shared there{d.b, 8};
        const auto counter = open_counter(d.b.endpoint, wait);
        REQUIRE(fi_mr_bind(there.region.get(), &counter->fid, FI_REMOTE_WRITE) == 0);
        std::thread writer{[&] {
            std::this_thread::sleep_for(std::chrono::milliseconds{20});
            int context = 0;
            fi_write(d.a.ep(), "1234567", 8, nullptr, d.to_b, there.at(0), there.key(), &context);
            fi_cq_tagged_entry entry;
            while (fi_cq_sread(d.a.endpoint.cq(), &entry, 1, nullptr, 100) == -FI_EAGAIN) {
            }
        }};
        if (wait == FI_WAIT_NONE)
            while (fi_cntr_read(counter.get()) == 0) sched_yield();
        else
            CHECK(fi_cntr_wait(counter.get(), 1, 20'000) == 0);
        writer.join();
        CHECK(fi_cntr_read(counter.get()) == 1);
    }
}

TEST_CASE("atomics of peers count, at the endpoint and at the region") {
    Wishes wishes = counted();
    wishes.caps |= FI_ATOMIC;
    Duo d{wishes};
    Shared there{d.b, 64};
    Shared beside{d.b, 64};
    const auto of_region = open_counter(d.b.endpoint), of_both = open_counter(d.b.endpoint);
    REQUIRE(fi_mr_bind(there.region.get(), &of_region->fid, FI_REMOTE_WRITE) == 0);
    REQUIRE(fi_mr_bind(beside.region.get(), &of_both->fid, FI_REMOTE_READ | FI_REMOTE_WRITE) == 0);
    uint64_t one = 1, before = 0;
    int adding = 0, fetching = 0, reading = 0;
    REQUIRE(fi_atomic(d.a.ep(), &one, 1, nullptr, d.to_b, there.at(0), there.key(), FI_UINT64,
                      FI_SUM, &adding) == 0);
    CHECK_FALSE(d.outcome(d.a, &adding).error);
    REQUIRE(fi_fetch_atomic(d.a.ep(), &one, 1, nullptr, &before, nullptr, d.to_b, there.at(0),
                            there.key(), FI_UINT64, FI_SUM, &fetching) == 0);
    CHECK_FALSE(d.outcome(d.a, &fetching).error);
    CHECK(writes(d.b) == 1);
    CHECK(reads(d.b) == 1);
    CHECK(fi_cntr_read(of_region.get()) == 2); // both have changed it (fi_mr(3))
    REQUIRE(fi_fetch_atomic(d.a.ep(), nullptr, 1, nullptr, &before, nullptr, d.to_b, there.at(0),
                            there.key(), FI_UINT64, FI_ATOMIC_READ, &reading) == 0);
    CHECK_FALSE(d.outcome(d.a, &reading).error);
    CHECK(reads(d.b) == 2);
    CHECK(fi_cntr_read(of_region.get()) == 2);
    REQUIRE(fi_fetch_atomic(d.a.ep(), &one, 1, nullptr, &before, nullptr, d.to_b, beside.at(0),
                            beside.key(), FI_UINT64, FI_SUM, &fetching) == 0);
    CHECK_FALSE(d.outcome(d.a, &fetching).error);
    CHECK(fi_cntr_read(of_both.get()) == 1); // once, though it was read and changed
}
