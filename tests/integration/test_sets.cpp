// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Wait sets and poll sets (fi_poll(3)).

#include "queues.hpp"

#include <poll.h>
#include <thread>

using namespace duo;
using std::chrono::milliseconds;

namespace {

// Later versions of libfabric warn of the functions for sets, and have them all the same.
struct WaitSet {
    explicit WaitSet(const Endpoint& endpoint, fi_wait_obj kind) {
        fid_fabric* fabric = endpoint.fabric();
        fi_wait_attr attr{.wait_obj = kind, .flags = 0};
        fid_wait* opened = nullptr;
        REQUIRE(fabric->ops->wait_open(fabric, &attr, &opened) == 0);
        set.reset(opened);
    }
    int wait(int timeout) const { return set->ops->wait(set.get(), timeout); }

    Owned<fid_wait> set;
};

struct PollSet {
    explicit PollSet(const Endpoint& endpoint) {
        fid_domain* domain = endpoint.domain();
        fi_poll_attr attr{};
        fid_poll* opened = nullptr;
        REQUIRE(domain->ops->poll_open(domain, &attr, &opened) == 0);
        set.reset(opened);
    }
    int add(fid& object) const { return set->ops->poll_add(set.get(), &object, 0); }
    int remove(fid& object) const { return set->ops->poll_del(set.get(), &object, 0); }
    std::vector<void*> poll(int room = 8) const {
        std::vector<void*> contexts(8);
        const int n = set->ops->poll(set.get(), contexts.data(), room);
        REQUIRE(n >= 0);
        contexts.resize(size_t(n));
        return contexts;
    }

    Owned<fid_poll> set;
};

} // namespace

TEST_CASE("a wait set wakes for news of any of its members") {
    for (const auto kind : kSleepy) {
        CAPTURE(kind);
        Duo d{{.caps = kAllCaps, .threading = FI_THREAD_SAFE}};
        const WaitSet set{d.b.endpoint, kind};
        CHECK(set.wait(20) == -FI_ETIMEDOUT); // nobody has joined
        fi_cq_attr cq_attr{};
        cq_attr.wait_obj = FI_WAIT_SET;
        cq_attr.wait_set = set.set.get();
        fi_cntr_attr cntr_attr{};
        cntr_attr.wait_obj = FI_WAIT_SET;
        cntr_attr.wait_set = set.set.get();
        fi_eq_attr eq_attr{};
        eq_attr.flags = FI_WRITE;
        eq_attr.wait_obj = FI_WAIT_SET;
        eq_attr.wait_set = set.set.get();
        const auto sends = open_cq(d.b.endpoint, cq_attr),
                   receives = open_cq(d.b.endpoint, cq_attr);
        const auto counter = open_counter(d.b.endpoint, cntr_attr);
        fid_eq* eq = nullptr;
        REQUIRE(fi_eq_open(d.b.endpoint.fabric(), &eq_attr, &eq, nullptr) == 0);
        const Owned<fid_eq> events{eq};
        const auto ep = open_endpoint(d.b.endpoint, *sends, *receives, counter.get());
        char name[64];
        size_t length = sizeof name;
        REQUIRE(fi_getname(&ep->fid, name, &length) == 0);
        const fi_addr_t to_ep = d.a.endpoint.insert({name, length});
        CHECK(set.wait(20) == -FI_ETIMEDOUT);
        CHECK(fi_close(&set.set->fid) == -FI_EBUSY);

        // The members themselves are not slept on.
        fi_cq_entry entry;
        int fd = -1;
        CHECK(fi_cq_sread(receives.get(), &entry, 1, nullptr, 0) == -FI_ENOSYS);
        CHECK(fi_cntr_wait(counter.get(), 1, 0) == -FI_ENOSYS);
        CHECK(fi_control(&receives->fid, FI_GETWAIT, &fd) == -FI_ENOSYS);

        char in = 0;
        REQUIRE(fi_recv(ep.get(), &in, 1, nullptr, FI_ADDR_UNSPEC, nullptr) == 0);
        std::thread sender{[&] {
            std::this_thread::sleep_for(milliseconds{20});
            int sending = 0;
            if (fi_send(d.a.ep(), "x", 1, nullptr, to_ep, &sending) == 0)
                d.a.endpoint.wait(&sending);
        }};
        CHECK(set.wait(20'000) == 0);
        sender.join();
        CHECK(set.wait(0) == 0); // it is still news
        CHECK(fi_cq_read(receives.get(), &entry, 1) == 1);
        CHECK(fi_cntr_read(counter.get()) == 1);
        CHECK(set.wait(20) == -FI_ETIMEDOUT);

        const fi_eq_entry event{};
        std::thread writer{[&] {
            std::this_thread::sleep_for(milliseconds{20});
            fi_eq_write(eq, FI_NOTIFY, &event, sizeof event, 0);
        }};
        CHECK(set.wait(-1) == 0);
        writer.join();
        std::thread adder{[&] {
            std::this_thread::sleep_for(milliseconds{20});
            fi_cntr_add(counter.get(), 1);
        }};
        fi_eq_entry read{};
        uint32_t type = 0;
        CHECK(fi_eq_read(eq, &type, &read, sizeof read, 0) == sizeof read);
        CHECK(set.wait(-1) == 0);
        adder.join();
    }
}

TEST_CASE("a program sleeps on the descriptor of a wait set") {
    Duo d{{.caps = kAllCaps, .threading = FI_THREAD_SAFE}};
    const WaitSet set{d.a.endpoint, FI_WAIT_FD};
    fi_cq_attr attr{};
    attr.wait_obj = FI_WAIT_SET;
    attr.wait_set = set.set.get();
    const auto cq = open_cq(d.a.endpoint, attr);
    const auto ep = open_endpoint(d.a.endpoint, *cq, *cq);
    int fd = -1;
    REQUIRE(fi_control(&set.set->fid, FI_GETWAIT, &fd) == 0);
    REQUIRE(fi_send(ep.get(), "x", 1, nullptr, d.to_b, nullptr) == 0);
    fid* fids[] = {&set.set->fid};
    fi_cq_entry entry;
    while (fi_cq_read(cq.get(), &entry, 1) == -FI_EAGAIN) {
        if (fi_trywait(d.a.endpoint.fabric(), fids, 1)) continue;
        pollfd p{.fd = fd, .events = POLLIN, .revents = 0};
        REQUIRE(poll(&p, 1, 20'000) == 1);
    }
}

TEST_CASE("a poll set tells which of its members have news") {
    Duo d;
    int sends_context = 0, receives_context = 0, counter_context = 0;
    const auto sends = open_cq(d.a.endpoint, {}, &sends_context),
               receives = open_cq(d.a.endpoint, {}, &receives_context);
    const auto counter = open_counter(d.a.endpoint, {}, &counter_context);
    const auto ep = open_endpoint(d.a.endpoint, *sends, *receives, counter.get());
    const PollSet set{d.a.endpoint};
    CHECK(set.poll().empty());
    REQUIRE(set.add(sends->fid) == 0);
    REQUIRE(set.add(receives->fid) == 0);
    REQUIRE(set.add(counter->fid) == 0);
    CHECK(set.poll().empty());

    // Polling the set is enough for progress.
    REQUIRE(fi_send(ep.get(), "x", 1, nullptr, d.to_b, nullptr) == 0);
    d.until([&] { return set.poll() == std::vector<void*>{&sends_context}; });
    fi_cq_entry entry;
    CHECK(fi_cq_read(sends.get(), &entry, 1) == 1);
    CHECK(set.poll().empty());

    // Errors are news of queues and of counters.
    char in = 0;
    int receiving = 0;
    REQUIRE(fi_recv(ep.get(), &in, 1, nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
    REQUIRE(fi_cancel(&ep->fid, &receiving) == 0);
    CHECK(set.poll(0).empty()); // no room, and nothing is lost
    CHECK(set.poll(1) == std::vector<void*>{&receives_context});
    CHECK(set.poll() == std::vector<void*>{&receives_context, &counter_context});
    CHECK(set.poll() == std::vector<void*>{&receives_context}); // until it is read
    fi_cntr_add(counter.get(), 1);
    REQUIRE(set.remove(receives->fid) == 0);
    CHECK(set.poll().empty()); // the program knows what it added itself

    CHECK(fi_close(&counter->fid) == -FI_EBUSY);
    CHECK(fi_close(&set.set->fid) == -FI_EBUSY);
    CHECK(set.add(counter->fid) == -FI_EINVAL); // it is there already
    CHECK(set.add(ep->fid) == -FI_EINVAL);
    CHECK(set.remove(receives->fid) == -FI_EINVAL);
    REQUIRE(set.remove(sends->fid) == 0);
    REQUIRE(set.remove(counter->fid) == 0);
}

TEST_CASE("queues and sets refuse what does not make sense") {
    const Watched w;
    fid_domain* domain = w.endpoint.domain();
    fid_fabric* fabric = w.endpoint.fabric();
    const auto refused = [&](void (*change)(fi_cq_attr&)) {
        fi_cq_attr attr{};
        change(attr);
        fid_cq* cq = nullptr;
        return fi_cq_open(domain, &attr, &cq, nullptr);
    };
    CHECK(refused([](fi_cq_attr& a) { a.flags = FI_SEND; }) == -FI_EINVAL);
    CHECK(refused([](fi_cq_attr& a) { a.wait_obj = fi_wait_obj(7); }) == -FI_ENOSYS);
    CHECK(refused([](fi_cq_attr& a) { a.wait_obj = FI_WAIT_SET; }) == -FI_EINVAL);
    CHECK(refused([](fi_cq_attr& a) {
              a.format = static_cast<fi_cq_format>(FI_CQ_FORMAT_TAGGED + 1);
          }) == -FI_ENOSYS);
    fi_cq_attr affine{};
    affine.flags = FI_AFFINITY;
    open_cq(w.endpoint, affine);

    fid_wait* none = nullptr;
    for (const auto kind : {FI_WAIT_NONE, FI_WAIT_SET}) {
        fi_wait_attr attr{.wait_obj = kind, .flags = 0};
        CHECK(fabric->ops->wait_open(fabric, &attr, &none) == -FI_EINVAL);
    }
    fi_wait_attr flags{.wait_obj = FI_WAIT_FD, .flags = 1};
    CHECK(fabric->ops->wait_open(fabric, &flags, &none) == -FI_EINVAL);
    fi_poll_attr poll_attr{.flags = 1};
    fid_poll* no_poll = nullptr;
    CHECK(domain->ops->poll_open(domain, &poll_attr, &no_poll) == -FI_EINVAL);
    fid* fids[] = {&w.ep()->fid};
    CHECK(fi_trywait(fabric, fids, 1) == -FI_EINVAL);
    fids[0] = &w.endpoint.cq()->fid;
    CHECK(fi_trywait(fabric, fids, 1) == -FI_ENOSYS); // nobody wanted to wait
}
