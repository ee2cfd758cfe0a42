// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What surrounds the messages: fi_cq(3), fi_endpoint(3).

#include "duo.hpp"

#include <poll.h>
#include <thread>

using namespace duo;

TEST_CASE("a completion queue that is too small puts operations off, and loses nothing") {
    Duo d{{.caps = kAllCaps, .cq_size = 2}};
    constexpr int kMessages = 200;
    int sent = 0, done = 0;
    char out = 'x', in = 0;
    std::vector<int> receiving(kMessages);
    int received = 0, posted = 0;
    while (received < kMessages || done < kMessages) {
        // As much as the provider takes, before anything is read.
        while (sent < kMessages && fi_tsend(d.a.ep(), &out, 1, nullptr, d.to_b, 1, &done) == 0)
            ++sent;
        while (posted < kMessages &&
               fi_trecv(d.b.ep(), &in, 1, nullptr, d.to_a, 1, 0, &receiving[size_t(posted)]) == 0)
            ++posted;
        d.poll();
        while (d.a.take(&done)) ++done;
        while (received < posted && d.b.take(&receiving[size_t(received)])) ++received;
        REQUIRE(d.a.outcomes.empty());
    }
    CHECK(sent == kMessages);
}

TEST_CASE("a queue of every format gives what the format has") {
    for (const auto format :
         {FI_CQ_FORMAT_CONTEXT, FI_CQ_FORMAT_MSG, FI_CQ_FORMAT_DATA, FI_CQ_FORMAT_TAGGED}) {
        Duo d{{.caps = kAllCaps, .cq_format = format}};
        char in[8];
        int receiving = 0;
        REQUIRE(fi_trecv(d.b.ep(), in, 8, nullptr, d.to_a, 6, 0, &receiving) == 0);
        REQUIRE(fi_tinjectdata(d.a.ep(), "1234", 4, 99, d.to_b, 6) == 0);
        const fi_cq_tagged_entry e = d.outcome(d.b, &receiving).entry;
        CHECK(e.op_context == &receiving);
        CHECK(e.len == (format >= FI_CQ_FORMAT_MSG ? 4 : 0));
        CHECK(e.data == (format >= FI_CQ_FORMAT_DATA ? 99 : 0));
        CHECK(e.buf == (format >= FI_CQ_FORMAT_DATA ? in : nullptr));
        CHECK(e.tag == (format >= FI_CQ_FORMAT_TAGGED ? 6 : 0));
    }
}

TEST_CASE("with selective completion, only what asks for it is told") {
    Duo d{{.caps = kAllCaps, .selective = true}};
    char in[4];
    int quiet = 0, loud = 0;
    const iovec iov{in, 1};
    fi_msg m{.msg_iov = &iov,
             .desc = nullptr,
             .iov_count = 1,
             .addr = d.to_b,
             .context = &loud,
             .data = 0};
    REQUIRE(fi_recv(d.b.ep(), in, 1, nullptr, FI_ADDR_UNSPEC, &quiet) == 0);
    REQUIRE(fi_send(d.a.ep(), "q", 1, nullptr, d.to_b, &quiet) == 0);
    REQUIRE(fi_sendmsg(d.a.ep(), &m, FI_COMPLETION) == 0);
    m.addr = FI_ADDR_UNSPEC;
    REQUIRE(fi_recvmsg(d.b.ep(), &m, FI_COMPLETION) == 0);
    d.outcome(d.a, &loud);
    d.outcome(d.b, &loud);
    CHECK(d.a.outcomes.empty());
    CHECK(d.b.outcomes.empty());
}

TEST_CASE("a thread that sleeps on a queue is woken by what it waits for") {
    for (const bool by_descriptor : {false, true}) {
        const Wishes wishes{.caps = kAllCaps,
                            .threading = FI_THREAD_SAFE,
                            .wait = by_descriptor ? FI_WAIT_FD : FI_WAIT_UNSPEC};
        Duo d{wishes};
        fid_cq* cq = d.b.endpoint.cq();
        fi_cq_tagged_entry entry{};
        const auto start = Clock::now();
        CHECK(fi_cq_sread(cq, &entry, 1, nullptr, 30) == -FI_EAGAIN);
        CHECK(Clock::now() - start >= std::chrono::milliseconds{29});

        char in[100'000];
        int receiving = 0;
        for (const size_t size : {size_t{10}, sizeof in}) { // the long one takes several wakings
            REQUIRE(fi_recv(d.b.ep(), in, size, nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
            std::thread sender{[&] {
                std::this_thread::sleep_for(std::chrono::milliseconds{20});
                const auto out = pattern(size, 'w');
                int sending = 0;
                if (fi_send(d.a.ep(), out.data(), size, nullptr, d.to_b, &sending) == 0)
                    d.a.endpoint.wait(&sending);
            }};
            ssize_t n = -FI_EAGAIN;
            if (by_descriptor) {
                int fd = -1;
                REQUIRE(fi_control(&cq->fid, FI_GETWAIT, &fd) == 0);
                fid* fids[1] = {&cq->fid};
                while (n == -FI_EAGAIN) {
                    if (fi_trywait(d.b.endpoint.fabric(), fids, 1) == 0) {
                        pollfd p{.fd = fd, .events = POLLIN, .revents = 0};
                        REQUIRE(poll(&p, 1, 20'000) == 1);
                    }
                    n = fi_cq_read(cq, &entry, 1);
                }
            } else {
                n = fi_cq_sread(cq, &entry, 1, nullptr, 20'000);
            }
            sender.join();
            CHECK(n == 1);
            CHECK(entry.len == size);
        }

        std::thread signaler{[&] {
            std::this_thread::sleep_for(std::chrono::milliseconds{20});
            fi_cq_signal(cq);
        }};
        CHECK(fi_cq_sread(cq, &entry, 1, nullptr, -1) == -FI_EAGAIN);
        signaler.join();
    }
}

TEST_CASE("objects that others lean on cannot be closed before them") {
    const Watched w;
    CHECK(fi_close(&w.endpoint.cq()->fid) == -FI_EBUSY);
    CHECK(fi_close(&w.endpoint.av()->fid) == -FI_EBUSY);
    CHECK(fi_close(&w.endpoint.domain()->fid) == -FI_EBUSY);
    CHECK(fi_close(&w.endpoint.fabric()->fid) == -FI_EBUSY);

    fid_ep* ep = nullptr;
    fid_av* av = nullptr;
    fid_cq* cq = nullptr;
    fid_eq* eq = nullptr;
    fid_domain* domain = nullptr;
    auto* info = const_cast<fi_info*>(&w.endpoint.info());
    fi_cq_attr cq_attr{};
    cq_attr.size = size_t{1} << 40; // memory is taken for what is put there
    fi_av_attr av_attr{};
    fi_eq_attr eq_attr{};
    REQUIRE(fi_domain(w.endpoint.fabric(), info, &domain, nullptr) == 0);
    REQUIRE(fi_endpoint(domain, info, &ep, nullptr) == 0);
    REQUIRE(fi_cq_open(domain, &cq_attr, &cq, nullptr) == 0);
    REQUIRE(fi_av_open(domain, &av_attr, &av, nullptr) == 0);
    REQUIRE(fi_eq_open(w.endpoint.fabric(), &eq_attr, &eq, nullptr) == 0);
    REQUIRE(fi_ep_bind(ep, &eq->fid, 0) == 0);
    REQUIRE(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT) == 0);
    REQUIRE(fi_ep_bind(ep, &av->fid, 0) == 0);
    fid* const held[] = {&av->fid, &cq->fid, &eq->fid}; // by an endpoint that is not enabled yet
    for (fid* f : held) CHECK(fi_close(f) == -FI_EBUSY);
    CHECK(fi_close(&domain->fid) == -FI_EBUSY);
    REQUIRE(fi_close(&ep->fid) == 0);
    for (fid* f : held) CHECK(fi_close(f) == 0);
    CHECK(fi_close(&domain->fid) == 0);
}

TEST_CASE("an endpoint is bound to one object of each kind, of its own domain") {
    const Watched w, other;
    fid_ep* raw = nullptr;
    fid_domain* domain = w.endpoint.domain();
    auto* info = const_cast<fi_info*>(&w.endpoint.info());
    fid_eq* eq = nullptr;
    fi_eq_attr attr{};
    REQUIRE(fi_eq_open(w.endpoint.fabric(), &attr, &eq, nullptr) == 0);
    const Owned<fid_eq> events{eq};
    REQUIRE(fi_endpoint(domain, info, &raw, nullptr) == 0);
    const Owned<fid_ep> ep{raw};
    fid *av = &w.endpoint.av()->fid, *cq = &w.endpoint.cq()->fid;
    CHECK(fi_ep_bind(raw, &other.endpoint.av()->fid, 0) == -FI_EINVAL);
    CHECK(fi_ep_bind(raw, &other.endpoint.cq()->fid, FI_RECV) == -FI_EINVAL);
    CHECK(fi_ep_bind(raw, av, FI_SEND) == -FI_EINVAL);
    CHECK(fi_ep_bind(raw, av, 0) == 0);
    CHECK(fi_ep_bind(raw, av, 0) == -FI_EINVAL);
    for (const uint64_t wrong : {uint64_t{0}, uint64_t{FI_SELECTIVE_COMPLETION},
                                 uint64_t{FI_RECV | FI_MULTI_RECV}, uint64_t{FI_REMOTE_WRITE}})
        CHECK(fi_ep_bind(raw, cq, wrong) == -FI_EINVAL);
    CHECK(fi_ep_bind(raw, cq, FI_TRANSMIT) == 0);
    CHECK(fi_ep_bind(raw, cq, FI_TRANSMIT | FI_RECV) == -FI_EINVAL); // and nothing is bound by it
    CHECK(fi_ep_bind(raw, cq, FI_RECV) == 0);
    CHECK(fi_ep_bind(raw, &domain->fid, 0) == -FI_EINVAL);
    CHECK(fi_ep_bind(raw, &eq->fid, FI_SEND) == -FI_EINVAL);
    CHECK(fi_ep_bind(raw, &eq->fid, 0) == 0);
    CHECK(fi_ep_bind(raw, &eq->fid, 0) == -FI_EINVAL);
}

TEST_CASE("an endpoint without its queues is not enabled, and does nothing before") {
    Duo d;
    fid_ep* raw = nullptr;
    fid_domain* domain = d.a.endpoint.domain();
    auto* info = const_cast<fi_info*>(&d.a.endpoint.info());
    REQUIRE(fi_endpoint(domain, info, &raw, nullptr) == 0);
    const Owned<fid_ep> ep{raw};
    CHECK(fi_enable(raw) == -FI_ENOAV);
    REQUIRE(fi_ep_bind(raw, &d.a.endpoint.av()->fid, 0) == 0);
    CHECK(fi_enable(raw) == -FI_ENOCQ);
    CHECK(fi_send(raw, "x", 1, nullptr, 0, nullptr) == -FI_EOPBADSTATE);
    CHECK(fi_ep_bind(raw, &d.a.endpoint.cq()->fid, FI_WRITE) == -FI_EINVAL);
    REQUIRE(fi_ep_bind(raw, &d.a.endpoint.cq()->fid, FI_TRANSMIT | FI_RECV) == 0);
    CHECK(fi_enable(raw) == 0);
    CHECK(fi_ep_bind(raw, &d.a.endpoint.cq()->fid, FI_TRANSMIT) == -FI_EOPBADSTATE);

    char name[64];
    size_t length = 1;
    CHECK(fi_getname(&raw->fid, name, &length) == -FI_ETOOSMALL);
    CHECK(fi_getname(&raw->fid, name, &length) == 0);
}

TEST_CASE("an endpoint is as fi_getinfo could have offered it, or not at all") {
    const Watched w;
    const auto refused = [&](const std::function<void(fi_info&)>& change) {
        const Info info{fi_dupinfo(&w.endpoint.info())};
        change(*info);
        fid_ep* ep = nullptr;
        const int result = fi_endpoint(w.endpoint.domain(), info.get(), &ep, nullptr);
        if (result == 0) fi_close(&ep->fid);
        return result == -FI_EINVAL;
    };
    CHECK(!refused([](fi_info&) {}));
    CHECK(!refused([](fi_info& i) { i.tx_attr->op_flags = FI_COMPLETION; }));
    CHECK(!refused([](fi_info& i) { i.tx_attr->size = 1; }));
    CHECK(refused([](fi_info& i) { i.tx_attr->op_flags = FI_COMMIT_COMPLETE; }));
    CHECK(refused([](fi_info& i) { i.rx_attr->op_flags = FI_INJECT; }));
    CHECK(refused([](fi_info& i) { i.tx_attr->size = size_t{1} << 40; }));
    CHECK(refused([](fi_info& i) { i.tx_attr->inject_size = 1 << 20; }));
    CHECK(refused([](fi_info& i) { i.rx_attr->iov_limit = 1000; }));
    CHECK(refused([](fi_info& i) { i.caps |= FI_TRIGGER; }));
    CHECK(refused([](fi_info& i) { i.ep_attr->type = FI_EP_MSG; }));
}

TEST_CASE("an endpoint that is only sent from needs no queue for receives") {
    Duo d;
    fid_ep* raw = nullptr;
    auto* info = const_cast<fi_info*>(&d.a.endpoint.info());
    REQUIRE(fi_endpoint(d.a.endpoint.domain(), info, &raw, nullptr) == 0);
    const Owned<fid_ep> ep{raw};
    REQUIRE(fi_ep_bind(raw, &d.a.endpoint.av()->fid, 0) == 0);
    REQUIRE(fi_ep_bind(raw, &d.a.endpoint.cq()->fid, FI_RECV) == 0);
    CHECK(fi_enable(raw) == -FI_ENOCQ);

    fid_ep* other = nullptr;
    REQUIRE(fi_endpoint(d.a.endpoint.domain(), info, &other, nullptr) == 0);
    const Owned<fid_ep> sender{other};
    REQUIRE(fi_ep_bind(other, &d.a.endpoint.av()->fid, 0) == 0);
    REQUIRE(fi_ep_bind(other, &d.a.endpoint.cq()->fid, FI_TRANSMIT) == 0);
    REQUIRE(fi_enable(other) == 0);
    char in = 0;
    CHECK(fi_recv(other, &in, 1, nullptr, FI_ADDR_UNSPEC, nullptr) == -FI_ENOCQ);
    CHECK(fi_trecv(other, &in, 1, nullptr, FI_ADDR_UNSPEC, 0, 0, nullptr) == -FI_ENOCQ);
    int sending = 0, receiving = 0;
    REQUIRE(fi_recv(d.b.ep(), &in, 1, nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
    REQUIRE(fi_send(other, "x", 1, nullptr, d.to_b, &sending) == 0);
    CHECK(!d.outcome(d.a, &sending).error);
    CHECK(!d.outcome(d.b, &receiving).error);
    CHECK(in == 'x');
}

TEST_CASE("several threads share an endpoint that was asked to be safe for them") {
    Duo d{{.caps = kAllCaps, .threading = FI_THREAD_SAFE}};
    constexpr int kThreads = 4, kMessages = 500;
    std::vector<std::thread> threads;
    std::atomic<int> failures{0};
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < kMessages; ++i) {
                const uint64_t value = uint64_t(t) << 32 | uint64_t(i);
                while (true) {
                    const ssize_t r =
                        fi_tinject(d.a.ep(), &value, sizeof value, d.to_b, uint64_t(t));
                    if (r == 0) break;
                    if (r != -FI_EAGAIN) ++failures;
                    fi_cq_read(d.a.endpoint.cq(), nullptr, 0);
                    sched_yield();
                }
            }
        });
        threads.emplace_back([&, t] {
            for (int i = 0; i < kMessages; ++i) {
                uint64_t value = 0;
                std::atomic<bool> done{false};
                if (fi_trecv(d.b.ep(), &value, sizeof value, nullptr, d.to_a, uint64_t(t), 0,
                             &done) != 0)
                    ++failures;
                // Whoever reads a completion tells the thread it belongs to. The senders, who may
                // be gone by now, need progress too.
                while (!done) {
                    fi_cq_tagged_entry entry;
                    fi_cq_read(d.a.endpoint.cq(), nullptr, 0);
                    if (fi_cq_read(d.b.endpoint.cq(), &entry, 1) == 1)
                        *static_cast<std::atomic<bool>*>(entry.op_context) = true;
                    else
                        sched_yield();
                }
                if (value != (uint64_t(t) << 32 | uint64_t(i))) ++failures;
            }
        });
    }
    for (auto& thread : threads) thread.join();
    CHECK(failures == 0);
}
