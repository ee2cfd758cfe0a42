// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// FI_WAIT_MUTEX_COND of fi_cq(3), fi_cntr(3), fi_eq(3) and fi_poll(3).

#include "duo.hpp"

#include <pthread.h>
#include <thread>

using namespace duo;

namespace {

// Sleeps on the condition of an object, as fi_poll(3) says, until there is what is looked for; all
// of it while the mutex is held.
template <class Found>
void sleep_until(fid_fabric* fabric, fid& object, const Found& found) {
    fi_mutex_cond wait{};
    REQUIRE(fi_control(&object, FI_GETWAIT, &wait) == 0);
    fid* objects[] = {&object};
    pthread_mutex_lock(wait.mutex);
    while (!found())
        if (fi_trywait(fabric, objects, 1) == 0) pthread_cond_wait(wait.cond, wait.mutex);
    pthread_mutex_unlock(wait.mutex);
}

constexpr fi_progress kModels[] = {FI_PROGRESS_MANUAL, FI_PROGRESS_AUTO};
constexpr int kMessages = 50;

Wishes conditional(fi_progress progress) {
    return {.caps = kAllCaps,
            .threading = FI_THREAD_SAFE,
            .wait = FI_WAIT_MUTEX_COND,
            .counters = true,
            .data_progress = progress};
}

} // namespace

TEST_CASE("a thread sleeps on the condition of a completion queue") {
    for (const auto progress : kModels) {
        CAPTURE(int{progress});
        Duo d{conditional(progress)};
        fid_cq* cq = d.b.endpoint.cq();
        fi_wait_obj kind = FI_WAIT_NONE;
        CHECK(fi_control(&cq->fid, FI_GETWAITOBJ, &kind) == 0);
        CHECK(kind == FI_WAIT_MUTEX_COND);
        std::atomic<int> received{0};
        std::thread receiver{[&] {
            for (; received < kMessages; ++received) {
                char in = 0;
                REQUIRE(fi_recv(d.b.ep(), &in, 1, nullptr, FI_ADDR_UNSPEC, nullptr) == 0);
                fi_cq_tagged_entry entry;
                sleep_until(d.b.endpoint.fabric(), cq->fid,
                            [&] { return fi_cq_read(cq, &entry, 1) == 1; });
                CHECK(in == 'x');
            }
        }};
        for (int i = 0; i < kMessages; ++i) {
            while (received < i) sched_yield();
            int context = 0;
            REQUIRE(fi_send(d.a.ep(), "x", 1, nullptr, d.to_b, &context) == 0);
            fi_cq_tagged_entry entry;
            CHECK(fi_cq_sread(d.a.endpoint.cq(), &entry, 1, nullptr, 20'000) == 1);
        }
        receiver.join();
    }
}

TEST_CASE("a thread sleeps on the condition of a counter") {
    for (const auto progress : kModels) {
        CAPTURE(int{progress});
        Duo d{conditional(progress)};
        fid_cntr* counter = d.b.endpoint.received();
        char in = 0;
        for (int i = 0; i < kMessages; ++i)
            REQUIRE(fi_recv(d.b.ep(), &in, 1, nullptr, FI_ADDR_UNSPEC, nullptr) == 0);
        std::thread sender{[&] {
            for (uint64_t i = 0; i < kMessages; ++i) {
                while (fi_inject(d.a.ep(), "x", 1, d.to_b) != 0) sched_yield();
                CHECK(fi_cntr_wait(d.a.endpoint.sent(), i + 1, 20'000) == 0);
            }
        }};
        sleep_until(d.b.endpoint.fabric(), counter->fid,
                    [&] { return fi_cntr_read(counter) == kMessages; });
        sender.join();
    }
}

TEST_CASE("a thread sleeps on the condition of an event queue, or of a set with one in it") {
    const Watched w;
    fid_fabric* fabric = w.endpoint.fabric();
    for (const bool in_set : {false, true}) {
        CAPTURE(in_set);
        fi_wait_attr set_attr{.wait_obj = FI_WAIT_MUTEX_COND, .flags = 0};
        fid_wait* set = nullptr;
        REQUIRE(fabric->ops->wait_open(fabric, &set_attr, &set) == 0);
        const Owned<fid_wait> owned_set{set};
        fi_eq_attr attr{};
        attr.flags = FI_WRITE;
        attr.wait_obj = in_set ? FI_WAIT_SET : FI_WAIT_MUTEX_COND;
        attr.wait_set = in_set ? set : nullptr;
        fid_eq* eq = nullptr;
        REQUIRE(fi_eq_open(fabric, &attr, &eq, nullptr) == 0);
        const Owned<fid_eq> owned{eq};
        std::atomic<int> read{0};
        std::thread writer{[&] {
            for (int i = 0; i < kMessages; ++i) {
                while (read < i) sched_yield();
                const fi_eq_entry entry{};
                CHECK(fi_eq_write(eq, FI_NOTIFY, &entry, sizeof entry, 0) == sizeof entry);
            }
        }};
        for (; read < kMessages; ++read) {
            fi_eq_entry entry;
            uint32_t event;
            sleep_until(fabric, in_set ? set->fid : eq->fid, [&] {
                return fi_eq_read(eq, &event, &entry, sizeof entry, 0) == sizeof entry;
            });
        }
        writer.join();
    }
}
