// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "observation.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace counts {
namespace {

[[noreturn]] void refused(const char* what) {
    throw std::system_error{errno, std::generic_category(), what};
}

[[noreturn]] void run(const std::function<int()>& body) {
    int result = 1;
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0) {
        raise(SIGSTOP); // until our parent looks on
        try {
            result = body();
        } catch (const std::exception& e) {
            std::fprintf(stderr, "%s\n", e.what());
        }
    }
    std::fflush(nullptr);
    _exit(result);
}

void note(Observation& observation, pid_t thread) {
    __ptrace_syscall_info call{};
    if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof call, &call) < 0) refused("ptrace");
    if (call.op != PTRACE_SYSCALL_INFO_ENTRY) return;
    if (observation.system_calls++ == 0) observation.first_system_call = call.entry.nr;
}

} // namespace

int trace(Observation& observation, const std::function<int()>& body) {
    const pid_t child = fork();
    if (child < 0) refused("fork");
    if (child == 0) run(body);
    int status = 0;
    if (waitpid(child, &status, 0) < 0) refused("waitpid");
    if (!WIFSTOPPED(status)) {
        errno = EPERM;
        refused("ptrace");
    }
    // Of the child's threads only the one that asked for it is traced.
    if (ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) < 0)
        refused("ptrace");
    for (int signal = 0;;) {
        if (ptrace(PTRACE_SYSCALL, child, 0, signal) < 0) refused("ptrace");
        if (waitpid(child, &status, 0) < 0) refused("waitpid");
        if (WIFEXITED(status)) return WEXITSTATUS(status);
        if (WIFSIGNALED(status)) return 1;
        const bool at_call = WSTOPSIG(status) == (SIGTRAP | 0x80);
        signal = at_call ? 0 : WSTOPSIG(status);
        if (at_call && observation.on) note(observation, child);
    }
}

bool sees(Observation& observation) {
    {
        const Observed observed{observation};
        void* volatile memory = std::malloc(1000); // or the compiler would leave it out
        std::free(memory);
        memory = ::operator new(8);
        ::operator delete(memory);
        getppid();
    }
    if (observation.allocations == 4 && observation.system_calls == 1) return true;
    std::printf("%lu of 4 allocations and %lu of 1 system calls were seen\n",
                observation.allocations, observation.system_calls);
    return false;
}

} // namespace counts
