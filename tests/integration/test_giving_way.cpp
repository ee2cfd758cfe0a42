// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Who looks in vain where more may look than there are processors (fi_odrc(7), Progress).

#include "duo.hpp"

#include <sys/syscall.h>
#include <unistd.h>

using namespace duo;

namespace {

thread_local int yields = 0;

int yields_of(const std::function<void()>& call) {
    const int before = yields;
    call();
    return yields - before;
}

// Domains with nothing in them, each of which may have a thread of its own.
std::vector<Owned<fid_domain>> open_domains(const Watched& beside, long count) {
    std::vector<Owned<fid_domain>> domains;
    for (long i = 0; i < count; ++i) {
        fid_domain* domain = nullptr;
        auto* info = const_cast<fi_info*>(&beside.endpoint.info());
        REQUIRE(fi_domain(beside.endpoint.fabric(), info, &domain, nullptr) == 0);
        domains.emplace_back(domain);
    }
    return domains;
}

} // namespace

// The program's own, which the libraries that it loads use as well: it counts.
extern "C" int sched_yield() noexcept {
    ++yields;
    return static_cast<int>(syscall(SYS_sched_yield));
}

TEST_CASE("who looks in vain gives way where more look than there are processors") {
    for (const char* launcher : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                 "MV2_COMM_WORLD_LOCAL_SIZE", "SLURM_TASKS_PER_NODE"})
        unsetenv(launcher);
    Wishes wishes{.caps = kAllCaps, .counters = true};
    SUBCASE("endpoints") { wishes.threading = FI_THREAD_SAFE; }
    SUBCASE("domains of one thread each") { wishes.threading = FI_THREAD_DOMAIN; }
    const Watched side{wishes};
    const auto look = [&] {
        fi_cq_tagged_entry entry;
        CHECK(fi_cq_read(side.endpoint.cq(), &entry, 1) == -FI_EAGAIN);
    };
    const auto look_at_counter = [&] { CHECK(fi_cntr_read(side.endpoint.received()) == 0); };
    CHECK(yields_of(look) == 0);
    CHECK(yields_of(look_at_counter) == 0);
    {
        Wishes one_thread = wishes;
        one_thread.threading = FI_THREAD_DOMAIN;
        const Watched other{one_thread};
        const auto others = open_domains(other, sysconf(_SC_NPROCESSORS_ONLN));
        CHECK(yields_of(look) == 1);
        CHECK(yields_of(look_at_counter) == 1);
    }
    CHECK(yields_of(look) == 0);
}
