// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "tools/odrc_plan_lines.hpp"

#include "base/format.hpp"
#include "ondemand/wireup_message.hpp"
#include "tools/short_number.hpp"

namespace odrc::plan {
namespace {

double bytes_of(double datagrams) noexcept {
    return datagrams * static_cast<double>(ondemand::kWireupBytes);
}

double of_job(const Needs& n, double of_process) noexcept {
    return static_cast<double>(n.processes) * of_process;
}

std::string duration(double seconds) {
    if (seconds < 1) return odrc::format("{:.3g} ms", seconds * 1e3);
    return seconds < 999.5 ? odrc::format("{:.3g} s", seconds)
                           : odrc::format("{:.3g} h", seconds / 3600);
}

std::string number(double value) { return short_number(value); }
std::string number(uint64_t value) { return short_number(static_cast<double>(value)); }

} // namespace

std::string heading() {
    return odrc::format(
        "{:>9} {:<9} {:>8} {:>11} {:>8} {:>8} {:>8} {:>7} {:>8} {:>8} {:>8} {:>8}\n", "PROCESSES",
        "CONNECT", "START", "FIRST WORDS", "PUBL-B", "JOB-B", "TOLD-B", "QP", "HOST-QP", "MEM-B",
        "DGRAMS", "WIRE-B");
}

std::string line(const Needs& n) {
    return odrc::format(
        "{:>9} {:<9} {:>8} {:>11} {:>8} {:>8} {:>8} {:>7} {:>8} {:>8} {:>8} {:>8}\n", n.processes,
        name_of(n.way) + std::string{n.way == Way::ondemand || n.why_not.empty() ? "" : " *"},
        duration(n.start()), duration(n.first), number(n.published),
        number(of_job(n, static_cast<double>(n.published))), number(n.held), number(n.queue_pairs),
        number(n.queue_pairs_of_host), number(n.memory), number(n.datagrams),
        number(bytes_of(n.datagrams)));
}

std::string json(const Needs& n) {
    return odrc::format(
        R"({{"processes":{},"connect":"{}","possible":{},"by_itself":{},"start_s":{:.6g},)"
        R"("launch_s":{:.6g},"creation_s":{:.6g},"exchange_s":{:.6g},"connection_s":{:.6g},)"
        R"("first_words_s":{:.6g},"published_bytes":{},"published_bytes_job":{:.0f},)"
        R"("told_bytes":{},"connections":{},"queue_pairs":{},"queue_pairs_host":{},)"
        R"("memory_bytes":{},"buffer_bytes":{},"wireup_datagrams":{:.6g},)"
        R"("wireup_datagrams_job":{:.0f},"wireup_bytes":{:.6g}}})"
        "\n",
        n.processes, name_of(n.way), n.way == Way::ondemand || n.why_not.empty(), n.by_itself,
        n.start(), n.launch, n.creation, n.exchange, n.connection, n.first, n.published,
        of_job(n, static_cast<double>(n.published)), n.held, n.connections, n.queue_pairs,
        n.queue_pairs_of_host, n.memory, n.buffers, n.datagrams, of_job(n, n.datagrams),
        bytes_of(n.datagrams));
}

} // namespace odrc::plan
