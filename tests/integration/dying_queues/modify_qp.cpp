// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Preloaded, it kills reliable queue pairs at random: every KILL_EVERY milliseconds or so, one of
// those of the process that may send goes to the error state, and neither side has asked for it.
// Which one, and when, differs from process to process.

#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <mutex>
#include <random>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

// Whoever holds it may be sure that those in the list live, and are left as they are.
std::mutex mutex;
// It outlives all destructors, as the thread does.
std::vector<ibv_qp*>& living() {
    static auto& all = *new std::vector<ibv_qp*>;
    return all;
}

int modify(ibv_qp* qp, ibv_qp_attr* attr, int mask) {
    static const auto call = reinterpret_cast<decltype(&modify)>(dlsym(RTLD_NEXT, "ibv_modify_qp"));
    return call(qp, attr, mask);
}

[[noreturn]] void kill_some(std::chrono::milliseconds every) {
    std::minstd_rand dice{static_cast<unsigned>(getpid())};
    for (;;) {
        std::this_thread::sleep_for(every * (1 + dice() % 100) / 50);
        const std::lock_guard lock{mutex};
        if (living().empty()) continue;
        const auto victim = living().begin() + static_cast<long>(dice() % living().size());
        ibv_qp_attr attr{};
        attr.qp_state = IBV_QPS_ERR;
        modify(*victim, &attr, IBV_QP_STATE);
        living().erase(victim);
    }
}

void begin() {
    static std::once_flag once;
    std::call_once(once, [] {
        if (const char* every = std::getenv("KILL_EVERY"))
            std::thread{kill_some, std::chrono::milliseconds{std::atoi(every)}}.detach();
    });
}

} // namespace

extern "C" int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) {
    const std::lock_guard lock{mutex};
    const int error = modify(qp, attr, mask);
    if (error || !(mask & IBV_QP_STATE) || qp->qp_type != IBV_QPT_RC) return error;
    std::erase(living(), qp);
    if (attr->qp_state == IBV_QPS_RTS) {
        living().push_back(qp);
        begin();
    }
    return 0;
}

extern "C" int ibv_destroy_qp(ibv_qp* qp) {
    static const auto call =
        reinterpret_cast<decltype(&ibv_destroy_qp)>(dlsym(RTLD_NEXT, "ibv_destroy_qp"));
    {
        const std::lock_guard lock{mutex};
        std::erase(living(), qp);
    }
    return call(qp);
}
