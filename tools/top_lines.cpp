// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "tools/top_lines.hpp"

#include "base/counter_names.hpp"
#include "base/format.hpp"
#include "tools/short_number.hpp"

namespace odrc::top {
namespace {

struct Column {
    const char* name;
    uint64_t Counters::*value;
};
constexpr Column kColumns[] = {
    {"PEERS", &Counters::peers},
    {"CONN", &Counters::connections},
    {"LINE", &Counters::connections_waiting},
    {"WIRING", &Counters::connections_wiring},
    {"LEAVE", &Counters::connections_leaving},
    {"MADE", &Counters::connections_made},
    {"ANSW", &Counters::connections_answered},
    {"CROSS", &Counters::connections_crossed},
    {"EVICT", &Counters::connections_evicted},
    {"REPL", &Counters::connections_replaced},
    {"DGRAMS", &Counters::wireup_datagrams},
    {"WIRE-B", &Counters::wireup_bytes},
    {"SENT", &Counters::messages_sent},
    {"RECV", &Counters::messages_received},
    {"OUT-B", &Counters::bytes_sent},
    {"IN-B", &Counters::bytes_received},
    {"RMA", &Counters::rma_operations},
    {"MEM-B", &Counters::memory_bytes},
    {"PK-OUT", &Counters::packets_sent},
    {"AGAIN", &Counters::packets_repeated},
    {"ACKS", &Counters::acknowledgements},
    {"PK-IN", &Counters::packets_received},
};

uint64_t messages(const Counters& c) noexcept {
    return c.messages_sent + c.messages_received + c.rma_operations + c.atomics;
}
uint64_t bytes(const Counters& c) noexcept { return c.bytes_sent + c.bytes_received + c.rma_bytes; }

int64_t milliseconds(std::chrono::nanoseconds time) noexcept { return time.count() / 1'000'000; }

// The name of a program can be anything.
std::string quoted(const std::string& text) {
    std::string all = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') all += '\\';
        all += static_cast<unsigned char>(c) < ' ' ? '?' : c;
    }
    return all + '"';
}

} // namespace

Rates rates(const EndpointSeen& before, const EndpointSeen& now, double seconds) noexcept {
    const auto per_second = [&](auto&& count) {
        return static_cast<double>(count(now.counters) - count(before.counters)) / seconds;
    };
    return {.messages = per_second(messages), .bytes = per_second(bytes)};
}

std::string heading() {
    std::string line =
        odrc::format("{:>7} {:<15} {:<10} {:<21}", "PID", "COMMAND", "DEVICE", "ADDRESS");
    for (const Column& column : kColumns) line += odrc::format(" {:>6}", column.name);
    return line + odrc::format(" {:>6} {:>6} {:>6}\n", "DROP", "MSG/S", "B/S");
}

std::string lines(const EndpointSeen& e, const Rates& rates) {
    const std::string address = e.address.substr(e.address.rfind('/') + 1);
    std::string all =
        odrc::format("{:>7} {:<15} {:<10} {:<21}", e.pid, e.command, e.device, address);
    for (const Column& column : kColumns)
        all += odrc::format(" {:>6}", short_number(static_cast<double>(e.counters.*column.value)));
    all += odrc::format(" {:>6} {:>6} {:>6}\n",
                        short_number(static_cast<double>(e.counters.packets_dropped())),
                        short_number(rates.messages), short_number(rates.bytes));
    for (const StallSeen& stall : e.stalls)
        all += odrc::format("        the connection to {} takes its time: it is {}, after {} ms "
                            "and {} datagrams\n",
                            stall.peer, stall.state, milliseconds(stall.age), stall.datagrams);
    return all;
}

std::string json(const EndpointSeen& e) {
    std::string line = odrc::format(R"({{"pid":{},"command":{},"device":{},"address":{})", e.pid,
                                    quoted(e.command), quoted(e.device), quoted(e.address));
    for (const CounterName& counter : kCounterNames)
        line += odrc::format(R"(,"{}":{})", counter.name, e.counters.*counter.value);
    line += R"(,"stalled":[)";
    for (const StallSeen& stall : e.stalls)
        line += odrc::format(R"({}{{"peer":{},"state":{},"datagrams":{},"ms":{}}})",
                             &stall == &e.stalls.front() ? "" : ",", quoted(stall.peer),
                             quoted(stall.state), stall.datagrams, milliseconds(stall.age));
    return line + "]}\n";
}

} // namespace odrc::top
