// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Messages to groups (fi_odrc.h), and processes that share one.

#include "collectives.hpp"
#include "far.hpp"
#include "statistics.hpp"

#include <array>

namespace duo {

inline fi_odrc_multicast_ops* multicast_ops(fid_ep* ep) {
    void* ops = nullptr;
    REQUIRE(fi_open_ops(&ep->fid, FI_ODRC_MULTICAST_OPS, 0, &ops, nullptr) == 0);
    return static_cast<fi_odrc_multicast_ops*>(ops);
}

// A message that a member has got.
struct Got {
    std::string text;
    fi_addr_t source;
    uint64_t order;
};

// The next message, if there is one, of a member that looks.
inline std::optional<Got> next_message(fid_ep* ep, fid_mc* group) {
    fi_odrc_multicast message{};
    const ssize_t n = multicast_ops(ep)->receive(ep, group, &message);
    if (n == 0) return std::nullopt;
    if (n < 0) throw std::runtime_error{fi_strerror(static_cast<int>(-n))};
    Got got{
        {static_cast<const char*>(message.data), message.length}, message.source, message.order};
    multicast_ops(ep)->release(ep, group, &message);
    return got;
}

// How the processes of a group learn each other's addresses.
inline constexpr size_t kMostProcesses = 8;
struct Names {
    std::atomic<size_t> told{0};
    std::array<sockaddr_in, kMostProcesses> name{};
};
class SharedNames {
public:
    SharedNames()
        : names_{new (mmap(nullptr, sizeof(Names), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Names} {}
    ~SharedNames() { munmap(names_, sizeof(Names)); }
    SharedNames(const SharedNames&) = delete;
    SharedNames& operator=(const SharedNames&) = delete;
    Names* operator->() const { return names_; }

private:
    Names* names_;
};

// A process's endpoint, in the group of all of them.
class Process {
public:
    Process(const SharedNames& names, size_t rank, size_t size,
            const Wishes& wishes = kCollectiveWishes)
        : me{wishes} {
        std::memcpy(&names->name[rank], me.endpoint.name().data(), sizeof(sockaddr_in));
        ++names->told;
        while (names->told < size) sched_yield();
        auto set = empty_set(me.endpoint);
        for (size_t i = 0; i < size; ++i) {
            const auto* name = reinterpret_cast<const char*>(&names->name[i]);
            check(fi_av_set_insert(set.get(), me.endpoint.insert({name, sizeof(sockaddr_in)})),
                  "fi_av_set_insert");
        }
        check(join(me.endpoint, set.get(), group), "fi_join_collective");
        fi_eq_entry entry{};
        uint32_t event = 0;
        ssize_t n = 0;
        while ((n = fi_eq_read(me.endpoint.eq(), &event, &entry, sizeof entry, 0)) == -FI_EAGAIN)
            sched_yield();
        check(n, "fi_eq_read");
    }

    fi_addr_t address() const { return fi_mc_addr(group.get()); }
    // The error of an operation, or 0. Patience ends with an exception.
    int end_of(const void* context) {
        const auto latest = Clock::now() + kPatience;
        for (Pause pause; Clock::now() < latest; pause()) {
            me.poll();
            if (const auto o = me.take(context)) return o->error ? o->error->err : 0;
        }
        throw std::runtime_error{"an operation hangs"};
    }

    Watched me;
    Owned<fid_mc> group;
};

} // namespace duo
