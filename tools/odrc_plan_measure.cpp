// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "tools/odrc_plan_measure.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/host.hpp"
#include "base/watchdog.hpp"
#include "ofi/devices.hpp"
#include "ondemand/lane.hpp"
#include "transfer/limits.hpp"
#include "verbs_rc/creation.hpp"

#include <algorithm>
#include <fstream>
#include <unistd.h>

namespace odrc::plan {
namespace {

constexpr size_t kMade = 1024;

double seconds_since(Time then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
}

// With what devices share with this process.
double memory_in_use() {
    double pages = 0, resident = 0;
    std::ifstream{"/proc/self/statm"} >> pages >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

} // namespace

void measure(const std::string& name, Costs& costs) {
    const verbs::Device* device = ofi::find_device(name.c_str());
    if (!device) throw Error{FI_ENODEV};
    Watchdog watchdog;
    verbs::Adapter adapter{*device, Gate::Kind::many_threads, watchdog};
    const auto most = static_cast<size_t>(std::max(adapter.port().device_attr.max_qp, 1));
    const size_t count = std::min(kMade, std::max<size_t>(most / 2, 1));
    const verbs::Cq cq{adapter.context(), adapter.context().create_cq(1024, nullptr, nullptr)};
    ibv_srq_init_attr init{};
    init.attr = {.max_wr = 256, .max_sge = 1, .srq_limit = 0};
    const verbs::Srq srq{adapter.context(), adapter.context().create_srq(adapter.pd(), &init)};
    if (!cq || !srq) throw Error{errno};
    const verbs::QueuePairKind kind{
        adapter,
        cq.get(),
        srq.get(),
        {ondemand::kFirstDepth, static_cast<uint32_t>(transfer::iov_limit(adapter.port()))},
        IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE};

    std::vector<verbs::QueuePair> made;
    const double before = memory_in_use();
    Time then = Clock::now();
    verbs::create(kind, count, 1, made);
    costs.qp_create = seconds_since(then) / static_cast<double>(count);
    costs.qp_bytes = std::max(memory_in_use() - before, 0.0) / static_cast<double>(count);
    then = Clock::now();
    for (verbs::QueuePair& qp : made) // each to itself, which costs as much as to another
        if (const int error = qp.connect(qp.address())) throw Error{error};
    costs.qp_connect = seconds_since(then) / static_cast<double>(count);
    made.clear();

    const size_t processors = processors_of_this_host();
    then = Clock::now();
    verbs::create(kind, count, std::min<size_t>(processors, 16), made);
    costs.qp_parallel =
        std::max(costs.qp_create * static_cast<double>(count) / seconds_since(then), 1.0);
    costs.max_qp = static_cast<double>(most);
    costs.processors = static_cast<double>(processors);
    costs.this_host_only = adapter.port().this_host_only;
}

} // namespace odrc::plan
