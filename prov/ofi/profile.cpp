// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/profile.hpp"

#include "base/counter_names.hpp"
#include "base/fd.hpp"
#include "base/log.hpp"
#include "base/parameters.hpp"

#include <fcntl.h>

namespace odrc::ofi {
namespace {

// What is left to say of each number when all is over, and of the device's own.
template <class Report>
void for_each_number(const transfer::Engine& engine, Report&& report) {
    for (const CounterName& counter : kCounterNames)
        if (!counter.of_now) report(counter.name, engine.counters().*counter.value);
    report("rnr", engine.rnr_naks());
}

std::string bound_of(size_t size_class) {
    return size_class < BySize::kBounds.size() ? odrc::format("{}", BySize::kBounds[size_class])
                                               : "more";
}

std::string as_json(const BySize& by_size) {
    std::string json;
    for (size_t i = 0; i < BySize::kClasses; ++i)
        json += odrc::format(R"({}"{}":{{"messages":{},"bytes":{}}})", i > 0 ? "," : "{",
                             bound_of(i), by_size.classes[i].messages, by_size.classes[i].bytes);
    return json + "}";
}

// As the memory study of 2006 has it for applications: how much of which size.
std::string as_table(const Traffic& sent) {
    std::string table = odrc::format(
        "  {:<11} {:>12} {:>16} {:>12} {:>16} {:>12} {:>16} {:>12} {:>16}\n", "sent, up to",
        "messages", "bytes", "by ring", "bytes", "in slices", "bytes", "announced", "bytes");
    for (size_t i = 0; i < BySize::kClasses; ++i)
        table +=
            odrc::format("  {:<11} {:>12} {:>16} {:>12} {:>16} {:>12} {:>16} {:>12} {:>16}\n",
                         bound_of(i), sent.eager.classes[i].messages, sent.eager.classes[i].bytes,
                         sent.ring.classes[i].messages, sent.ring.classes[i].bytes,
                         sent.sliced.classes[i].messages, sent.sliced.classes[i].bytes,
                         sent.announced.classes[i].messages, sent.announced.classes[i].bytes);
    return table;
}

std::string as_json(const verbs::Port& port, const transfer::Engine& engine) {
    std::string json = odrc::format(R"({{"device":"{}")", port.name());
    for_each_number(engine, [&](const char* name, uint64_t value) {
        json += odrc::format(R"(,"{}":{})", name, value);
    });
    const Traffic& sent = engine.traffic();
    return json + ",\"sent_eager\":" + as_json(sent.eager) +
           ",\"sent_ring\":" + as_json(sent.ring) + ",\"sent_sliced\":" + as_json(sent.sliced) +
           ",\"sent_announced\":" + as_json(sent.announced) + "}\n";
}

std::string as_table(const verbs::Port& port, const transfer::Engine& engine) {
    std::string table = odrc::format("odrc endpoint {} on {}, process {}\n",
                                     engine.address().text(), port.name(), getpid());
    for_each_number(engine, [&](const char* name, uint64_t value) {
        table += odrc::format("  {:<24} {:>16}\n", name, value);
    });
    const Counters& c = engine.counters();
    const double all = static_cast<double>(std::max<uint64_t>(c.messages_received, 1));
    table += odrc::format("  {:<24} {:>16.2f}\n", "unexpected, per cent",
                          100 * static_cast<double>(c.unexpected) / all);
    return table + as_table(engine.traffic());
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
