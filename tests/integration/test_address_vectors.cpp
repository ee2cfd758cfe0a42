// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// fi_av(3)

#include "duo.hpp"

using namespace duo;

namespace {

Owned<fid_av> open_av(const Endpoint& endpoint, uint64_t flags = 0) {
    fi_av_attr attr{};
    attr.flags = flags;
    fid_av* av = nullptr;
    REQUIRE(fi_av_open(endpoint.domain(), &attr, &av, nullptr) == 0);
    CHECK(attr.type == FI_AV_TABLE);
    return Owned<fid_av>{av};
}

// Later versions of libfabric warn of fi_av_bind, and have what it calls all the same.
int bind(fid_av& av, fid& to, uint64_t flags) { return av.fid.ops->bind(&av.fid, &to, flags); }

sockaddr_in somewhere(uint16_t port) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    in.sin_port = htons(port);
    return in;
}

} // namespace

TEST_CASE("an address vector numbers addresses, and gives them back") {
    Duo d;
    fid_av* av = d.a.endpoint.av();
    const std::string b = d.b.endpoint.name();

    char raw[64];
    size_t length = sizeof raw;
    REQUIRE(fi_av_lookup(av, d.to_b, raw, &length) == 0);
    CHECK(std::string(raw, length) == b);
    char text[64];
    length = sizeof text;
    CHECK(std::string{fi_av_straddr(av, raw, text, &length)}.starts_with("fi_sockaddr_in"));

    const fi_addr_t again = d.a.endpoint.insert(b);
    CHECK(again == d.to_b + 1);

    fi_addr_t numbers[2];
    const auto* in = reinterpret_cast<const sockaddr_in*>(b.data());
    CHECK(fi_av_insertsvc(av, "127.0.0.1", "9", &numbers[0], FI_NUMERICHOST, nullptr) == 1);
    CHECK(fi_av_insertsym(av, "10.9.8.7", 2, "100", 1, numbers, FI_NUMERICHOST, nullptr) == 2);
    length = sizeof raw;
    REQUIRE(fi_av_lookup(av, numbers[1], raw, &length) == 0);
    CHECK(reinterpret_cast<sockaddr_in*>(raw)->sin_addr.s_addr == htonl(0x0a090808));

    // Nonsense is refused on its own; what is beside it goes in.
    sockaddr_in mixed[3] = {*in, *in, *in};
    mixed[1].sin_family = AF_UNIX;
    fi_addr_t three[3];
    int errors[3];
    CHECK(fi_av_insert(av, mixed, 3, three, FI_SYNC_ERR, errors) == 2);
    CHECK(three[1] == FI_ADDR_NOTAVAIL);
    CHECK(errors[0] == 0);
    CHECK(errors[1] != 0);
    CHECK(errors[2] == 0);

    REQUIRE(fi_av_remove(av, &three[0], 1, 0) == 0);
    length = sizeof raw;
    CHECK(fi_av_lookup(av, three[0], raw, &length) == -FI_EINVAL);
    CHECK(fi_send(d.a.ep(), "x", 1, nullptr, three[0], nullptr) == -FI_EINVAL);
    CHECK(fi_send(d.a.ep(), "x", 1, nullptr, 12345, nullptr) == -FI_EINVAL);
    CHECK(fi_recv(d.a.ep(), raw, 1, nullptr, 12345, nullptr) == -FI_EINVAL);
}

TEST_CASE("a number that was taken back can stand for another peer") {
    Duo d;
    Watched third;
    char in = 0;
    int receiving = 0;
    REQUIRE(fi_inject(d.a.ep(), "1", 1, d.to_b) == 0);
    REQUIRE(fi_recv(d.b.ep(), &in, 1, nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
    d.outcome(d.b, &receiving);
    REQUIRE(fi_av_remove(d.a.endpoint.av(), &d.to_b, 1, 0) == 0);
    const fi_addr_t reused = d.a.endpoint.insert(third.endpoint.name());
    CHECK(reused == d.to_b);
    REQUIRE(fi_inject(d.a.ep(), "3", 1, reused) == 0);
    REQUIRE(fi_recv(third.ep(), &in, 1, nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
    std::optional<Outcome> o;
    d.until([&] {
        third.poll();
        return (o = third.take(&receiving)).has_value();
    });
    CHECK(in == '3');
    CHECK(o->source == FI_ADDR_NOTAVAIL); // the third has not inserted the first
    CHECK(third.endpoint.insert(d.a.endpoint.name()) == 0);
    REQUIRE(fi_inject(d.a.ep(), "4", 1, reused) == 0);
    REQUIRE(fi_recv(third.ep(), &in, 1, nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
    d.until([&] {
        third.poll();
        return (o = third.take(&receiving)).has_value();
    });
    CHECK(o->source == 0);
}

TEST_CASE("an address goes to the lowest number that is free") {
    const Watched w;
    for (const auto type : {FI_AV_MAP, FI_AV_TABLE}) {
        fi_av_attr attr{};
        attr.type = type;
        attr.count = 10;
        fid_av* av = nullptr;
        REQUIRE(fi_av_open(w.endpoint.domain(), &attr, &av, nullptr) == 0);
        const Owned<fid_av> owner{av};
        CHECK(attr.type == type);
        const auto insert = [&](uint16_t port) {
            const sockaddr_in in = somewhere(port);
            fi_addr_t number = FI_ADDR_NOTAVAIL;
            REQUIRE(fi_av_insert(av, &in, 1, &number, 0, nullptr) == 1);
            return number;
        };
        for (uint16_t port = 1; port <= 2500; ++port) REQUIRE(insert(port) == port - 1u);
        for (fi_addr_t number : {2000u, 7u, 2499u, 1023u})
            CHECK(fi_av_remove(av, &number, 1, 0) == 0);
        for (const fi_addr_t number : {7u, 1023u, 2000u, 2499u, 2500u})
            CHECK(insert(static_cast<uint16_t>(10'000 + number)) == number);
        sockaddr_in found{};
        size_t length = sizeof found;
        CHECK(fi_av_lookup(av, 1023, &found, &length) == 0);
        CHECK(ntohs(found.sin_port) == 11'023);
        // Without a place for the numbers they are the next ones all the same.
        const sockaddr_in in = somewhere(20'000);
        CHECK(fi_av_insert(av, &in, 1, nullptr, 0, nullptr) == 1);
        CHECK(fi_av_lookup(av, 2501, &found, &length) == 0);
        CHECK(ntohs(found.sin_port) == 20'000);
    }
}

TEST_CASE("an address vector tells an event queue how insertions went") {
    const Watched w;
    fid_eq* eq = nullptr;
    fi_eq_attr attr{};
    REQUIRE(fi_eq_open(w.endpoint.fabric(), &attr, &eq, nullptr) == 0);
    const Owned<fid_eq> events{eq}; // outlives the vector
    const auto av = open_av(w.endpoint, FI_EVENT);
    fi_addr_t numbers[3];
    int inserting = 0;
    sockaddr_in in[3] = {somewhere(1), somewhere(2), somewhere(3)};
    CHECK(fi_av_insert(av.get(), in, 3, numbers, 0, &inserting) == -FI_ENOEQ);

    CHECK(bind(*av, eq->fid, FI_SEND) == -FI_EINVAL);
    CHECK(bind(*av, w.endpoint.cq()->fid, 0) == -FI_EINVAL);
    REQUIRE(bind(*av, eq->fid, 0) == 0);
    CHECK(bind(*av, eq->fid, 0) == -FI_EINVAL); // it is bound
    CHECK(fi_close(&eq->fid) == -FI_EBUSY);

    const auto failed = [&](uint64_t which, int error) {
        fi_eq_err_entry entry{};
        uint32_t event = 0;
        CHECK(fi_eq_read(eq, &event, &entry, sizeof entry, 0) == -FI_EAVAIL);
        REQUIRE(fi_eq_readerr(eq, &entry, FI_PEEK) == sizeof entry);
        REQUIRE(fi_eq_readerr(eq, &entry, 0) == sizeof entry);
        CHECK(entry.fid == &av->fid);
        CHECK(entry.context == &inserting);
        CHECK(entry.data == which);
        CHECK(entry.err == error);
        char text[64];
        CHECK(std::string{fi_eq_strerror(eq, entry.prov_errno, nullptr, text, sizeof text)} ==
              fi_strerror(error));
    };
    const auto completed = [&](uint64_t how_many) {
        fi_eq_entry entry{};
        uint32_t event = 0;
        REQUIRE(fi_eq_read(eq, &event, &entry, sizeof entry, 0) == sizeof entry);
        CHECK(event == FI_AV_COMPLETE);
        CHECK(entry.fid == &av->fid);
        CHECK(entry.context == &inserting);
        CHECK(entry.data == how_many);
    };
    in[1].sin_family = AF_UNIX;
    REQUIRE(fi_av_insert(av.get(), in, 3, numbers, FI_MORE, &inserting) == 0);
    failed(1, FI_EINVAL);
    completed(2);
    CHECK(numbers[0] == 0);
    CHECK(numbers[1] == FI_ADDR_NOTAVAIL);
    CHECK(numbers[2] == 1);

    REQUIRE(fi_av_insert(av.get(), in, 0, numbers, 0, &inserting) == 0);
    completed(0);
    REQUIRE(fi_av_insertsvc(av.get(), "127.0.0.1", "7", numbers, FI_NUMERICHOST, &inserting) == 0);
    completed(1);
    REQUIRE(fi_av_insertsvc(av.get(), "nobody", "7", numbers, FI_NUMERICHOST, &inserting) == 0);
    failed(0, FI_ENODATA);
    completed(0);
    REQUIRE(fi_av_insertsym(av.get(), "10.0.0.255", 2, "8", 1, numbers, FI_NUMERICHOST,
                            &inserting) == 0);
    failed(1, FI_ENODATA);
    completed(1);
    fi_eq_err_entry none{};
    CHECK(fi_eq_readerr(eq, &none, 0) == -FI_EAGAIN);
    int errors[1];
    CHECK(fi_av_insert(av.get(), in, 1, numbers, FI_SYNC_ERR, errors) == -FI_EINVAL);
}

TEST_CASE("completions name a peer as the program calls it") {
    Duo d;
    char in = 0;
    int receiving = 0;
    // Each end is in the other's vector under a number of its own; b is renamed here.
    REQUIRE(fi_av_remove(d.b.endpoint.av(), &d.to_a, 1, 0) == 0);
    const std::string a = d.a.endpoint.name();
    fi_addr_t number = 0xabcdef0123;
    REQUIRE(fi_av_insert(d.b.endpoint.av(), a.data(), 1, &number, FI_AV_USER_ID, nullptr) == 1);
    CHECK(number == d.to_a); // what is used to send and receive
    REQUIRE(fi_recv(d.b.ep(), &in, 1, nullptr, number, &receiving) == 0);
    REQUIRE(fi_inject(d.a.ep(), "x", 1, d.to_b) == 0);
    CHECK(d.outcome(d.b, &receiving).source == 0xabcdef0123);

    REQUIRE(fi_av_remove(d.b.endpoint.av(), &number, 1, 0) == 0);
    REQUIRE(fi_av_insert(d.b.endpoint.av(), a.data(), 1, &number, 0, nullptr) == 1);
    REQUIRE(fi_recv(d.b.ep(), &in, 1, nullptr, number, &receiving) == 0);
    REQUIRE(fi_inject(d.a.ep(), "x", 1, d.to_b) == 0);
    CHECK(d.outcome(d.b, &receiving).source == number);
}

#if FI_MAJOR_VERSION >= 2
TEST_CASE("in a vector for names of the program's own, each address is named by itself") {
    const Watched w;
    const auto av = open_av(w.endpoint, FI_AV_USER_ID);
    const sockaddr_in in = somewhere(1);
    fi_addr_t number = 5;
    CHECK(fi_av_insert(av.get(), &in, 1, &number, FI_AV_USER_ID, nullptr) == -FI_EINVAL);
    REQUIRE(fi_av_insert(av.get(), &in, 1, &number, 0, nullptr) == 1);
    CHECK(fi_av_set_user_id(av.get(), number, 77, 0) == 0);
    CHECK(fi_av_set_user_id(av.get(), number, 77, 1) == -FI_EINVAL);
    CHECK(fi_av_set_user_id(av.get(), number + 1, 77, 0) == -FI_EINVAL);
    CHECK(fi_av_set_user_id(w.endpoint.av(), 0, 77, 0) == -FI_EINVAL);
}
#endif

TEST_CASE("an address vector refuses what does not make sense") {
    const Watched w;
    fid_domain* domain = w.endpoint.domain();
    const auto refused = [&](void (*change)(fi_av_attr&)) {
        fi_av_attr attr{};
        change(attr);
        fid_av* av = nullptr;
        return fi_av_open(domain, &attr, &av, nullptr);
    };
    CHECK(refused([](fi_av_attr& a) { a.flags = FI_SEND; }) == -FI_EINVAL);
    CHECK(refused([](fi_av_attr& a) { a.flags = FI_READ; }) == -FI_ENOSYS);
    CHECK(refused([](fi_av_attr& a) { a.name = "shared"; }) == -FI_ENOSYS);
    CHECK(refused([](fi_av_attr& a) { a.rx_ctx_bits = 1; }) == -FI_ENOSYS);

    fid_av* av = w.endpoint.av();
    const sockaddr_in in = somewhere(1);
    fi_addr_t number = 0;
    CHECK(fi_av_insert(av, &in, 1, &number, FI_SEND, nullptr) == -FI_EINVAL);
    CHECK(fi_av_insert(av, nullptr, 1, &number, 0, nullptr) == -FI_EINVAL);
    CHECK(fi_av_insert(av, &in, 1, &number, FI_SYNC_ERR, nullptr) == -FI_EINVAL);
    CHECK(fi_av_insert(av, &in, 1, nullptr, FI_AV_USER_ID, nullptr) == -FI_EINVAL);
    CHECK(fi_av_insertsvc(av, nullptr, "1", &number, 0, nullptr) == -FI_EINVAL);
    CHECK(fi_av_insertsvc(av, "localhost", nullptr, &number, 0, nullptr) == -FI_EINVAL);
    CHECK(fi_av_insertsym(av, "localhost", 2, "1", 1, &number, 0, nullptr) == -FI_EINVAL);
    REQUIRE(fi_av_insert(av, &in, 1, &number, 0, nullptr) == 1);
    CHECK(fi_av_remove(av, &number, 1, 1) == -FI_EINVAL);
    CHECK(fi_av_remove(av, &number, 1, 0) == 0);
    CHECK(fi_av_remove(av, &number, 1, 0) == -FI_EINVAL);
}
