// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "fabric_group.hpp"

#include "process.hpp"

#include <rdma/fi_collective.h>
#include <rdma/fi_errno.h>

namespace odrc::mpi {
namespace {

// There is no other way that all members would know of.
void insist(const char* call, ssize_t result) noexcept {
    if (result < 0) fatal("{}: {}", call, fi_strerror(static_cast<int>(-result)));
}

} // namespace

FabricGroup::FabricGroup(Fabric& fabric, std::span<const fi_addr_t> members) {
    fi_av_set_attr attr{};
    attr.count = members.size();
    attr.start_addr = attr.end_addr = FI_ADDR_NOTAVAIL;
    fid_av_set* set = nullptr;
    insist("fi_av_set", fi_av_set(fabric.addresses_.get(), &attr, &set, nullptr));
    members_.reset(set);
    for (const fi_addr_t member : members)
        insist("fi_av_set_insert", fi_av_set_insert(members_.get(), member));
    fi_addr_t address = FI_ADDR_NOTAVAIL;
    insist("fi_av_set_addr", fi_av_set_addr(members_.get(), &address));
    fid_mc* group = nullptr;
    insist("fi_join_collective",
           fi_join_collective(fabric.endpoint_.get(), address, members_.get(), 0, &group, this));
    group_.reset(group);
    fi_eq_entry entry{};
    uint32_t event = 0;
    ssize_t n = 0;
    while ((n = fi_eq_read(fabric.events_.get(), &event, &entry, sizeof entry, 0)) == -FI_EAGAIN)
        Process::get().advance();
    if (n == -FI_EAVAIL) {
        fi_eq_err_entry error{};
        fi_eq_readerr(fabric.events_.get(), &error, 0);
        n = -error.err;
    }
    insist("a group cannot be joined", n);
}

} // namespace odrc::mpi
