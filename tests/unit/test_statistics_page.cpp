// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "base/counter_names.hpp"
#include "base/statistics_page.hpp"
#include "base/statistics_reader.hpp"
#include "fork.hpp"
#include "tools/short_number.hpp"
#include "tools/top_lines.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <memory>
#include <set>
#include <string_view>
#include <sys/resource.h>

using namespace odrc;
using namespace std::chrono_literals;

namespace {

std::vector<EndpointSeen> on_device(const char* device, pid_t pid = getpid()) {
    auto all = see_endpoints(pid);
    std::erase_if(all, [&](const EndpointSeen& e) { return e.device != device; });
    return all;
}

} // namespace

TEST_CASE("what is counted is seen while it is counted") {
    OwnStatistics own;
    CHECK(on_device("seen0").empty()); // it is nobody's yet
    own->open("seen0", "fi_sockaddr_in://127.0.0.1:4711");
    own->counters.messages_sent = 17;
    auto seen = on_device("seen0");
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].pid == getpid());
    CHECK(seen[0].address == "fi_sockaddr_in://127.0.0.1:4711");
    CHECK(seen[0].command.starts_with("unit_tests"));
    CHECK(seen[0].counters.messages_sent == 17);
    CHECK(seen[0].stalls.empty());
    ++own->counters.messages_sent;
    CHECK(on_device("seen0")[0].counters.messages_sent == 18);
    CHECK(std::ranges::any_of(see_endpoints(), [](auto& e) { return e.device == "seen0"; }));
}

TEST_CASE("pages come and go, and are zero when they come again") {
    std::vector<std::unique_ptr<OwnStatistics>> pages(5);
    for (int round = 0; round < 3; ++round) {
        for (auto& page : pages) {
            page = std::make_unique<OwnStatistics>();
            CHECK((*page)->counters.posts == 0);
            (*page)->open("many0", "somewhere");
            (*page)->counters.posts = 7;
        }
        CHECK(on_device("many0").size() == 5);
        pages[2].reset();
        CHECK(on_device("many0").size() == 4);
        for (auto& page : pages) page.reset();
        CHECK(on_device("many0").empty());
    }
}

TEST_CASE("a device's name that is too long is cut") {
    OwnStatistics own;
    own->open(std::string(200, 'd'), std::string(200, 'a'));
    CHECK(on_device(std::string(63, 'd').c_str()).size() == 1);
}

TEST_CASE("without a file to be had, an endpoint counts where nobody sees it") {
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    const pid_t child = rig::fork_child([&] { // which has no file of its own yet
        const rlimit none{0, before.rlim_max};
        setrlimit(RLIMIT_NOFILE, &none);
        OwnStatistics own;
        own->open("blind0", "nowhere");
        ++own->counters.posts;
        setrlimit(RLIMIT_NOFILE, &before);
        if (own->counters.posts != 1 || !on_device("blind0").empty()) throw 1;
    });
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
}

TEST_CASE("a child that was forked has pages of its own, and leaves its parent's alone") {
    auto own = std::make_unique<OwnStatistics>();
    (*own)->open("parent0", "here");
    (*own)->counters.posts = 3;
    const rig::BoardMemory board;
    const pid_t child = rig::fork_child([&] {
        if (!on_device("parent0").empty()) throw 1; // it is not the child's
        auto second = std::make_unique<OwnStatistics>();
        (*second)->open("child0", "there");
        own.reset();
        board.board->child_connected = true;
        while (!board.board->done) sched_yield();
    });
    while (!board.board->child_connected && waitpid(child, nullptr, WNOHANG) == 0) sched_yield();
    CHECK(on_device("child0", child).size() == 1);
    CHECK(on_device("child0").empty());
    REQUIRE(on_device("parent0").size() == 1);
    CHECK(on_device("parent0")[0].counters.posts == 3);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    CHECK(on_device("child0", child).empty());
}

TEST_CASE("the oldest stalls are seen, as many as there is room for") {
    OwnStatistics own;
    own->open("stall0", "here");
    const Time now = Clock::now();
    std::vector<uint8_t> places;
    for (int i = 0; i < 8; ++i)
        places.push_back(own->stall("peer" + std::to_string(i), now - 1s * (10 - i)));
    CHECK(std::set(places.begin(), places.end()).size() == 8);
    CHECK(own->stall("one more", now) == 0);
    own->stall_goes_on(0, "nowhere", 1); // of one that has no place
    own->stall_is_over(0);
    own->stall_goes_on(places[3], "requested", 5);
    auto stalls = on_device("stall0")[0].stalls;
    REQUIRE(stalls.size() == 8);
    CHECK(stalls[0].peer == "peer0");
    CHECK(stalls[0].age >= 10s);
    CHECK(stalls[3].state == "requested");
    CHECK(stalls[3].datagrams == 5);
    own->stall_is_over(places[3]);
    CHECK(on_device("stall0")[0].stalls.size() == 7);
    CHECK(own->stall("one more", now) == places[3]);
    CHECK(on_device("stall0")[0].stalls.back().peer == "one more");
    CHECK(on_device("stall0")[0].stalls.back().state.empty());
}

TEST_CASE("each counter has its name once") {
    std::set<std::string_view> names;
    Counters counters;
    for (const CounterName& counter : kCounterNames) {
        names.insert(counter.name);
        CHECK(++(counters.*counter.value) == 1);
    }
    CHECK(names.size() == std::size(kCounterNames));
}

TEST_CASE("numbers are short") {
    CHECK(short_number(0) == "0");
    CHECK(short_number(99999) == "99999");
    CHECK(short_number(100000) == "100K");
    CHECK(short_number(1234567) == "1.2M");
    CHECK(short_number(999999) == "1.0M");
    CHECK(short_number(123456789012.) == "123G");
    for (double n = 1; n < 1e20; n *= 1.7) CHECK(short_number(n).size() <= 6);
}

TEST_CASE("a line of JSON has everything, and the table the rates") {
    EndpointSeen e{.pid = 7,
                   .command = "a\"b",
                   .device = "soft0",
                   .address = "fi_sockaddr_in://10.0.0.1:4711",
                   .opened_ns = 1,
                   .counters = {},
                   .stalls = {{"there", "requested", 3, 1500ms}}};
    const EndpointSeen before = e;
    e.counters.messages_sent = 1000;
    e.counters.bytes_sent = 4000;
    e.counters.packets_sent = 77;
    e.counters.packets_early = 40;
    e.counters.packets_malformed = 2;
    const std::string json = top::json(e);
    CHECK(json.starts_with(R"({"pid":7,"command":"a\"b","device":"soft0",)"));
    CHECK(json.find(R"("messages_sent":1000,)") != std::string::npos);
    CHECK(json.find(R"("packets_sent":77,)") != std::string::npos);
    CHECK(json.find(R"("packets_malformed":2,)") != std::string::npos);
    CHECK(json.ends_with(
        R"("stalled":[{"peer":"there","state":"requested","datagrams":3,"ms":1500}]})"
        "\n"));
    const top::Rates rates = top::rates(before, e, 2);
    CHECK(rates.messages == 500);
    CHECK(rates.bytes == 2000);
    const std::string lines = top::lines(e, rates);
    CHECK(lines.find(" 10.0.0.1:4711 ") != std::string::npos);
    CHECK(lines.find("     42    500   2000\n") != std::string::npos);
    CHECK(lines.find("to there takes its time: it is requested, after 1500 ms and 3 datagrams") !=
          std::string::npos);
}
