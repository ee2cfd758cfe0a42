// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "verbs_rc/turn.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <thread>

namespace odrc::verbs {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 5s;
constexpr auto kLookEvery = 100us;

} // namespace

// The lock is the kernel's, on a file of no content: nothing has to be cleaned up after a process
// that was killed with its turn.
Turn::Turn(const Port& port) noexcept {
    int error = 0;
    guarded([&] {
        const std::string name = odrc::format("/dev/shm/odrc-{}-{}", geteuid(), port.device);
        file_ = Fd{open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)};
        error = errno;
        return 0;
    });
    const Time end = Clock::now() + kPatience;
    while (file_ && flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
        error = errno;
        if (error != EWOULDBLOCK || Clock::now() >= end) file_ = {};
        std::this_thread::sleep_for(kLookEvery);
    }
    if (!file_)
        ODRC_INFO(FI_LOG_EP_CTRL, "{}: queue pairs are made out of turn: {}", port.name(),
                  fi_strerror(error));
}

} // namespace odrc::verbs
