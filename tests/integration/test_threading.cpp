// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The threading levels of fi_domain(3): what a program promises saves it the locks.

#include "duo.hpp"

#include <atomic>
#include <dlfcn.h>
#include <pthread.h>
#include <thread>

using namespace duo;

#ifndef ODRC_THREAD_SANITIZER // it has a function of that name itself

namespace {
thread_local long locks_taken = 0;
} // namespace

// Whoever locks a mutex in this process comes here.
extern "C" __attribute__((visibility("default"))) int pthread_mutex_lock(pthread_mutex_t* mutex) {
    using Lock = int (*)(pthread_mutex_t*);
    static const auto real = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
    ++locks_taken;
    return real(mutex);
}

namespace {

// Messages one after the other, and how many mutexes were locked for them.
long locks_for_messages(fi_threading threading, int messages) {
    Duo d{{.caps = kAllCaps, .threading = threading, .counters = true}};
    char in[16];
    long before = 0;
    for (int i = 0; i < 10 + messages; ++i) {
        if (i == 10) before = locks_taken; // there is a connection by now
        bool sent = false, received = false;
        if (fi_trecv(d.b.ep(), in, sizeof in, nullptr, d.to_a, 1, 0, &received)) return -1;
        if (fi_tsend(d.a.ep(), "0123456789abcde", 16, nullptr, d.to_b, 1, &sent)) return -1;
        while (!sent || !received) {
            fi_cq_tagged_entry entry;
            for (Watched* side : {&d.a, &d.b})
                if (fi_cq_read(side->endpoint.cq(), &entry, 1) == 1)
                    *static_cast<bool*>(entry.op_context) = true;
            sched_yield();
        }
        if (fi_cntr_read(d.b.endpoint.received()) != uint64_t(i) + 1) return -1;
    }
    return locks_taken - before;
}

} // namespace

TEST_CASE("a program that promises one thread to a domain has no mutex locked for it") {
    constexpr int kMessages = 1000;
    const long locks = locks_for_messages(FI_THREAD_DOMAIN, kMessages);
    CHECK(locks >= 0);
    CHECK(locks < kMessages / 100); // where the watchdog wants in, the program waits for it
    CHECK(locks_for_messages(FI_THREAD_SAFE, kMessages) >= 4 * kMessages);
}

#endif

TEST_CASE("at every level a thread may send while another one reads the queues") {
    for (const auto threading : {FI_THREAD_SAFE, FI_THREAD_FID, FI_THREAD_ENDPOINT}) {
        for (const auto progress : {FI_PROGRESS_MANUAL, FI_PROGRESS_AUTO}) {
            CAPTURE(int{threading});
            CAPTURE(int{progress});
            Duo d{{.caps = kAllCaps,
                   .threading = threading,
                   .counters = true,
                   .data_progress = progress}};
            constexpr uint64_t kMessages = 500;
            std::thread sender{[&] {
                for (uint64_t i = 0; i < kMessages; ++i)
                    while (fi_inject(d.a.ep(), "x", 1, d.to_b) == -FI_EAGAIN) sched_yield();
            }};
            std::thread receiver{[&] {
                static char in;
                for (uint64_t i = 0; i < kMessages; ++i)
                    while (fi_recv(d.b.ep(), &in, 1, nullptr, FI_ADDR_UNSPEC, &in) == -FI_EAGAIN)
                        sched_yield();
            }};
            d.until([&] {
                return fi_cntr_read(d.a.endpoint.sent()) == kMessages &&
                       fi_cntr_read(d.b.endpoint.received()) == kMessages;
            });
            sender.join();
            receiver.join();
        }
    }
}

TEST_CASE("threads with endpoints and queues of their own share a domain") {
    for (const auto threading : {FI_THREAD_COMPLETION, FI_THREAD_SAFE}) {
        for (const auto progress : {FI_PROGRESS_MANUAL, FI_PROGRESS_AUTO}) {
            CAPTURE(int{threading});
            CAPTURE(int{progress});
            Duo d{{.caps = kAllCaps, .threading = threading, .data_progress = progress}};
            const auto work = [&] {
                auto* info = const_cast<fi_info*>(&d.a.endpoint.info());
                fi_cq_attr attr{};
                attr.format = FI_CQ_FORMAT_TAGGED;
                fid_cq* cq = nullptr;
                REQUIRE(fi_cq_open(d.a.endpoint.domain(), &attr, &cq, nullptr) == 0);
                const Owned<fid_cq> queue{cq};
                fid_ep* raw = nullptr;
                REQUIRE(fi_endpoint(d.a.endpoint.domain(), info, &raw, nullptr) == 0);
                const Owned<fid_ep> ep{raw};
                REQUIRE(fi_ep_bind(raw, &d.a.endpoint.av()->fid, 0) == 0);
                REQUIRE(fi_ep_bind(raw, &cq->fid, FI_TRANSMIT | FI_RECV) == 0);
                REQUIRE(fi_enable(raw) == 0);
                char name[64];
                size_t length = sizeof name;
                REQUIRE(fi_getname(&raw->fid, name, &length) == 0);
                const fi_addr_t self = d.a.endpoint.insert({name, length});
                for (int i = 0; i < 200; ++i) {
                    char in = 0;
                    REQUIRE(fi_trecv(raw, &in, 1, nullptr, self, 1, 0, nullptr) == 0);
                    REQUIRE(fi_tsend(raw, "x", 1, nullptr, self, 1, nullptr) == 0);
                    fi_cq_tagged_entry entry;
                    for (int done = 0; done < 2;)
                        if (fi_cq_read(cq, &entry, 1) == 1)
                            ++done;
                        else
                            sched_yield();
                    CHECK(in == 'x');
                }
            };
            std::thread first{work}, second{work};
            first.join();
            second.join();
        }
    }
}
