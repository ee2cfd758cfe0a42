// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Endpoints that meet on soft0 beside the device of their domain: here another opening of soft0,
// since nothing else is everywhere.

#include "transfer/engine.hpp"
#include "verbs_rc/remote_key.hpp"
#include "wireup_rig.hpp"

#include <doctest/doctest.h>
#include <optional>
#include <poll.h>
#include <rdma/fi_rma.h>

using namespace odrc;
using namespace odrc::transfer;

namespace {

constexpr int kEverything =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
constexpr Crossovers kCrossovers{.inlined = 2048,
                                 .copied = 0,
                                 .unregistered = 0,
                                 .eager = wire::kEagerLimit,
                                 .sliced = kMostSliced};

class Party {
public:
    explicit Party(bool soft)
        : engine_{device_,
                  {soft ? &soft_ : nullptr, nullptr},
                  addresses_,
                  watchdog_,
                  gate_,
                  Engine::Settings{.transmit = &sink_,
                                   .receive = &sink_,
                                   .tallies = {},
                                   .transmit_size = 64,
                                   .receive_size = 64,
                                   .directed = true,
                                   .sources = false,
                                   .waitable = true,
                                   .automatic = false,
                                   .regions = nullptr,
                                   .address = rig::local(),
                                   .seal = {},
                                   .atomics = true,
                                   .native_format = false,
                                   .place = {},
                                   .lists = false,
                                   .crossovers = {kCrossovers, kCrossovers}}} {}
    ~Party() { engine_.close(); }

    fi_addr_t insert(const Party& other) { return addresses_.insert(other.engine_.address()); }
    const Counters& counters() const { return engine_.counters(); }
    int fd() const { return engine_.fd(); }

    template <class F>
    ssize_t call(F&& f) {
        const Entry entry{gate_};
        return f(engine_);
    }
    // How many operations have ended well until now.
    int poll() {
        call([](Engine& e) { return e.progress(), 0; });
        fi_cq_err_entry error{};
        CHECK_FALSE(sink_.take_error(error));
        done_ += static_cast<int>(sink_.take(64, [](const Completion&) {}));
        return done_;
    }

    // Memory that is known to both devices.
    class Region {
    public:
        Region(Party& party, std::span<uint64_t> words)
            : on_device_{party.device_.make_region(words.data(), words.size_bytes(), kOnDevice)}
            , on_soft_{party.soft_.make_region(words.data(), words.size_bytes(), kEverything)}
            , in_table_{party.device_.regions(),
                        on_device_->rkey,
                        {reinterpret_cast<uint64_t>(words.data()), words.size_bytes(), kOnDevice}} {
        }
        uint64_t key() const { return of(on_device_->rkey); }
        uint64_t key_of_soft() const { return of(0xffffff00); } // the device's half is wrong

    private:
        static constexpr int kOnDevice = kEverything | IBV_ACCESS_REMOTE_ATOMIC;
        uint64_t of(uint32_t rkey) const {
            return verbs::RemoteKey::of(rkey, true, on_soft_->rkey).bits();
        }
        verbs::Mr on_device_, on_soft_;
        verbs::RegionTable::Entry in_table_;
    };

private:
    Watchdog watchdog_;
    verbs::Adapter device_{rig::device(), Gate::Kind::many_threads, watchdog_};
    verbs::Adapter soft_{rig::device(), Gate::Kind::many_threads, watchdog_};
    Gate gate_{Gate::Kind::many_threads};
    ondemand::AddressTable addresses_;
    CompletionSink sink_{256, true, false};
    int done_{0};
    Engine engine_;
};

struct Pair {
    explicit Pair(bool b_on_soft)
        : a{true}
        , b{b_on_soft} {}

    void until(int of_a, int of_b) {
        const auto end = Clock::now() + std::chrono::seconds{20};
        for (int by_a = 0, by_b = 0; by_a < of_a || by_b < of_b;) {
            REQUIRE(Clock::now() < end);
            by_a = a.poll();
            by_b = b.poll();
        }
    }
    void send(std::span<const std::byte> bytes) {
        const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
        REQUIRE(a.call([&](Engine& e) {
            return e.send({{&piece, 1}, nullptr, to_b, 0, 0, nullptr, FI_MSG | FI_COMPLETION});
        }) == 0);
    }
    void receive(std::span<std::byte> bytes) {
        const iovec piece{bytes.data(), bytes.size()};
        REQUIRE(b.call([&](Engine& e) {
            return e.receive(
                {{&piece, 1}, FI_ADDR_UNSPEC, 0, 0, nullptr, FI_MSG | FI_COMPLETION, 0});
        }) == 0);
    }
    void move(uint64_t kind, std::span<uint64_t> local, const uint64_t* remote, uint64_t key) {
        const iovec piece{local.data(), local.size_bytes()};
        const fi_rma_iov there{reinterpret_cast<uint64_t>(remote), local.size_bytes(), key};
        REQUIRE(a.call([&](Engine& e) {
            return e.rma(
                {{&piece, 1}, nullptr, {&there, 1}, to_b, 0, nullptr, kind | FI_COMPLETION});
        }) == 0);
    }

    Party a, b;
    const fi_addr_t to_b = a.insert(b);
};

std::vector<std::byte> some_bytes(size_t count) {
    std::vector<std::byte> bytes(count);
    for (size_t i = 0; i < count; ++i) bytes[i] = std::byte(i * 7 + 1);
    return bytes;
}

} // namespace

TEST_CASE("endpoints of one host meet on soft0 where both have it, else on the device") {
    for (const bool soft : {true, false}) {
        Pair p{soft};
        int done = 0;
        for (const size_t bytes : {0, 100, 5000, 1 << 20}) {
            const auto sent = some_bytes(bytes);
            std::vector<std::byte> received(bytes);
            p.receive(received);
            p.send(sent);
            ++done;
            p.until(done, done);
            CHECK(received == sent);
        }
        for (const Party* party : {&p.a, &p.b}) {
            CHECK(party->counters().connections_made == 1);
            CHECK(party->counters().connections_soft == soft);
        }
    }
}

TEST_CASE("reads and writes go by the key's half for soft0") {
    Pair p{true};
    std::vector<uint64_t> there(100'000, 5), here(there.size(), 7);
    const Party::Region region{p.b, there};
    p.move(FI_WRITE, here, there.data(), region.key_of_soft());
    p.until(1, 0);
    CHECK(there == here);
    there.assign(there.size(), 9);
    p.move(FI_READ, here, there.data(), region.key_of_soft());
    p.until(2, 0);
    CHECK(there == here);
    CHECK(p.a.counters().connections_soft == 1);
}

TEST_CASE("reads and writes go by the key's half for the device, where the peer is not on soft0") {
    Pair p{false};
    std::vector<uint64_t> there(100'000, 5), here(there.size(), 7);
    const Party::Region region{p.b, there};
    p.move(FI_WRITE, here, there.data(), region.key());
    p.until(1, 0);
    CHECK(there == here);
    CHECK(p.a.counters().connections_soft == 0);
}

TEST_CASE("words are changed by the device, whoever asks over what") {
    Pair p{true};
    std::vector<uint64_t> there{40};
    const Party::Region region{p.b, there};
    uint64_t two = 2, seen = 0;
    const fi_ioc operand{&two, 1}, result{&seen, 1};
    const fi_rma_ioc target{reinterpret_cast<uint64_t>(there.data()), 1, region.key()};
    REQUIRE(p.a.call([&](Engine& e) {
        return e.atomic({AtomicCall::fetch,
                         FI_UINT64,
                         FI_SUM,
                         {&operand, 1},
                         {},
                         {&result, 1},
                         {&target, 1},
                         p.to_b,
                         nullptr,
                         FI_COMPLETION});
    }) == 0);
    p.until(1, 0);
    CHECK(seen == 40);
    CHECK(there[0] == 42);
    CHECK(p.a.counters().connections_soft == 1);
    CHECK(p.a.counters().messages_sent == 0);
}

TEST_CASE("who sleeps is woken by what comes over soft0, the first time and later") {
    Pair p{true};
    const auto sent = some_bytes(8);
    std::vector<std::byte> received(8);
    for (int round = 1; round <= 3; ++round) {
        p.receive(received);
        p.b.call([](Engine& e) { return e.arm(), 0; });
        p.send(sent);
        const auto end = Clock::now() + std::chrono::seconds{20};
        pollfd ready{.fd = p.b.fd(), .events = POLLIN, .revents = 0};
        while (::poll(&ready, 1, 0) == 0) {
            REQUIRE(Clock::now() < end);
            p.a.poll();
        }
        p.until(round, round);
    }
    CHECK(p.b.counters().connections_soft == 1);
}
