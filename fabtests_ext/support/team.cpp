// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "team.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <numeric>
#include <sched.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fabtests_ext {

struct Team::Shared {
    static constexpr int kMost = 512;
    static constexpr size_t kBytes = 64;
    std::atomic<int> arrived{0};
    std::atomic<int> phase{0};
    size_t length[kMost]{};
    char bytes[kMost][kBytes]{};
};

void Team::barrier() {
    const int phase = shared_->phase.load();
    if (shared_->arrived.fetch_add(1) + 1 == size_) {
        shared_->arrived.store(0);
        shared_->phase.store(phase + 1);
        return;
    }
    while (shared_->phase.load() == phase) sched_yield();
}

std::vector<std::string> Team::exchange(const std::string& mine) {
    if (mine.size() > Shared::kBytes) throw std::length_error{"too long to exchange"};
    std::memcpy(shared_->bytes[rank_], mine.data(), mine.size());
    shared_->length[rank_] = mine.size();
    barrier();
    std::vector<std::string> all;
    for (int i = 0; i < size_; ++i) all.emplace_back(shared_->bytes[i], shared_->length[i]);
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

int run_team(int size, const std::function<int(Team&)>& body) {
    if (size < 1 || size > Team::Shared::kMost) throw std::out_of_range{"number of processes"};
    void* memory = mmap(nullptr, sizeof(Team::Shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc{};
    Team team;
    team.shared_ = new (memory) Team::Shared;
    team.size_ = size;
    std::fflush(nullptr);
    std::vector<pid_t> members(static_cast<size_t>(size));
    for (int i = 0; i < size; ++i) {
        const pid_t pid = fork();
        if (pid < 0) throw std::runtime_error{"cannot fork"};
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            team.rank_ = i;
            int result = 1;
            try {
                result = body(team);
            } catch (const std::exception& e) {
                std::fprintf(stderr, "rank %d: %s\n", i, e.what());
            }
            std::fflush(nullptr);
            _exit(result);
        }
        members[static_cast<size_t>(i)] = pid;
    }
    int failed = 0;
    for (int left = size; left > 0; --left) {
        int status = 0;
        const pid_t pid = wait(&status);
        if (status == 0) continue;
        if (failed++ > 0) continue; // ended by us, most likely
        const auto rank = std::ranges::find(members, pid) - members.begin();
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
