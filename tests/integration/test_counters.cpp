// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// fi_cntr(3)

#include "queues.hpp"

#include <poll.h>
#include <thread>

using namespace duo;
using std::chrono::milliseconds;

namespace {

Wishes counted(fi_wait_obj wait = FI_WAIT_NONE) {
    return {.caps = kAllCaps,
            .threading = wait == FI_WAIT_NONE ? FI_THREAD_DOMAIN : FI_THREAD_SAFE,
            .wait = wait,
            .selective = true,
            .counters = true};
}

// Reads nothing but the counters, which is enough to make progress.
void until(const std::function<bool()>& condition) {
    const auto end = Clock::now() + kPatience;
    while (!condition()) {
        REQUIRE(Clock::now() < end);
        sched_yield();
    }
}

} // namespace

TEST_CASE("a counter is added to and set by the program") {
    const Watched w;
    const auto owner = open_counter(w.endpoint);
    fid_cntr* c = owner.get();
    CHECK(fi_cntr_read(c) == 0);
    CHECK(fi_cntr_add(c, 5) == 0);
    CHECK(fi_cntr_add(c, 2) == 0);
    CHECK(fi_cntr_adderr(c, 3) == 0);
    CHECK(fi_cntr_read(c) == 7);
    CHECK(fi_cntr_readerr(c) == 3);
    CHECK(fi_cntr_set(c, 1) == 0);
    CHECK(fi_cntr_seterr(c, 0) == 0);
    CHECK(fi_cntr_read(c) == 1);
    CHECK(fi_cntr_readerr(c) == 0);
    CHECK(fi_cntr_wait(c, 1, 0) == -FI_ENOSYS); // nobody wanted to wait
}

TEST_CASE("a counter may come to an endpoint that is enabled, and counts from then on") {
    Duo d;
    fid_cq* queue = d.a.endpoint.cq();
    const auto late = open_counter(d.a.endpoint);
    const auto sleeping = open_counter(
        d.a.endpoint,
        {.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_FD, .wait_set = nullptr, .flags = 0});
    const auto ep = open_endpoint(d.a.endpoint, *queue, *queue);
    char in[8];
    int first = 0, second = 0, sent = 0;
    for (int* receive : {&first, &second})
        REQUIRE(fi_recv(d.b.ep(), in, sizeof in, nullptr, FI_ADDR_UNSPEC, receive) == 0);
    REQUIRE(fi_send(ep.get(), "1", 1, nullptr, d.to_b, &sent) == 0);
    CHECK_FALSE(d.outcome(d.b, &first).error);
    CHECK_FALSE(d.outcome(d.a, &sent).error); // it has ended here, too
    REQUIRE(fi_ep_bind(ep.get(), &late->fid, FI_SEND | FI_WRITE) == 0);
    CHECK(fi_ep_bind(ep.get(), &late->fid, FI_SEND) == -FI_EINVAL); // that is counted already
    CHECK(fi_close(&late->fid) == -FI_EBUSY);
    CHECK(fi_cntr_read(late.get()) == 0);
    REQUIRE(fi_inject(ep.get(), "2", 1, d.to_b) == 0);
    CHECK_FALSE(d.outcome(d.b, &second).error);
    d.until([&] { return fi_cntr_read(late.get()) == 1; });
    // Nobody was to sleep.
    CHECK(fi_ep_bind(ep.get(), &sleeping->fid, FI_RECV) == -FI_EOPBADSTATE);
}

TEST_CASE("every operation is counted, whether or not it writes an entry") {
    Duo d{counted()};
    char in[16], tagged[16];
    const auto out = pattern(100'000, 'c');
    std::vector<char> longer(out.size());
    // Nobody asks for an entry.
    REQUIRE(fi_recv(d.b.ep(), in, sizeof in, nullptr, FI_ADDR_UNSPEC, nullptr) == 0);
    REQUIRE(fi_trecv(d.b.ep(), tagged, sizeof tagged, nullptr, FI_ADDR_UNSPEC, 7, 0, nullptr) == 0);
    REQUIRE(fi_recv(d.b.ep(), longer.data(), longer.size(), nullptr, FI_ADDR_UNSPEC, nullptr) == 0);
    REQUIRE(fi_send(d.a.ep(), "one", 3, nullptr, d.to_b, nullptr) == 0);
    REQUIRE(fi_tinject(d.a.ep(), "two", 3, d.to_b, 7) == 0);
    REQUIRE(fi_send(d.a.ep(), out.data(), out.size(), nullptr, d.to_b, nullptr) == 0);
    until([&] {
        const uint64_t sent = fi_cntr_read(d.a.endpoint.sent());
        return fi_cntr_read(d.b.endpoint.received()) == 3 && sent == 3;
    });
    // Once connected, an inject goes out at once and counts at once.
    REQUIRE(fi_inject(d.a.ep(), "x", 1, d.to_b) == 0);
    CHECK(fi_cntr_read(d.a.endpoint.sent()) == 4);
    CHECK(fi_cntr_read(d.a.endpoint.received()) == 0);
    CHECK(fi_cntr_read(d.b.endpoint.sent()) == 0);
    // A message that came before its receive counts when it is received.
    d.settle();
    CHECK(fi_cntr_read(d.b.endpoint.received()) == 3);
    REQUIRE(fi_recv(d.b.ep(), in, sizeof in, nullptr, FI_ADDR_UNSPEC, nullptr) == 0);
    until([&] { return fi_cntr_read(d.b.endpoint.received()) == 4; });
    CHECK(longer == out);
    for (const Watched* w : {&d.a, &d.b}) {
        CHECK(fi_cntr_readerr(w->endpoint.sent()) == 0);
        CHECK(fi_cntr_readerr(w->endpoint.received()) == 0);
        CHECK(w->outcomes.empty());
    }
}

TEST_CASE("an endpoint may have counters alone") {
    Wishes wishes = counted();
    wishes.entries = false;
    Duo d{wishes};
    const auto out = pattern(100'000, 'n');
    std::vector<char> in(out.size());
    REQUIRE(fi_recv(d.b.ep(), in.data(), in.size(), nullptr, FI_ADDR_UNSPEC, nullptr) == 0);
    REQUIRE(fi_send(d.a.ep(), out.data(), out.size(), nullptr, d.to_b, nullptr) == 0);
    until([&] {
        const uint64_t sent = fi_cntr_read(d.a.endpoint.sent());
        return fi_cntr_read(d.b.endpoint.received()) == 1 && sent == 1;
    });
    CHECK(in == out);
    REQUIRE(fi_send(d.a.ep(), out.data(), 1, nullptr, nobody_beside(d.a), nullptr) == 0);
    until([&] { return fi_cntr_readerr(d.a.endpoint.sent()) == 1; });
    // What a peek finds would have to be told in an entry.
    fi_msg_tagged peek{};
    peek.addr = FI_ADDR_UNSPEC;
    CHECK(fi_trecvmsg(d.b.ep(), &peek, FI_PEEK) == -FI_ENOCQ);
}

TEST_CASE("operations that fail are counted apart") {
    Duo d{counted()};
    fid_cntr* received = d.b.endpoint.received();
    char in[2];
    int context = 0;
    REQUIRE(fi_recv(d.b.ep(), in, sizeof in, nullptr, FI_ADDR_UNSPEC, &context) == 0);
    REQUIRE(fi_cancel(&d.b.ep()->fid, &context) == 0);
    CHECK(fi_cntr_readerr(received) == 1);
    REQUIRE(fi_recv(d.b.ep(), in, sizeof in, nullptr, FI_ADDR_UNSPEC, &context) == 0);
    REQUIRE(fi_inject(d.a.ep(), "too long", 8, d.to_b) == 0);
    until([&] { return fi_cntr_read(d.a.endpoint.sent()) == 1 && fi_cntr_readerr(received) == 2; });
    CHECK(fi_cntr_read(received) == 0);

    // Nobody is there.
    sockaddr_in nobody{};
    nobody.sin_family = AF_INET;
    nobody.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    nobody.sin_port = htons(9);
    fi_addr_t nowhere = FI_ADDR_NOTAVAIL;
    REQUIRE(fi_av_insert(d.a.endpoint.av(), &nobody, 1, &nowhere, 0, nullptr) == 1);
    const uint64_t before = fi_cntr_read(d.a.endpoint.sent());
    REQUIRE(fi_send(d.a.ep(), "x", 1, nullptr, nowhere, &context) == 0);
    until([&] { return fi_cntr_readerr(d.a.endpoint.sent()) == 1; });
    CHECK(fi_cntr_read(d.a.endpoint.sent()) == before);
    CHECK(d.outcome(d.a, &context).error->err == FI_ECONNREFUSED);
}

TEST_CASE("a thread waits until a counter reaches a threshold") {
    for (const auto wait : {FI_WAIT_UNSPEC, FI_WAIT_FD, FI_WAIT_POLLFD, FI_WAIT_YIELD}) {
        CAPTURE(wait);
        Duo d{counted(wait)};
        fid_cntr* received = d.b.endpoint.received();
        const auto start = Clock::now();
        CHECK(fi_cntr_wait(received, 1, 30) == -FI_ETIMEDOUT);
        CHECK(Clock::now() - start >= milliseconds{29});
        CHECK(fi_cntr_wait(received, 0, 0) == 0); // it is there already

        char in[4][8];
        for (char* buffer : in)
            REQUIRE(fi_recv(d.b.ep(), buffer, 8, nullptr, FI_ADDR_UNSPEC, nullptr) == 0);
        std::thread sender{[&] {
            for (int i = 0; i < 4; ++i) {
                std::this_thread::sleep_for(milliseconds{5});
                fi_send(d.a.ep(), "1234567", 8, nullptr, d.to_b, nullptr);
            }
            fi_cntr_wait(d.a.endpoint.sent(), 4, 20'000);
        }};
        CHECK(fi_cntr_wait(received, 4, 20'000) == 0);
        CHECK(fi_cntr_read(received) == 4);
        sender.join();
        CHECK(fi_cntr_read(d.a.endpoint.sent()) == 4);

        // Who waits in vain is told of an error.
        std::thread unlucky{[&] {
            std::this_thread::sleep_for(milliseconds{10});
            fi_cntr_adderr(received, 1);
        }};
        CHECK(fi_cntr_wait(received, 99, -1) == -FI_EAVAIL);
        unlucky.join();
        CHECK(fi_cntr_wait(received, 99, 5) == -FI_ETIMEDOUT); // an old error is no news
        std::thread setter{[&] {
            std::this_thread::sleep_for(milliseconds{10});
            fi_cntr_set(received, 99);
        }};
        CHECK(fi_cntr_wait(received, 99, -1) == 0);
        setter.join();
    }
}

TEST_CASE("a program sleeps on the descriptor of a counter") {
    for (const auto wait : {FI_WAIT_FD, FI_WAIT_POLLFD}) {
        Duo d{counted(wait)};
        fid_cntr* received = d.b.endpoint.received();
        pollfd p{};
        if (wait == FI_WAIT_FD) {
            REQUIRE(fi_control(&received->fid, FI_GETWAIT, &p.fd) == 0);
            p.events = POLLIN;
        } else {
            fi_wait_pollfd set{.change_index = 0, .nfds = 0, .fd = &p};
            CHECK(fi_control(&received->fid, FI_GETWAIT, &set) == -FI_ETOOSMALL);
            REQUIRE(set.nfds == 1);
            REQUIRE(fi_control(&received->fid, FI_GETWAIT, &set) == 0);
        }
        fi_wait_obj kind = FI_WAIT_NONE;
        REQUIRE(fi_control(&received->fid, FI_GETWAITOBJ, &kind) == 0);
        CHECK(kind == wait);

        char in[8];
        REQUIRE(fi_recv(d.b.ep(), in, sizeof in, nullptr, FI_ADDR_UNSPEC, nullptr) == 0);
        std::thread sender{[&] {
            std::this_thread::sleep_for(milliseconds{20});
            fi_inject(d.a.ep(), "wake up", 8, d.to_b);
            fi_cntr_wait(d.a.endpoint.sent(), 1, 20'000);
        }};
        fid* fids[] = {&received->fid};
        while (fi_cntr_read(received) == 0)
            if (fi_trywait(d.b.endpoint.fabric(), fids, 1) == 0) REQUIRE(poll(&p, 1, 20'000) == 1);
        sender.join();

        // What the program has not read yet keeps it from going to sleep.
        CHECK(fi_trywait(d.b.endpoint.fabric(), fids, 1) == 0);
        fi_cntr_add(received, 1);
        CHECK(fi_trywait(d.b.endpoint.fabric(), fids, 1) == -FI_EAGAIN);
        fi_cntr_read(received);
        CHECK(fi_trywait(d.b.endpoint.fabric(), fids, 1) == 0);
        fi_cntr_adderr(received, 1);
        CHECK(fi_trywait(d.b.endpoint.fabric(), fids, 1) == -FI_EAGAIN);
    }
}

TEST_CASE("several endpoints share a counter, and a counter counts several kinds") {
    Duo d;
    const auto counter = open_counter(d.a.endpoint);
    fid* c = &counter->fid;
    auto* info = const_cast<fi_info*>(&d.a.endpoint.info());
    std::vector<Owned<fid_ep>> endpoints;
    for (int i = 0; i < 2; ++i) {
        fid_ep* ep = nullptr;
        REQUIRE(fi_endpoint(d.a.endpoint.domain(), info, &ep, nullptr) == 0);
        endpoints.emplace_back(ep);
        REQUIRE(fi_ep_bind(ep, &d.a.endpoint.av()->fid, 0) == 0);
        REQUIRE(fi_ep_bind(ep, &d.a.endpoint.cq()->fid, FI_TRANSMIT | FI_RECV) == 0);
        REQUIRE(fi_ep_bind(ep, c, FI_SEND) == 0);
        REQUIRE(fi_ep_bind(ep, c, FI_RECV) == 0);
        REQUIRE(fi_enable(ep) == 0);
        REQUIRE(fi_inject(ep, "x", 1, d.to_b) == 0);
    }
    until([&] { return fi_cntr_read(counter.get()) == 2; });
    CHECK(fi_close(c) == -FI_EBUSY);
}

TEST_CASE("a counter refuses what does not make sense") {
    const Watched w{{.caps = kRmaWishes.caps | FI_RMA_EVENT, .mr_mode = kRmaMode}};
    fid_domain* domain = w.endpoint.domain();
    fid_cntr* none = nullptr;
    fi_cntr_attr flags{};
    flags.flags = FI_SEND;
    CHECK(fi_cntr_open(domain, &flags, &none, nullptr) == -FI_EINVAL);
    fi_cntr_attr events{};
    events.events = static_cast<fi_cntr_events>(FI_CNTR_EVENTS_COMP + 1);
    CHECK(fi_cntr_open(domain, &events, &none, nullptr) == -FI_EINVAL);
    fi_cntr_attr unknown{};
    unknown.wait_obj = fi_wait_obj(7);
    CHECK(fi_cntr_open(domain, &unknown, &none, nullptr) == -FI_ENOSYS);

    const auto one = open_counter(w.endpoint), other = open_counter(w.endpoint);
    fid_ep* raw = nullptr;
    auto* info = const_cast<fi_info*>(&w.endpoint.info());
    REQUIRE(fi_endpoint(domain, info, &raw, nullptr) == 0);
    {
        const Owned<fid_ep> ep{raw};
        CHECK(fi_ep_bind(raw, &one->fid, 0) == -FI_EINVAL);
        CHECK(fi_ep_bind(raw, &one->fid, FI_SEND | FI_MULTI_RECV) == -FI_EINVAL);
        REQUIRE(fi_ep_bind(raw, &one->fid, FI_SEND | FI_READ | FI_REMOTE_WRITE) == 0);
        CHECK(fi_ep_bind(raw, &other->fid, FI_SEND) == -FI_EINVAL); // that is counted already
        CHECK(fi_ep_bind(raw, &other->fid, FI_RECV | FI_READ) == -FI_EINVAL);
        CHECK(fi_ep_bind(raw, &other->fid, FI_RECV | FI_WRITE | FI_REMOTE_READ) == 0);
        CHECK(fi_close(&one->fid) == -FI_EBUSY);
    }
    fid_cntr* last = open_counter(w.endpoint).release();
    CHECK(fi_close(&last->fid) == 0);
}
