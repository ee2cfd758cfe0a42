// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// A second process with an endpoint of its own, which can be killed.

#include "duo.hpp"

#include <atomic>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace duo {

// A process that runs body between fork and exit, and memory to talk to it.
struct Board {
    void await(int other) const {
        for (Pause pause; step < other; pause()) {
        }
    }

    std::atomic<int> step{0};
    char name[64]{};
    char peer[64]{};
};

class Child {
public:
    explicit Child(const std::function<void(Board&)>& body)
        : board{new (mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Board} {
        pid_ = fork();
        if (pid_ != 0) return;
        try {
            body(*board);
        } catch (...) {
            _exit(1);
        }
        _exit(0);
    }
    ~Child() {
        kill_now();
        munmap(board, sizeof(Board));
    }
    void kill_now() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }
    int join() {
        int status = -1;
        waitpid(pid_, &status, 0);
        pid_ = 0;
        return status;
    }
    void await(int step) const { board->await(step); }

    pid_t pid() const { return pid_; }

    Board* board;

private:
    pid_t pid_;
};

// In the child: an endpoint that has told its name.
struct Far {
    explicit Far(Board& board, const Wishes& wishes = {.caps = kAllCaps})
        : side{wishes} {
        std::memcpy(board.name, side.endpoint.name().data(), sizeof(sockaddr_in));
        board.step = 1;
        board.await(2);
        peer = side.endpoint.insert({board.peer, sizeof(sockaddr_in)});
    }
    Watched side;
    fi_addr_t peer;
};

// In the parent: gets to know the child's endpoint.
inline fi_addr_t meet(Watched& near, Child& child) {
    child.await(1);
    const std::string name = near.endpoint.name();
    std::memcpy(child.board->peer, name.data(), name.size());
    const fi_addr_t number = near.endpoint.insert({child.board->name, sizeof(sockaddr_in)});
    child.board->step = 2;
    return number;
}

inline Outcome outcome(Watched& side, const void* context) {
    const auto end = Clock::now() + kPatience;
    for (Pause pause;; pause()) {
        if (const auto found = side.take(context)) return *found;
        REQUIRE(Clock::now() < end);
        side.poll();
    }
}

} // namespace duo
