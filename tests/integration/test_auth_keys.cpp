// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Who has the key connects, who has not does not, and floods of what has none do no harm.

#include "statistics.hpp"

#include <malloc.h>
#include <random>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace duo;

namespace {

Wishes with(const std::string& key, const std::string& domain_key = {}) {
    Wishes w{.caps = kAllCaps};
    w.key = key;
    w.domain_key = domain_key;
    return w;
}

// A message there and one back.
void talk(Duo& d) {
    char in[2]{};
    int contexts[4];
    REQUIRE(fi_recv(d.b.ep(), &in[0], 1, nullptr, d.to_a, &contexts[0]) == 0);
    REQUIRE(fi_recv(d.a.ep(), &in[1], 1, nullptr, d.to_b, &contexts[1]) == 0);
    REQUIRE(fi_send(d.a.ep(), "x", 1, nullptr, d.to_b, &contexts[2]) == 0);
    REQUIRE(fi_send(d.b.ep(), "y", 1, nullptr, d.to_a, &contexts[3]) == 0);
    CHECK_FALSE(d.outcome(d.b, &contexts[0]).error);
    CHECK_FALSE(d.outcome(d.a, &contexts[1]).error);
    CHECK_FALSE(d.outcome(d.a, &contexts[2]).error);
    CHECK_FALSE(d.outcome(d.b, &contexts[3]).error);
    CHECK(in[0] == 'x');
    CHECK(in[1] == 'y');
}

void talk(const Wishes& ours, const Wishes& theirs) {
    Duo d{ours, theirs};
    talk(d);
}

Info hints_with(const void* key, size_t size) {
    Info hints{fi_allocinfo()};
    hints->caps = kAllCaps;
    hints->fabric_attr->prov_name = strdup("odrc");
    hints->domain_attr->name = strdup(choice().domain.c_str());
    hints->ep_attr->auth_key_size = size;
    if (!key) return hints;
    hints->ep_attr->auth_key = static_cast<uint8_t*>(malloc(size));
    std::memcpy(hints->ep_attr->auth_key, key, size);
    return hints;
}

int ask(const Info& hints, Info& answer) {
    fi_info* info = nullptr;
    const int result = fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints.get(), &info);
    answer.reset(info);
    return result;
}

size_t heap_bytes() { return mallinfo2().uordblks; }

} // namespace

TEST_CASE("endpoints with the same key talk, whichever attribute has it") {
    talk(with("one key"), with("one key"));
    talk(with("", "one key"), with("", "one key"));
    talk(with("one key"), with("", "one key"));
    talk(with("one key", "another"), with("one key", "a third")); // the endpoint's counts
    talk(with(std::string(1024, 'k')), with(std::string(1024, 'k')));
}

TEST_CASE("endpoints with different keys, or one alone with a key, never connect" *
          doctest::test_suite("silence")) {
    struct Case {
        Wishes ours, theirs;
    };
    const Case cases[] = {{with("one"), with("two")},
                          {with("one"), with("")},
                          {with(""), with("one")},
                          {with("one"), with("one ")},
                          {with("x", "one"), with("y", "one")}};
    std::deque<Duo> pairs;
    for (const auto& [ours, theirs] : cases) pairs.emplace_back(ours, theirs);
    struct All {
        std::deque<Duo>& pairs;
        void poll() {
            for (Duo& p : pairs) p.poll();
        }
    } all{pairs};
    std::deque<int> contexts(pairs.size());
    for (size_t i = 0; i < pairs.size(); ++i)
        REQUIRE(fi_send(pairs[i].a.ep(), "x", 1, nullptr, pairs[i].to_b, &contexts[i]) == 0);
    for (size_t i = 0; i < pairs.size(); ++i) {
        std::optional<Outcome> o;
        poll_until(all, [&] { return (o = pairs[i].a.take(&contexts[i])).has_value(); });
        REQUIRE(o->error);
        CHECK(o->error->err == FI_ETIMEDOUT);
        const auto there = statistics_of(pairs[i].b);
        CHECK(there.wireup_refused > 0);
        CHECK(there.wireup_datagrams == 0);
        CHECK(there.peers == 0);
        CHECK(there.connections_made + statistics_of(pairs[i].a).connections_made == 0);
    }
}

TEST_CASE("fi_getinfo gives the key back that it was asked for, if it is one") {
    Info info;
    CHECK(ask(hints_with(nullptr, 0), info) == 0);
    CHECK(info->ep_attr->auth_key_size == 0);
    CHECK(info->domain_attr->auth_key_size == 0);

    REQUIRE(ask(hints_with("key", 3), info) == 0);
    REQUIRE(info->ep_attr->auth_key_size == 3);
    CHECK(std::memcmp(info->ep_attr->auth_key, "key", 3) == 0);

    const std::string longest(1024, 'k'), longer(1025, 'k');
    CHECK(ask(hints_with(longest.data(), longest.size()), info) == 0);
    CHECK(ask(hints_with(longer.data(), longer.size()), info) == -FI_ENODATA);
    CHECK(ask(hints_with(nullptr, 3), info) == -FI_ENODATA);
}

TEST_CASE("an endpoint or a domain with a key that cannot be one is not opened") {
    const Watched side;
    Info info;
    REQUIRE(ask(hints_with("key", 3), info) == 0);
    info->ep_attr->auth_key_size = 1025;
    fid_ep* ep = nullptr;
    CHECK(fi_endpoint(side.endpoint.domain(), info.get(), &ep, nullptr) == -FI_EINVAL);
    info->ep_attr->auth_key_size = 3;
    info->domain_attr->auth_key_size = 5; // of which there are none
    fid_domain* domain = nullptr;
    CHECK(fi_domain(side.endpoint.fabric(), info.get(), &domain, nullptr) == -FI_EINVAL);
    info->domain_attr->auth_key_size = 0;
}

TEST_CASE("two endpoints go on in a flood of datagrams, which leaves nothing behind") {
    for (const char* key : {"", "one key"}) {
        Duo pair{with(key), with(key)};
        talk(pair);
        sockaddr_in target;
        std::memcpy(&target, pair.b.endpoint.name().data(), sizeof target);
        const size_t before = heap_bytes();
        size_t flooded = 0;
        std::jthread flood{[&](const std::stop_token& stop) {
            std::mt19937 random{7};
            unsigned char bytes[105];
            for (uint32_t i = 0; !stop.stop_requested(); ++i) {
                // Ever new ports, and at first sight what it should be.
                const int fd = socket(AF_INET, SOCK_DGRAM, 0);
                for (int n = 0; n < 100; ++n, ++flooded) {
                    for (auto& b : bytes) b = static_cast<unsigned char>(random());
                    const unsigned char head[] = {'o', 'd', 'r', 'c', 8, 1, sizeof bytes, 0};
                    if (n % 2) std::memcpy(bytes, head, sizeof head);
                    sendto(fd, bytes, sizeof bytes, 0, reinterpret_cast<const sockaddr*>(&target),
                           sizeof target);
                }
                close(fd);
            }
        }};
        const auto end = Clock::now() + std::chrono::seconds{2};
        size_t rounds = 0;
        for (; Clock::now() < end; ++rounds) talk(pair);
        // A connection that is new finds its way through, too.
        Watched newcomer{with(key)};
        const fi_addr_t number = newcomer.endpoint.insert(pair.b.endpoint.name());
        int sending = 0, receiving = 0;
        char in = 0;
        REQUIRE(fi_recv(pair.b.ep(), &in, 1, nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
        REQUIRE(fi_send(newcomer.ep(), "n", 1, nullptr, number, &sending) == 0);
        poll_until(pair, [&] {
            newcomer.poll();
            if (const auto sent = newcomer.take(&sending)) REQUIRE(!sent->error);
            return pair.b.take(&receiving).has_value();
        });
        flood.request_stop();
        flood.join();
        const auto there = statistics_of(pair.b);
        CHECK(rounds > 10); // thousands, on a machine with nothing else to do
        CHECK(there.wireup_refused > 1000);
        CHECK(there.peers == 2);
        CHECK(there.connections_wiring == 0);
        CHECK(heap_bytes() < before + (4u << 20)); // most of it the newcomer's
        MESSAGE(rounds << " rounds, " << there.wireup_refused << " of " << flooded
                       << " datagrams refused, " << heap_bytes() - before << " bytes more");
    }
}
