// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What single steps of the runtimes take: a message there and back, a clean write miss, a call of
// nothing, an update of a replicated object; and how much they carry. See bench/layers.

#include "bench/patterns/calls.hpp"
#include "bench/patterns/group.hpp"
#include "bench/patterns/program.hpp"
#include "bench/patterns/regions.hpp"
#include "bench/patterns/total_order.hpp"

namespace bench {
namespace {

struct Options : Setting {
    uint32_t times{2000};
    size_t bytes{32768}; // where it is throughput that counts
    Ordering ordering;
};

class Steps {
public:
    Steps(fabtests_ext::Team& team, const Options& options)
        : options_{options}
        , process_{team, options, options.bytes + 64, options.ordering.groups()}
        , messenger_{process_.messenger}
        , data_(options.bytes) {}

    int run() {
        messages_there_and_back();
        messages_one_way();
        misses(kSmall);
        misses(options_.bytes);
        calls();
        messages_to_all();
        if (Group::carries(messenger_, options_.bytes)) messages_to_group();
        updates();
        return process_.conclude(true);
    }

private:
    static constexpr size_t kSmall = 8;

    // Body is called so many times, after some that do not count; what it does of a step is what
    // this process has to do. Gives the seconds that a step took.
    template <class Body>
    double seconds(uint32_t before, Body&& body) {
        for (uint32_t i = 0; i < before; ++i) body(i);
        process_.agreement.barrier();
        const fabtests_ext::Stopwatch stopwatch;
        for (uint32_t i = 0; i < options_.times; ++i) body(before + i);
        process_.agreement.barrier();
        return stopwatch.nanoseconds() / 1e9 / options_.times;
    }

    void report_latency(const char* name, double seconds) {
        if (process_.rank() == 0) std::printf("%s.latency %.4g us\n", name, seconds * 1e6);
    }
    void report_throughput(const char* name, double seconds) {
        if (process_.rank() != 0) return;
        std::printf("%s.throughput %.4g MB/s\n", name, double(options_.bytes) / seconds / 1e6);
    }

    bool speaks() const noexcept { return process_.rank() == 1 % process_.size(); }

    // From member 1 to member 0 and back.
    void messages_there_and_back() {
        uint32_t come = 0;
        messenger_.on(Kind::jobs, [&](int from, Bytes body) {
            ++come;
            if (process_.rank() == 0) messenger_.send(from, Kind::jobs, {body});
        });
        process_.agreement.barrier();
        const Bytes small{data_.data(), kSmall};
        report_latency("message", seconds(kBefore, [&](uint32_t i) {
                           if (!speaks()) return;
                           messenger_.send(0, Kind::jobs, {small});
                           messenger_.wait_until([&] { return come > i; });
                       }));
    }

    // A window of them at a time, which is answered.
    void messages_one_way() {
        constexpr uint32_t kWindow = 16;
        uint32_t come = 0;
        messenger_.on(Kind::jobs, [&](int from, Bytes) {
            if (++come % kWindow == 0 && process_.rank() == 0)
                messenger_.send(from, Kind::jobs, {});
        });
        process_.agreement.barrier();
        report_throughput("message", seconds(kBefore, [&](uint32_t i) {
                              if (process_.rank() == 0)
                                  messenger_.wait_until([&] { return come > i; });
                              if (!speaks()) return;
                              messenger_.send(0, Kind::jobs, {data_});
                              if ((i + 1) % kWindow == 0)
                                  messenger_.wait_until([&] { return come == (i + 1) / kWindow; });
                          }));
    }

    // Of regions that nobody has had yet.
    void misses(size_t bytes) {
        Regions regions{messenger_, kBefore + options_.times, bytes, [](Regions::Id) { return 0; }};
        process_.agreement.barrier();
        const double time = seconds(kBefore, [&](uint32_t i) {
            if (speaks()) regions.write(i);
        });
        if (bytes == kSmall)
            report_latency("write_miss", time);
        else
            report_throughput("write_miss", time);
    }

    void calls() {
        Calls calls{messenger_, [](Bytes, auto&) {}};
        process_.agreement.barrier();
        report_latency("call", seconds(kBefore, [&](uint32_t) {
                           if (speaks()) calls.call(0, {});
                       }));
        report_throughput("call", seconds(kBefore, [&](uint32_t) {
                              if (speaks()) calls.call(0, data_);
                          }));
    }

    // In messages of their own.
    void messages_to_all() {
        uint32_t come = 0;
        messenger_.on(Kind::jobs, [&](int, Bytes) { ++come; });
        process_.agreement.barrier();
        broadcasts("broadcast", come, [&](Bytes bytes) {
            for (int to = 0; to < process_.size(); ++to) messenger_.send(to, Kind::jobs, {bytes});
        });
    }

    // By the provider, and in no order of all: who sends one does not get it.
    void messages_to_group() {
        uint32_t come = 0;
        Group group{messenger_, [&](int, Bytes) { ++come; }};
        process_.agreement.barrier();
        broadcasts("group", come, [&](Bytes bytes) {
            group.send(bytes, 0);
            ++come;
        });
    }

    void updates() {
        uint32_t come = 0;
        const auto order =
            make_order(options_.ordering, messenger_, options_.bytes, [&](int, Bytes) { ++come; });
        process_.agreement.barrier();
        broadcasts("update", come, [&](Bytes bytes) { order->broadcast(bytes); });
    }

    // Each is begun by the next member when it has the one before.
    template <class Broadcast>
    void broadcasts(const char* name, const uint32_t& come, Broadcast&& broadcast) {
        const uint32_t each = kBefore + options_.times;
        const auto one = [&](uint32_t number, Bytes bytes) {
            if (int(number % uint32_t(process_.size())) == process_.rank()) broadcast(bytes);
            messenger_.wait_until([&] { return come > number; });
        };
        const Bytes small{data_.data(), kSmall};
        report_latency(name, seconds(kBefore, [&](uint32_t i) { one(i, small); }));
        report_throughput(name, seconds(kBefore, [&](uint32_t i) { one(each + i, data_); }));
    }

    static constexpr uint32_t kBefore = 100; // steps until all have met

    const Options& options_;
    Process process_;
    Messenger& messenger_;
    std::vector<std::byte> data_;
};

} // namespace
} // namespace bench

int main(int argc, char** argv) {
    bench::Options options;
    options.processes = 2;
    fabtests_ext::CommandLine command{"What single steps of parallel-programming systems take."};
    bench::add_setting(command, options);
    command.option("-i,--iterations", options.times).positive();
    command.option("-s,--size", options.bytes, "where it is throughput that counts")
        .within(64, 1 << 20);
    bench::add_ordering(command, options.ordering);
    if (!command.read(argc, argv)) return command.status();
    return fabtests_ext::run_team(options.processes, [&](auto& team) {
        return bench::Steps{team, options}.run();
    });
}
