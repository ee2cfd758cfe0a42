// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Collectives of processes, one of which is killed.

#include "collectives.hpp"
#include "far.hpp"
#include "tests/forks.hpp"

#include <array>

using namespace duo;

namespace {

constexpr size_t kMost = 8;
constexpr int kLost = 3; // exit status of a member that hears nothing of the death

// How the processes learn each other's addresses.
struct Names {
    std::atomic<size_t> told{0};
    std::array<sockaddr_in, kMost> name{};
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
    Process(const SharedNames& names, size_t rank, size_t size)
        : me{kCollectiveWishes} {
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

    void begin() {
        check(fi_allreduce(me.ep(), &in, 1, nullptr, &out, nullptr, fi_mc_addr(group.get()),
                           FI_UINT64, FI_SUM, 0, &out),
              "fi_allreduce");
    }
    // Its error, or 0. Patience ends with an exception.
    int end() {
        const auto latest = Clock::now() + kPatience;
        while (Clock::now() < latest) {
            me.poll();
            if (const auto o = me.take(&out)) return o->error ? o->error->err : 0;
            sched_yield();
        }
        throw std::runtime_error{"a collective hangs"};
    }
    int run() {
        begin();
        return end();
    }

    Watched me;
    Owned<fid_mc> group;
    uint64_t in{1}, out{0};
};

} // namespace

TEST_CASE("all members hear that one died, though it is not they who wait for its word" * forks()) {
    constexpr size_t kSize = 5, kVictim = 3;
    const SharedNames names;
    std::vector<std::unique_ptr<Child>> children;
    for (size_t rank = 0; rank < kSize; ++rank) {
        children.push_back(std::make_unique<Child>([&, rank](Board& board) {
            Process p{names, rank, kSize};
            if (p.run() != 0 || p.out != kSize) _exit(1);
            if (rank != kVictim) p.begin();
            board.step = 1;
            if (rank == kVictim) pause();
            if (p.end() == 0) _exit(kLost);
            // The group is of no use any more.
            if (p.run() == 0) _exit(kLost);
        }));
    }
    for (auto& child : children) child->await(1);
    children[kVictim]->kill_now();
    for (size_t rank = 0; rank < kSize; ++rank)
        if (rank != kVictim) CHECK(children[rank]->join() == 0);
}

TEST_CASE("no member hangs when one is killed in the middle of a collective" * forks()) {
    constexpr size_t kSize = 8, kVictim = 6;
    const SharedNames names;
    std::vector<std::unique_ptr<Child>> children;
    for (size_t rank = 0; rank < kSize; ++rank) {
        children.push_back(std::make_unique<Child>([&, rank](Board& board) {
            Process p{names, rank, kSize};
            while (p.run() == 0) {
                if (p.out != kSize) _exit(1);
                ++board.step;
            }
        }));
    }
    for (auto& child : children) child->await(5);
    children[kVictim]->kill_now();
    for (size_t rank = 0; rank < kSize; ++rank)
        if (rank != kVictim) CHECK(children[rank]->join() == 0);
}
