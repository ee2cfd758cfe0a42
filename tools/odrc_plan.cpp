// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What a job of so many processes will take, before it is there: how long its start, and how many
// bytes, queue pairs, datagrams and how much memory.

#include "base/error.hpp"
#include "base/format.hpp"
#include "fabtests_ext/support/command_line.hpp"
#include "tools/odrc_plan_lines.hpp"
#include "tools/odrc_plan_measure.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace {

using namespace odrc;
using namespace odrc::plan;

constexpr uint64_t kMostProcesses = uint64_t{1} << 20; // as our MPI has
constexpr uint64_t kStep = 4;                          // from one size to the next

struct Options {
    uint64_t processes{1'000'000};
    uint64_t least{4};
    uint64_t per_host{0}; // 0: as many as it has processors
    double peers{-1};     // -1: as many as recursive doubling has
    std::string device{"soft0"};
    std::vector<std::string> files;
    std::vector<std::string> costs;
    std::string measured;
    bool numbers{false};
    bool json{false};
};

// Costs of a file: one on a line, and what is behind a # is for who reads it.
void read(const std::string& path, Costs& costs) {
    std::ifstream file{path};
    if (!file) throw std::runtime_error{path + ": cannot be read"};
    for (std::string line; std::getline(file, line);) {
        line.resize(std::min(line.size(), line.find('#')));
        line.resize(line.find_last_not_of(" \t\r") + 1);
        if (!line.empty() && !set_cost(costs, line))
            throw std::runtime_error{path + ": no cost: " + line};
    }
}

Costs costs_of(const Options& options) {
    Costs costs = *built_in(options.device);
    for (const std::string& path : options.files) read(path, costs);
    for (const std::string& text : options.costs)
        if (!set_cost(costs, text)) throw std::runtime_error{"--cost: no cost: " + text};
    return costs;
}

// As read() takes them.
void print(const Costs& costs) {
    for (const CostName& cost : cost_names())
        std::printf("%-16s %-12.6g # %s\n", cost.name, costs.*cost.value, cost.what);
}

// Which of the sizes is the first of which something holds, for a line below the table.
class Notes {
public:
    void look(const Needs& n) {
        if (n.way != Way::all) return;
        if (n.by_itself) by_itself_ = n.processes;
        if (!n.why_not.empty() && why_not_.empty())
            why_not_ = odrc::format("* from {} on the provider connects on demand whatever it is "
                                    "told: {}\n",
                                    n.processes, n.why_not);
    }
    std::string text() const {
        std::string text = why_not_;
        if (by_itself_)
            text += odrc::format("Where the program asks for addresses of odrc's format, up to {} "
                                 "of these are connected all to all without being told\n",
                                 by_itself_);
        return text;
    }

private:
    std::string why_not_;
    uint64_t by_itself_{0};
};

void run(const Options& options) {
    const Costs costs = costs_of(options);
    const uint64_t per_host =
        options.per_host ? options.per_host : static_cast<uint64_t>(costs.processors);
    Notes notes;
    if (!options.json) std::fputs(heading().c_str(), stdout);
    const uint64_t first = std::min(options.least, options.processes);
    for (uint64_t size = first;; size = std::min(size * kStep, options.processes)) {
        const double doublings = std::ceil(std::log2(static_cast<double>(size)));
        const Job job{size, per_host, options.peers < 0 ? doublings : options.peers};
        for (const Way way : {Way::ondemand, Way::all, Way::numbers}) {
            if (way == Way::numbers && !options.numbers) continue;
            const Needs n = needs(costs, parameters(), job, way);
            std::fputs((options.json ? json(n) : line(n)).c_str(), stdout);
            notes.look(n);
        }
        if (size == options.processes) break;
    }
    if (!options.json) std::fputs(notes.text().c_str(), stdout);
}

void run_measurement(const Options& options) {
    Costs costs = costs_of(options);
    try {
        measure(options.measured, costs);
    } catch (const Error& error) {
        throw std::runtime_error{options.measured + ": " + fi_strerror(error.code())};
    }
    print(costs);
}

} // namespace

int main(int argc, char** argv) {
    Options options;
    fabtests_ext::CommandLine command{
        "What a job takes to start and to connect, before it is there"};
    command.option("-n,--processes", options.processes, "of the largest job")
        .within(1, kMostProcesses);
    command.option("-f,--from", options.least, "of the smallest; in between, four times as many")
        .within(1, kMostProcesses);
    command
        .option("-p,--per-host", options.per_host,
                "processes of a host (default: as many as it has processors)")
        .positive();
    command
        .option("-t,--peers", options.peers,
                "to whom each process talks (default: as in a barrier, log N)")
        .not_negative();
    command.option("-d,--device", options.device, "whose costs are taken: soft0 or frontera")
        .checked_by([](const std::string& name) {
            return built_in(name) ? std::string{} : "no costs are known of it";
        });
    command.option("-C,--costs", options.files, "files of costs, which go before the device's");
    command.option("-c,--cost", options.costs, "NAME=VALUE, which go before those of files");
    command.option("-m,--measure", options.measured,
                   "nothing but: the costs, with those measured that queue pairs have on this "
                   "device here");
    command.flag("-N,--numbers", options.numbers,
                 "likewise all to all where each number is published, not ranges");
    command.flag("-j,--json", options.json, "each job and way as a line of JSON");
    if (!command.read(argc, argv)) return command.status();
    try {
        define_parameters();
        options.measured.empty() ? run(options) : run_measurement(options);
    } catch (const std::runtime_error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
