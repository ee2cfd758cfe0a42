// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Waiting for completions: conditions and signals of fi_cq(3).

#include "queues.hpp"

#include <thread>

using namespace duo;
using std::chrono::milliseconds;

namespace {

const void* threshold(size_t n) { return reinterpret_cast<const void*>(n); }

} // namespace

TEST_CASE("a thread sleeps until there are as many completions as it wants") {
    for (const auto wait : kSleepy) {
        CAPTURE(wait);
        Duo d{{.caps = kAllCaps, .threading = FI_THREAD_SAFE}};
        fi_cq_attr attr{};
        attr.wait_obj = wait;
        attr.wait_cond = FI_CQ_COND_THRESHOLD;
        const auto cq = open_cq(d.a.endpoint, attr);
        const auto ep = open_endpoint(d.a.endpoint, *cq, *cq);
        int contexts[4];
        std::thread sender{[&] {
            for (int& context : contexts) {
                std::this_thread::sleep_for(milliseconds{5});
                fi_send(ep.get(), "x", 1, nullptr, d.to_b, &context);
            }
        }};
        fi_cq_entry entries[4];
        CHECK(fi_cq_sread(cq.get(), entries, 3, threshold(3), 20'000) == 3);
        sender.join();
        // When the time is over, fewer will do; and none are none.
        ssize_t rest = -FI_EAGAIN;
        for (const auto end = Clock::now() + kPatience; rest == -FI_EAGAIN && Clock::now() < end;)
            rest = fi_cq_sread(cq.get(), entries, 4, threshold(3), 20);
        CHECK(rest == 1);
        CHECK(fi_cq_sread(cq.get(), entries, 4, threshold(1), 20) == -FI_EAGAIN);
        // An error does not wait for company.
        char in = 0;
        REQUIRE(fi_recv(ep.get(), &in, 1, nullptr, FI_ADDR_UNSPEC, contexts) == 0);
        REQUIRE(fi_cancel(&ep->fid, contexts) == 0);
        CHECK(fi_cq_sread(cq.get(), entries, 4, threshold(3), -1) == -FI_EAVAIL);
        fi_cq_err_entry error{};
        CHECK(fi_cq_readerr(cq.get(), &error, 0) == 1);
        CHECK(error.err_data == nullptr);
        CHECK(error.err_data_size == 0);
        char text[64];
        CHECK(std::string{fi_cq_strerror(cq.get(), error.prov_errno, nullptr, text, 64)} == text);
        CHECK(std::string{text} == fi_strerror(FI_ECANCELED));
    }
}

TEST_CASE("a signal wakes a sleeper once") {
    for (const auto wait : kSleepy) {
        const Watched w{{.caps = kAllCaps, .threading = FI_THREAD_SAFE, .wait = wait}};
        fid_cq* cq = w.endpoint.cq();
        std::thread signaler{[&] {
            std::this_thread::sleep_for(milliseconds{20});
            fi_cq_signal(cq);
        }};
        fi_cq_tagged_entry entry;
        CHECK(fi_cq_sread(cq, &entry, 1, nullptr, -1) == -FI_EAGAIN);
        signaler.join();
        const auto start = Clock::now();
        CHECK(fi_cq_sread(cq, &entry, 1, nullptr, 20) == -FI_EAGAIN);
        CHECK(Clock::now() - start >= milliseconds{19});
        if (wait == FI_WAIT_YIELD) continue;
        // One that sleeps in a way of its own is told by fi_trywait, once.
        fid* fids[] = {&cq->fid};
        REQUIRE(fi_cq_signal(cq) == 0);
        CHECK(fi_trywait(w.endpoint.fabric(), fids, 1) == -FI_EAGAIN);
        CHECK(fi_trywait(w.endpoint.fabric(), fids, 1) == 0);
    }
    const Watched nobody;
    CHECK(fi_cq_signal(nobody.endpoint.cq()) == -FI_ENOSYS);
}

TEST_CASE("endpoints share a queue, whose completions come from all of them") {
    Duo d;
    const auto cq = open_cq(d.a.endpoint, {.size = 16,
                                           .flags = 0,
                                           .format = FI_CQ_FORMAT_TAGGED,
                                           .wait_obj = FI_WAIT_NONE,
                                           .signaling_vector = 0,
                                           .wait_cond = FI_CQ_COND_NONE,
                                           .wait_set = nullptr});
    std::vector<Owned<fid_ep>> endpoints;
    int contexts[3];
    for (int& context : contexts) {
        endpoints.push_back(open_endpoint(d.a.endpoint, *cq, *cq));
        REQUIRE(fi_send(endpoints.back().get(), "x", 1, nullptr, d.to_b, &context) == 0);
    }
    std::vector<void*> seen;
    d.until([&] {
        fi_cq_tagged_entry entry;
        if (fi_cq_read(cq.get(), &entry, 1) == 1) seen.push_back(entry.op_context);
        return seen.size() == 3;
    });
    std::ranges::sort(seen);
    for (size_t i = 0; i < 3; ++i) CHECK(seen[i] == &contexts[i]);
    // One that goes leaves the others at work.
    endpoints.pop_back();
    REQUIRE(fi_send(endpoints[0].get(), "x", 1, nullptr, d.to_b, nullptr) == 0);
    d.until([&] {
        fi_cq_tagged_entry entry;
        return fi_cq_read(cq.get(), &entry, 1) == 1;
    });
    CHECK(fi_close(&cq->fid) == -FI_EBUSY);
}
