// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What the endpoints of this user on this host are doing, while they do it.

#include "fabtests_ext/support/command_line.hpp"
#include "tools/top_lines.hpp"

#include <cstdio>
#include <thread>
#include <unistd.h>

namespace {

using namespace odrc;
using Clock = std::chrono::steady_clock;

struct Options {
    double seconds{2};
    uint64_t looks{0}; // 0: until somebody ends it
    pid_t pid{0};
    bool json{false};
};

// What all endpoints had counted at some time.
struct Look {
    std::vector<EndpointSeen> endpoints;
    Clock::time_point at;

    explicit Look(pid_t pid)
        : endpoints{see_endpoints(pid)}
        , at{Clock::now()} {}
    const EndpointSeen* find(const EndpointSeen& other) const noexcept {
        const auto same = [&](const EndpointSeen& e) {
            return e.pid == other.pid && e.opened_ns == other.opened_ns &&
                   e.address == other.address;
        };
        const auto found = std::find_if(endpoints.begin(), endpoints.end(), same);
        return found == endpoints.end() ? nullptr : &*found;
    }
};

std::string shown(const Look& before, const Look& now, bool json) {
    const double seconds = std::chrono::duration<double>(now.at - before.at).count();
    std::string all = json ? "" : top::heading();
    for (const EndpointSeen& endpoint : now.endpoints) {
        const EndpointSeen* earlier = before.find(endpoint);
        all += json ? top::json(endpoint)
                    : top::lines(endpoint, earlier && seconds > 0
                                               ? top::rates(*earlier, endpoint, seconds)
                                               : top::Rates{});
    }
    return all;
}

void run(const Options& options) {
    const bool screen = !options.json && options.looks == 0 && isatty(STDOUT_FILENO);
    Look before{options.pid};
    for (uint64_t n = 1;; ++n) {
        const Look now{options.pid};
        // Clears the screen, and begins at its top.
        std::printf("%s%s", screen ? "\033[H\033[2J" : "",
                    shown(before, now, options.json).c_str());
        std::fflush(stdout);
        if (n == options.looks) return;
        std::this_thread::sleep_for(std::chrono::duration<double>(options.seconds));
        before = now;
    }
}

} // namespace

int main(int argc, char** argv) {
    Options options;
    fabtests_ext::CommandLine command{"What the endpoints of this user on this host are doing"};
    command.option("-i,--interval", options.seconds, "seconds between two looks").positive();
    command.option("-n,--count", options.looks, "how many looks (default: without end)").positive();
    command.option("-p,--pid", options.pid, "those of this process alone").positive();
    command.flag("-j,--json", options.json,
                 "all that is known of each, as a line of JSON with the names of the profile");
    if (!command.read(argc, argv)) return command.status();
    run(options);
}
