// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// fi_rma(3): what is refused at once, what fails at the peer, and how it goes on after that.

#include "far.hpp"
#include "tests/forks.hpp"

#include <thread>

using namespace duo;

namespace {

// One write that may fail.
std::optional<int> error_of_write(Duo& d, uint64_t address, uint64_t key, size_t size) {
    const auto here = pattern(size, 'e');
    int writing = 0;
    REQUIRE(fi_write(d.a.ep(), here.data(), size, nullptr, d.to_b, address, key, &writing) == 0);
    const Outcome o = d.outcome(d.a, &writing);
    if (!o.error) return std::nullopt;
    CHECK(o.error->flags == (FI_RMA | FI_WRITE));
    CHECK(o.error->len == size);
    return o.error->err;
}

// Messages go both ways, and writes too.
void check_all_well(Duo& d) {
    Shared there{d.b, 8};
    CHECK_FALSE(error_of_write(d, there.at(0), there.key(), 8));
    for (const bool back : {false, true}) {
        char in = 0;
        int sending = 0, receiving = 0;
        Watched& from = back ? d.b : d.a;
        Watched& to = back ? d.a : d.b;
        REQUIRE(fi_send(from.ep(), "k", 1, nullptr, back ? d.to_a : d.to_b, &sending) == 0);
        REQUIRE(fi_recv(to.ep(), &in, 1, nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
        CHECK_FALSE(d.outcome(to, &receiving).error);
        CHECK_FALSE(d.outcome(from, &sending).error);
        CHECK(in == 'k');
    }
}

} // namespace

TEST_CASE("what may not be reached is not, and later traffic goes on") {
    Duo d{kRmaWishes};
    Shared there{d.b, 10'000};
    for (const size_t size : {size_t{8}, size_t{5000}}) {
        CAPTURE(size);
        // Out of bounds, by a byte.
        CHECK(error_of_write(d, there.at(10'001 - size), there.key(), size) == FI_EACCES);
        check_all_well(d);
        CHECK(error_of_write(d, there.at(0) - 1, there.key(), size) == FI_EACCES);
        check_all_well(d);
        // A key of nobody.
        CHECK(error_of_write(d, there.at(0), 0xfedcba98, size) == FI_EACCES);
        check_all_well(d);
        // A region that may be read only, and one that may be written only.
        Shared readable{d.b, size, FI_REMOTE_READ};
        CHECK(error_of_write(d, readable.at(0), readable.key(), size) == FI_EACCES);
        check_all_well(d);
        Shared writable{d.b, size, FI_REMOTE_WRITE};
        std::vector<char> here(size);
        int reading = 0;
        REQUIRE(fi_read(d.a.ep(), here.data(), size, nullptr, d.to_b, writable.at(0),
                        writable.key(), &reading) == 0);
        const Outcome o = d.outcome(d.a, &reading);
        REQUIRE(o.error);
        CHECK(o.error->err == FI_EACCES);
        CHECK(o.error->flags == (FI_RMA | FI_READ));
        // A key that was good.
        Shared gone{d.b, size};
        const uint64_t key = gone.key();
        CHECK_FALSE(error_of_write(d, gone.at(0), key, size));
        gone.region.reset();
        CHECK(error_of_write(d, gone.at(0), key, size) == FI_EACCES);
        check_all_well(d);
    }
    CHECK(std::ranges::count(there.bytes, 0) == 10'000);
}

TEST_CASE("a region may be empty, and nothing but nothing is written to it") {
    Duo d{kRmaWishes};
    alignas(4096) static char page[4096];
    for (char* const at : {page, page + 1}) { // which drivers do not treat alike
        fid_mr* mr = nullptr;
        REQUIRE(fi_mr_reg(d.b.endpoint.domain(), at, 0, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0,
                          &mr, nullptr) == 0);
        const Owned<fid_mr> region{mr};
        const auto address = reinterpret_cast<uint64_t>(at);
        CHECK_FALSE(error_of_write(d, address, fi_mr_key(mr), 0));
        CHECK(error_of_write(d, address, fi_mr_key(mr), 1) == FI_EACCES);
        check_all_well(d);
        uint64_t base = 0, key = 0;
        size_t key_size = sizeof key;
        CHECK(fi_mr_raw_attr(mr, &base, reinterpret_cast<uint8_t*>(&key), &key_size, 0) == 0);
        CHECK(base == address);
    }
    CHECK(std::ranges::count(page, 0) == sizeof page);
}

TEST_CASE("a write that fails takes no others to that peer with it") {
    Duo d{kRmaWishes};
    Shared there{d.b, 1 << 20};
    Watched bystander{kRmaWishes};
    check_all_well(d);
    std::vector<char> here(1 << 20), in(1 << 20);
    constexpr int kWrites = 400; // more than a connection has under way
    std::vector<int> writing(kWrites);
    for (size_t i = 0; i < kWrites; ++i) {
        const uint64_t key = i == 50 ? 0xfedcba98 : there.key();
        REQUIRE(fi_write(d.a.ep(), here.data(), i % 7 * 20'000, nullptr, d.to_b, there.at(0),
                         i == 50 ? key : there.key(), &writing[i]) == 0);
    }
    int sending = 0, receiving = 0;
    REQUIRE(fi_tsend(d.a.ep(), here.data(), here.size(), nullptr, d.to_b, 1, &sending) == 0);
    REQUIRE(fi_trecv(d.b.ep(), in.data(), in.size(), nullptr, d.to_a, 1, 0, &receiving) == 0);
    for (size_t i = 0; i < kWrites; ++i) {
        const Outcome o = d.outcome(d.a, &writing[i]);
        CHECK(o.error.has_value() == (i == 50));
        if (o.error) CHECK(o.error->err == FI_EACCES);
    }
    CHECK_FALSE(d.outcome(d.b, &receiving).error);
    CHECK_FALSE(d.outcome(d.a, &sending).error);
    check_all_well(d);
}

TEST_CASE("the target of a failed write sends, and its messages come") {
    Duo d{kRmaWishes};
    check_all_well(d);
    CHECK(error_of_write(d, 0, 0xfedcba98, 8) == FI_EACCES);
    for (const char out : {'t', 'u'}) {
        char in = 0;
        int sending = 0, receiving = 0;
        REQUIRE(fi_tsend(d.b.ep(), &out, 1, nullptr, d.to_a, 1, &sending) == 0);
        REQUIRE(fi_trecv(d.a.ep(), &in, 1, nullptr, d.to_b, 1, 0, &receiving) == 0);
        CHECK_FALSE(d.outcome(d.b, &sending).error);
        CHECK_FALSE(d.outcome(d.a, &receiving).error);
        CHECK(in == out);
    }
}

TEST_CASE("an injected write that fails is not told of, and later traffic goes on") {
    Duo d{kRmaWishes};
    check_all_well(d);
    REQUIRE(fi_inject_write(d.a.ep(), "x", 1, d.to_b, 0, 0xfedcba98) == 0);
    d.settle(100); // it takes its time to fail
    CHECK(d.a.outcomes.empty());
    check_all_well(d);

    // Unless its completion was asked for.
    char byte = 'x';
    int writing = 0;
    const iovec iov{&byte, 1};
    const fi_rma_iov remote{0, 1, 0xfedcba98};
    const fi_msg_rma m = rma_message(d.to_b, {&iov, 1}, {&remote, 1}, &writing);
    REQUIRE(fi_writemsg(d.a.ep(), &m, FI_INJECT | FI_COMPLETION) == 0);
    const Outcome o = d.outcome(d.a, &writing);
    REQUIRE(o.error);
    CHECK(o.error->err == FI_EACCES);
    check_all_well(d);
}

TEST_CASE("a piece that may not be reached fails the whole operation") {
    Duo d{kRmaWishes};
    Shared there{d.b, 100};
    std::vector<char> here(100);
    const iovec iov{here.data(), 100};
    const fi_rma_iov remote[2] = {{there.at(0), 50, there.key()}, {there.at(51), 50, there.key()}};
    for (const bool writes : {true, false}) {
        int context = 0;
        const fi_msg_rma m = rma_message(d.to_b, {&iov, 1}, {remote, 2}, &context, 4);
        REQUIRE((writes ? fi_writemsg(d.a.ep(), &m, FI_REMOTE_CQ_DATA | FI_COMPLETION)
                        : fi_readmsg(d.a.ep(), &m, FI_COMPLETION)) == 0);
        const Outcome o = d.outcome(d.a, &context);
        REQUIRE(o.error);
        CHECK(o.error->err == FI_EACCES);
        check_all_well(d);
    }
    CHECK(d.a.outcomes.empty());
    CHECK(d.b.outcomes.empty()); // no remote CQ data of a write that was not made
}

TEST_CASE("what cannot be meant is refused at once") {
    Duo d{kRmaWishes};
    Shared there{d.b, 4096};
    std::vector<char> here(4096);
    fid_ep* ep = d.a.ep();
    const auto& info = d.a.endpoint.info();
    const size_t limit = info.tx_attr->rma_iov_limit;
    CHECK(limit == info.tx_attr->iov_limit);
    const std::vector<iovec> iov(limit + 1, {here.data(), 1});
    const std::vector<fi_rma_iov> remote(limit + 1, {there.at(0), 1, there.key()});
    fi_msg_rma m = rma_message(d.to_b, iov, remote, nullptr);
    CHECK(fi_writemsg(ep, &m, 0) == -FI_EINVAL); // too many pieces of both
    m.iov_count = limit;
    CHECK(fi_readmsg(ep, &m, 0) == -FI_EINVAL);
    CHECK(fi_writev(ep, iov.data(), nullptr, limit + 1, d.to_b, there.at(0), there.key(),
                    nullptr) == -FI_EINVAL);
    CHECK(fi_readv(ep, iov.data(), nullptr, limit + 1, d.to_b, there.at(0), there.key(), nullptr) ==
          -FI_EINVAL);
    m.rma_iov_count = limit - 1; // not as many bytes on both sides
    CHECK(fi_readmsg(ep, &m, 0) == -FI_EINVAL);
    m.rma_iov_count = limit;
    for (const uint64_t flag : {FI_COMMIT_COMPLETE, FI_PEEK, FI_MULTI_RECV, FI_REMOTE_READ})
        CHECK(fi_writemsg(ep, &m, flag) == -FI_EBADFLAGS);
    CHECK(fi_readmsg(ep, &m, FI_INJECT) == -FI_EBADFLAGS);
    CHECK(fi_readmsg(ep, &m, FI_REMOTE_CQ_DATA) == -FI_EBADFLAGS);
    m.addr = 12345;
    CHECK(fi_writemsg(ep, &m, 0) == -FI_EINVAL); // nobody has that number

    char* data = here.data();
    CHECK(fi_write(ep, data, info.ep_attr->max_msg_size + 1, nullptr, d.to_b, there.at(0),
                   there.key(), nullptr) == -FI_EMSGSIZE);
    CHECK(fi_inject_write(ep, data, info.tx_attr->inject_size + 1, d.to_b, there.at(0),
                          there.key()) == -FI_EMSGSIZE);
    CHECK(fi_write(ep, data, 1, nullptr, d.to_b, there.at(0), uint64_t{1} << 60 | there.key(),
                   nullptr) == -FI_EKEYREJECTED);
    CHECK(d.a.outcomes.empty());
}

TEST_CASE("an endpoint does what it was opened for") {
    Duo messages; // without RMA
    CHECK(fi_write(messages.a.ep(), nullptr, 0, nullptr, messages.to_b, 0, 0, nullptr) ==
          -FI_EOPNOTSUPP);
    Duo writers{{.caps = FI_MSG | FI_RMA | FI_WRITE | FI_REMOTE_WRITE, .mr_mode = kRmaMode}};
    Shared there{writers.b, 1};
    char byte = 'o';
    int context = 0;
    CHECK(fi_read(writers.a.ep(), &byte, 1, nullptr, writers.to_b, there.at(0), there.key(),
                  &context) == -FI_EOPNOTSUPP);
    REQUIRE(fi_write(writers.a.ep(), &byte, 1, nullptr, writers.to_b, there.at(0), there.key(),
                     &context) == 0);
    CHECK_FALSE(writers.outcome(writers.a, &context).error);

    fid_ep* raw = nullptr;
    auto* info = const_cast<fi_info*>(&writers.a.endpoint.info());
    REQUIRE(fi_endpoint(writers.a.endpoint.domain(), info, &raw, nullptr) == 0);
    const Owned<fid_ep> ep{raw};
    CHECK(fi_inject_write(raw, &byte, 1, 0, 0, 0) == -FI_EOPBADSTATE);
}

TEST_CASE("nobody at the address: reads and writes end in an error") {
    Duo d{kRmaWishes};
    const fi_addr_t number = nobody_beside(d.a);
    char byte = 0;
    int reading = 0, writing = 0;
    REQUIRE(fi_read(d.a.ep(), &byte, 1, nullptr, number, 0, 0, &reading) == 0);
    REQUIRE(fi_writedata(d.a.ep(), &byte, 1, nullptr, 1, number, 0, 0, &writing) == 0);
    for (int* context : {&reading, &writing}) {
        const Outcome o = d.outcome(d.a, context);
        REQUIRE(o.error);
        CHECK(o.error->err == FI_ECONNREFUSED);
    }
}

TEST_CASE("a peer is killed while its memory is read and written" * forks()) {
    struct Offer {
        uint64_t address, key;
    };
    constexpr size_t kBytes = 32 << 20;
    for (int round = 0; round < 5; ++round) {
        Child child{[](Board& board) {
            Far far{board, kRmaWishes};
            Shared memory{far.side, kBytes};
            const Offer offer{memory.at(0), memory.key()};
            std::memcpy(board.name, &offer, sizeof offer);
            board.step = 3;
            for (;;) far.side.poll(); // until it is killed
        }};
        Watched near{kRmaWishes};
        const fi_addr_t number = meet(near, child);
        child.await(3);
        Offer offer;
        std::memcpy(&offer, child.board->name, sizeof offer);
        std::vector<char> out(kBytes), in(kBytes);
        int writing[3], reading[3];
        std::jthread killer{[&] {
            std::this_thread::sleep_for(std::chrono::microseconds{3000 * round});
            child.kill_now();
        }};
        for (size_t i = 0; i < 3; ++i) {
            REQUIRE(fi_writedata(near.ep(), out.data(), kBytes, nullptr, i, number, offer.address,
                                 offer.key, &writing[i]) == 0);
            REQUIRE(fi_read(near.ep(), in.data(), kBytes, nullptr, number, offer.address, offer.key,
                            &reading[i]) == 0);
        }
        for (size_t i = 0; i < 3; ++i) {
            for (int* context : {&writing[i], &reading[i]}) {
                const Outcome o = outcome(near, context);
                const bool told =
                    !o.error || o.error->err == FI_ECONNRESET || o.error->err == FI_ECONNREFUSED;
                CHECK(told);
            }
        }
    }
}
