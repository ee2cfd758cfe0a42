// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/profile.hpp"

#include "base/fd.hpp"
#include "base/log.hpp"
#include "base/parameters.hpp"

#include <array>
#include <fcntl.h>

namespace odrc::ofi {
namespace {

struct Line {
    const char* name;
    uint64_t value;
};

auto lines_of(const transfer::Engine& engine) noexcept {
    const Counters& c = engine.counters();
    return std::array{Line{"peers", c.peers},
                      Line{"connections_made", c.connections_made},
                      Line{"connections_peak", c.connections_peak},
                      Line{"connections_answered", c.connections_answered},
                      Line{"connections_crossed", c.connections_crossed},
                      Line{"connections_evicted", c.connections_evicted},
                      Line{"connections_replaced", c.connections_replaced},
                      Line{"repeats_dropped", c.repeats_dropped},
                      Line{"line_ns", c.line_ns},
                      Line{"request_ns", c.request_ns},
                      Line{"accept_ns", c.accept_ns},
                      Line{"leave_ns", c.leave_ns},
                      Line{"published_bytes", c.published_bytes},
                      Line{"wireup_datagrams", c.wireup_datagrams},
                      Line{"wireup_bytes", c.wireup_bytes},
                      Line{"wireup_refused", c.wireup_refused},
                      Line{"messages_sent", c.messages_sent},
                      Line{"messages_received", c.messages_received},
                      Line{"bytes_sent", c.bytes_sent},
                      Line{"bytes_received", c.bytes_received},
                      Line{"rma_operations", c.rma_operations},
                      Line{"rma_bytes", c.rma_bytes},
                      Line{"atomics", c.atomics},
                      Line{"posts", c.posts},
                      Line{"unexpected", c.unexpected},
                      Line{"registrations", c.registrations},
                      Line{"registrations_found", c.registrations_found},
                      Line{"memory_bytes_peak", c.memory_bytes_peak},
                      Line{"rnr", engine.rnr_naks()}};
}

std::string as_json(const verbs::Port& port, const transfer::Engine& engine) {
    std::string json = odrc::format(R"({{"device":"{}")", port.name());
    for (const Line& line : lines_of(engine))
        json += odrc::format(R"(,"{}":{})", line.name, line.value);
    return json + "}\n";
}

std::string as_table(const verbs::Port& port, const transfer::Engine& engine) {
    std::string table = odrc::format("odrc endpoint {} on {}, process {}\n",
                                     engine.address().text(), port.name(), getpid());
    for (const Line& line : lines_of(engine))
        table += odrc::format("  {:<20} {:>16}\n", line.name, line.value);
    return table;
}

} // namespace

void report_profile(const verbs::Port& port, const transfer::Engine& engine) noexcept {
    const std::string& where = parameters().profile;
    if (where.empty()) return;
    try {
        // One write of the whole text: processes that report at once do not mix their lines.
        const bool table = where == "1";
        const std::string text = table ? as_table(port, engine) : as_json(port, engine);
        const std::string path = odrc::format("{}.{}", where, getpid());
        const Fd file{table ? dup(STDERR_FILENO)
                            : open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)};
        if (!file || write(file.get(), text.data(), text.size()) < 0)
            ODRC_WARN(FI_LOG_EP_CTRL, "{}: the profile cannot be written to {}: {}", port.name(),
                      path, fi_strerror(errno));
    } catch (const std::bad_alloc&) {
        ODRC_WARN(FI_LOG_EP_CTRL, "{}: no memory for the profile", port.name());
    }
}

} // namespace odrc::ofi
