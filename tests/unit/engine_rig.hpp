// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Two engines that know each other, on devices that are openings of soft0, and perhaps on soft0
// beside these.

#include "transfer/engine.hpp"
#include "verbs_rc/remote_key.hpp"
#include "wireup_rig.hpp"

#include <doctest/doctest.h>
#include <rdma/fi_rma.h>
#include <vector>

namespace engine_rig {

using namespace odrc;
using namespace odrc::transfer;

inline constexpr int kEverything =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
inline constexpr Crossovers kCrossovers{.inlined = 2048,
                                        .copied = 0,
                                        .unregistered = 0,
                                        .eager = wire::kEagerLimit,
                                        .sliced = wire::kSlicedLimit};

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
    // How many operations have ended until now; none of them badly.
    int poll() {
        call([](Engine& e) { return e.progress(), 0; });
        fi_cq_err_entry error{};
        CHECK_FALSE(sink_.take_error(error));
        done_ += static_cast<int>(sink_.take(64, [](const Completion&) {}));
        return done_;
    }
    // The error that the next operation has ended with, if one has; else 0.
    int poll_for_error() {
        call([](Engine& e) { return e.progress(), 0; });
        fi_cq_err_entry error{};
        return sink_.take_error(error) ? error.err : 0;
    }
    // Of the device by which it meets its peers.
    ibv_context& context(bool soft) { return *(soft ? soft_ : device_).pd()->context; }

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

inline std::vector<std::byte> some_bytes(size_t count) {
    std::vector<std::byte> bytes(count);
    for (size_t i = 0; i < count; ++i) bytes[i] = std::byte(i * 7 + 1);
    return bytes;
}

} // namespace engine_rig
