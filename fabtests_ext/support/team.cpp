// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "team.hpp"

#include <algorithm>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <linux/futex.h>
#include <new>
#include <numeric>
#include <optional>
#include <sched.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fabtests_ext {

struct Team::Shared {
    static constexpr int kMost = 512;
    struct Said {
        size_t length;
        char bytes[64];
    };
    std::atomic<int> arrived{0};
    std::atomic<int> phase{0};
    Said said[kMost]{};
};

// The last one of a host to come speaks for it. Who has looked often for the others sleeps.
void Team::barrier(const std::function<void()>& meanwhile) {
    const int phase = shared_->phase.load();
    if (shared_->arrived.fetch_add(1) + 1 == here_) {
        if (other_) swap_with_other_host();
        shared_->arrived.store(0);
        shared_->phase.store(phase + 1);
        syscall(SYS_futex, &shared_->phase, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
        return;
    }
    constexpr int kOften = 1000;
    for (int looks = 0; shared_->phase.load() == phase; ++looks) {
        if (meanwhile) meanwhile();
        if (meanwhile || looks < kOften)
            sched_yield();
        else
            syscall(SYS_futex, &shared_->phase, FUTEX_WAIT, phase, nullptr, nullptr, 0);
    }
}

void Team::swap_with_other_host() {
    const auto half = static_cast<size_t>(here_);
    const auto ours = std::span{shared_->said}.subspan(static_cast<size_t>(first_), half);
    const auto theirs = std::span{shared_->said}.subspan(first_ == 0 ? half : 0, half);
    other_->swap(std::as_bytes(ours), std::as_writable_bytes(theirs));
}

std::vector<std::string> Team::exchange(const std::string& mine) {
    auto& said = shared_->said[rank_];
    if (mine.size() > sizeof said.bytes) throw std::length_error{"too long to exchange"};
    std::memcpy(said.bytes, mine.data(), mine.size());
    said.length = mine.size();
    barrier();
    std::vector<std::string> all;
    for (int i = 0; i < size_; ++i)
        all.emplace_back(shared_->said[i].bytes, shared_->said[i].length);
    barrier(); // nobody writes the next one before all have read this one
    return all;
}

std::vector<unsigned long long> Team::numbers(unsigned long long mine) {
    std::vector<unsigned long long> all;
    for (const std::string& one : exchange({reinterpret_cast<char*>(&mine), sizeof mine}))
        std::memcpy(&all.emplace_back(), one.data(), sizeof mine);
    return all;
}

unsigned long long Team::sum(unsigned long long mine) {
    const auto all = numbers(mine);
    return std::accumulate(all.begin(), all.end(), 0ull);
}

int run_team(int size, const std::function<int(Team&)>& body, const Halves& halves) {
    if (size < 1 || size > Team::Shared::kMost || (halves.two() && size % 2 != 0)) {
        std::fprintf(stderr,
                     "%d processes: there are 1 to %d, and as many on one host as on the other\n",
                     size, Team::Shared::kMost);
        return 1;
    }
    void* memory = mmap(nullptr, sizeof(Team::Shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc{};
    Team team;
    team.shared_ = new (memory) Team::Shared;
    team.size_ = size;
    std::optional<OtherHost> other;
    if (halves.two()) team.other_ = &other.emplace(halves);
    team.here_ = halves.two() ? size / 2 : size;
    team.first_ = halves.two() && !halves.listens ? team.here_ : 0;
    std::fflush(nullptr);
    std::vector<pid_t> members(static_cast<size_t>(team.here_));
    for (int i = 0; i < team.here_; ++i) {
        const pid_t pid = fork();
        if (pid < 0) throw std::runtime_error{"cannot fork"};
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            team.rank_ = team.first_ + i;
            setenv("PMI_RANK", std::to_string(team.rank_).c_str(), 1);
            setenv("PMI_SIZE", std::to_string(team.size_).c_str(), 1);
            setenv("PMI_JOBID", std::to_string(getppid()).c_str(), 1);
            int result = 1;
            try {
                result = body(team);
            } catch (const std::exception& e) {
                std::fprintf(stderr, "rank %d: %s\n", team.rank_, e.what());
            }
            std::fflush(nullptr);
            _exit(result);
        }
        members[static_cast<size_t>(i)] = pid;
    }
    int failed = 0;
    for (int left = team.here_; left > 0; --left) {
        int status = 0;
        const pid_t pid = wait(&status);
        if (status == 0) continue;
        if (failed++ > 0) continue; // ended by us, most likely
        const auto rank = team.first_ + (std::ranges::find(members, pid) - members.begin());
        std::fprintf(stderr,
                     WIFSIGNALED(status) ? "rank %d was killed by signal %d\n"
                                         : "rank %d failed with status %d\n",
                     static_cast<int>(rank),
                     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        for (const pid_t member : members) kill(member, SIGKILL);
    }
    munmap(memory, sizeof(Team::Shared));
    return failed > 0;
}

} // namespace fabtests_ext
