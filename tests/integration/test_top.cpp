// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What odrc-top(1) shows of endpoints is what they count.

#include "far.hpp"
#include "statistics.hpp"
#include "tests/forks.hpp"

#include <arpa/inet.h>
#include <climits>

using namespace duo;

namespace {

// It lies beside this program, or where the program is told; where it was not brought along, there
// is nothing to test.
std::string top_program() {
    if (const char* told = std::getenv("ODRC_TOP")) return told;
    char self[PATH_MAX]{};
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return {};
    std::string path = self;
    path.replace(path.rfind('/') + 1, std::string::npos, "odrc-top");
    return access(path.c_str(), X_OK) == 0 ? path : std::string{};
}

// What it prints of a process.
std::string top(pid_t pid, const std::string& options = "--json") {
    const std::string command = top_program() + " -n 1 -p " + std::to_string(pid) + " " + options;
    std::string all;
    FILE* pipe = popen(command.c_str(), "r");
    REQUIRE(pipe);
    char piece[4096];
    while (const size_t n = fread(piece, 1, sizeof piece, pipe)) all.append(piece, n);
    CHECK(pclose(pipe) == 0);
    return all;
}

std::string port_of(const Watched& side) {
    sockaddr_in in;
    std::memcpy(&in, side.endpoint.name().data(), sizeof in);
    return std::to_string(ntohs(in.sin_port));
}

// The line of an endpoint.
std::string line_of(const Watched& side) {
    const std::string all = top(getpid());
    const size_t at = all.find(":" + port_of(side) + "\",");
    if (at == std::string::npos) return {};
    const size_t begin = all.rfind('\n', at) + 1; // npos + 1 is 0
    return all.substr(begin, all.find('\n', at) - begin);
}

uint64_t number(const std::string& line, const std::string& name) {
    const std::string key = "\"" + name + "\":";
    const size_t at = line.find(key);
    REQUIRE(at != std::string::npos);
    return std::strtoull(line.c_str() + at + key.size(), nullptr, 10);
}

} // namespace

TEST_CASE("odrc-top shows the numbers that the program reads itself") {
    if (top_program().empty()) return;
    Duo d;
    for (int i = 0; i < 3; ++i) {
        int sending = 0, receiving = 0;
        char in[100];
        const auto out = pattern(100, 'a');
        REQUIRE(fi_recv(d.b.ep(), in, 100, nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
        REQUIRE(fi_send(d.a.ep(), out.data(), 100, nullptr, d.to_b, &sending) == 0);
        CHECK_FALSE(d.outcome(d.a, &sending).error);
        CHECK_FALSE(d.outcome(d.b, &receiving).error);
    }
    d.settle(); // also what says that it has come
    for (const Watched* side : {&d.a, &d.b}) {
        const std::string line = line_of(*side);
        REQUIRE_FALSE(line.empty());
        const fi_odrc_statistics s = statistics_of(*side);
        CHECK(number(line, "pid") == static_cast<uint64_t>(getpid()));
        CHECK(number(line, "peers") == s.peers);
        CHECK(number(line, "connections_made") == s.connections_made);
        CHECK(number(line, "connections_answered") == s.connections_answered);
        CHECK(number(line, "wireup_datagrams") == s.wireup_datagrams);
        CHECK(number(line, "wireup_bytes") == s.wireup_bytes);
        CHECK(number(line, "messages_sent") == s.messages_sent);
        CHECK(number(line, "messages_received") == s.messages_received);
        CHECK(number(line, "bytes_sent") == s.bytes_sent);
        CHECK(number(line, "posts") == s.posts);
        CHECK(number(line, "packets_sent") == s.packets_sent);
        CHECK(number(line, "packets_repeated") == s.packets_repeated);
        CHECK(number(line, "acknowledgements") == s.acknowledgements);
        CHECK(number(line, "packets_received") == s.packets_received);
        CHECK(number(line, "packets_malformed") == s.packets_malformed);
        CHECK(number(line, "memory_bytes") == s.memory_bytes);
        CHECK(line.find("\"stalled\":[]") != std::string::npos);
    }
    const std::string table = top(getpid(), "");
    CHECK(table.find("PEERS") != std::string::npos);
    CHECK(table.find("PK-OUT") != std::string::npos);
    CHECK(table.find(":" + port_of(d.a)) != std::string::npos);
}

TEST_CASE("odrc-top shows no endpoint that was closed, and no process that was killed" * forks()) {
    if (top_program().empty()) return;
    std::string port;
    {
        const Watched side;
        port = ":" + port_of(side) + "\"";
        CHECK(top(getpid()).find(port) != std::string::npos);
    }
    CHECK(top(getpid()).find(port) == std::string::npos);
    Child child{[](Board& board) { Far far{board}; }};
    child.await(1);
    CHECK_FALSE(top(child.pid()).empty());
    const pid_t pid = child.pid();
    child.kill_now();
    CHECK(top(pid).empty());
}

TEST_CASE("odrc-top shows a connection that takes its time, until it is given up") {
    if (top_program().empty()) return;
    const int silent = socket(AF_INET, SOCK_DGRAM, 0); // takes what comes, and never answers
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof at;
    REQUIRE(bind(silent, reinterpret_cast<sockaddr*>(&at), length) == 0);
    REQUIRE(getsockname(silent, reinterpret_cast<sockaddr*>(&at), &length) == 0);
    Watched side;
    const fi_addr_t peer = side.endpoint.insert({reinterpret_cast<char*>(&at), sizeof at});
    int sending = 0;
    REQUIRE(fi_send(side.ep(), "x", 1, nullptr, peer, &sending) == 0);
    const auto begin = Clock::now(); // it is told of with the first datagram after a second
    while (Clock::now() < begin + std::chrono::milliseconds{1800}) side.poll();
    std::string line = line_of(side);
    const size_t stall = line.find("\"stalled\":[{\"peer\":\"fi_sockaddr_in://127.0.0.1:" +
                                   std::to_string(ntohs(at.sin_port)) + "\",");
    REQUIRE(stall != std::string::npos);
    line = line.substr(stall);
    CHECK(line.find("\"state\":\"requested\"") != std::string::npos);
    CHECK(number(line, "datagrams") >= 3);
    CHECK(number(line, "ms") >= 1000);
    close(silent); // the host refuses what comes now
    poll_until(side, [&] { return side.take(&sending).has_value(); });
    CHECK(line_of(side).find("\"stalled\":[]") != std::string::npos);
}
