// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// fi_eq(3)

#include "duo.hpp"

#include <poll.h>
#include <thread>

using namespace duo;
using std::chrono::milliseconds;

namespace {

Owned<fid_eq> open_eq(const Endpoint& endpoint, fi_wait_obj wait, uint64_t flags = FI_WRITE) {
    fi_eq_attr attr{};
    attr.flags = flags;
    attr.wait_obj = wait;
    fid_eq* eq = nullptr;
    REQUIRE(fi_eq_open(endpoint.fabric(), &attr, &eq, nullptr) == 0);
    return Owned<fid_eq>{eq};
}

} // namespace

TEST_CASE("an event queue gives back what was written into it") {
    const Watched w;
    const auto owner = open_eq(w.endpoint, FI_WAIT_FD);
    fid_eq* eq = owner.get();
    fi_eq_entry entry{}, read{};
    entry.data = 5;
    uint32_t event = 0;
    CHECK(fi_eq_read(eq, &event, &read, sizeof read, 0) == -FI_EAGAIN);
    CHECK(fi_eq_write(eq, FI_NOTIFY, &entry, sizeof entry, 0) == sizeof entry);
    CHECK(fi_eq_write(eq, FI_SHUTDOWN, nullptr, 0, 0) == 0);
    CHECK(fi_eq_read(eq, &event, &read, 1, 0) == -FI_ETOOSMALL);
    CHECK(fi_eq_read(eq, &event, &read, sizeof read, FI_PEEK) == sizeof read);
    CHECK(fi_eq_sread(eq, &event, &read, sizeof read, 1000, FI_PEEK) == sizeof read);
    CHECK(fi_eq_sread(eq, &event, &read, sizeof read, 1000, 0) == sizeof read);
    CHECK(event == FI_NOTIFY);
    CHECK(read.data == 5);
    CHECK(fi_eq_read(eq, &event, nullptr, 0, 0) == 0);
    CHECK(event == FI_SHUTDOWN);
    CHECK(fi_eq_write(eq, FI_NOTIFY, &entry, sizeof entry, 0) == sizeof entry);
    CHECK(fi_eq_read(eq, &event, nullptr, 0, 0) == 0); // the event alone
    CHECK(event == FI_NOTIFY);
    const auto start = Clock::now();
    CHECK(fi_eq_sread(eq, &event, &read, sizeof read, 30, 0) == -FI_EAGAIN);
    CHECK(Clock::now() - start >= milliseconds{29});
    fi_eq_err_entry none{};
    CHECK(fi_eq_readerr(eq, &none, 0) == -FI_EAGAIN);
}

TEST_CASE("a thread that sleeps on an event queue is woken by an event") {
    const Watched w;
    for (const auto wait : {FI_WAIT_UNSPEC, FI_WAIT_FD, FI_WAIT_POLLFD, FI_WAIT_YIELD}) {
        const auto owner = open_eq(w.endpoint, wait);
        fid_eq* eq = owner.get();
        fi_eq_entry entry{}, read{};
        uint32_t event = 0;
        const auto write_soon = [&] {
            return std::thread{[&] {
                std::this_thread::sleep_for(milliseconds{20});
                fi_eq_write(eq, FI_NOTIFY, &entry, sizeof entry, 0);
            }};
        };
        std::thread writer = write_soon();
        CHECK(fi_eq_sread(eq, &event, &read, sizeof read, -1, 0) == sizeof read);
        writer.join();
        if (wait != FI_WAIT_FD) continue;
        pollfd p{.fd = -1, .events = POLLIN, .revents = 0};
        REQUIRE(fi_control(&eq->fid, FI_GETWAIT, &p.fd) == 0);
        fid* fids[] = {&eq->fid};
        CHECK(fi_trywait(w.endpoint.fabric(), fids, 1) == 0);
        CHECK(poll(&p, 1, 0) == 0);
        writer = write_soon();
        CHECK(poll(&p, 1, 20'000) == 1);
        writer.join();
        CHECK(fi_trywait(w.endpoint.fabric(), fids, 1) == -FI_EAGAIN);
        CHECK(fi_eq_read(eq, &event, &read, sizeof read, 0) == sizeof read);
        CHECK(poll(&p, 1, 0) == 0);
    }
}

TEST_CASE("an event queue refuses what does not make sense") {
    const Watched w;
    fi_eq_attr attr{};
    attr.flags = FI_SEND;
    fid_eq* none = nullptr;
    CHECK(fi_eq_open(w.endpoint.fabric(), &attr, &none, nullptr) == -FI_EINVAL);
    attr = {};
    attr.wait_obj = fi_wait_obj(7);
    CHECK(fi_eq_open(w.endpoint.fabric(), &attr, &none, nullptr) == -FI_ENOSYS);

    const auto eq = open_eq(w.endpoint, FI_WAIT_NONE, 0);
    fi_eq_entry entry{};
    uint32_t event = 0;
    CHECK(fi_eq_write(eq.get(), FI_NOTIFY, &entry, sizeof entry, 0) == -FI_EINVAL); // not asked for
    CHECK(fi_eq_sread(eq.get(), &event, &entry, sizeof entry, 0, 0) == -FI_ENOSYS);
    CHECK(fi_eq_read(eq.get(), &event, &entry, sizeof entry, FI_SEND) == -FI_EINVAL);
    int fd = -1;
    CHECK(fi_control(&eq->fid, FI_GETWAIT, &fd) == -FI_ENOSYS);
}
