// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Connections that are full often are made anew, deeper: only what is counted shows it.

#include "statistics.hpp"

#include <array>

using namespace duo;

namespace {

constexpr size_t kWindow = 64; // is more than a connection takes at first
constexpr int kWindows = 200;

// Longer than what is written into a ring, which is never under way on soft0.
using Message = std::array<uint64_t, 600>;

// Numbers that one side sends the other, a window at a time.
class Stream {
public:
    Stream(Watched& from, Watched& to, fi_addr_t there)
        : from_{from}
        , to_{to}
        , there_{there} {}

    void begin(const std::function<void()>& poll) {
        for (Message& message : in_)
            retry(poll, [&] {
                return fi_trecv(to_.ep(), &message, sizeof message, nullptr, FI_ADDR_UNSPEC, 0, 0,
                                &message);
            });
        for (Message& message : out_) {
            message.fill(next_++);
            retry(poll, [&] {
                return fi_tsend(from_.ep(), &message, sizeof message, nullptr, there_, 0, &message);
            });
        }
    }
    bool over() {
        for (; sent_ < kWindow && take(from_, out_[sent_]); ++sent_) {
        }
        for (; received_ < kWindow && take(to_, in_[received_]); ++received_) {
        }
        return sent_ == kWindow && received_ == kWindow;
    }
    void end() {
        CHECK(in_ == out_);
        sent_ = received_ = 0;
    }

private:
    template <class Call>
    static void retry(const std::function<void()>& poll, Call&& call) {
        ssize_t result;
        while ((result = call()) == -FI_EAGAIN) poll();
        REQUIRE(result == 0);
    }
    static bool take(Watched& side, Message& context) {
        const auto outcome = side.take(&context);
        if (outcome) REQUIRE_FALSE(outcome->error);
        return outcome.has_value();
    }

    Watched& from_;
    Watched& to_;
    const fi_addr_t there_;
    std::array<Message, kWindow> out_{}, in_{};
    uint64_t next_{0};
    size_t sent_{0}, received_{0};
};

void run(Duo& d, std::initializer_list<Stream*> streams) {
    for (int i = 0; i < kWindows; ++i) {
        for (Stream* stream : streams) stream->begin([&] { d.poll(); });
        d.until([&] {
            return std::ranges::all_of(streams, [](Stream* stream) { return stream->over(); });
        });
        for (Stream* stream : streams) stream->end();
    }
}

} // namespace

TEST_CASE("a connection that is full often gives way to a deeper one, once") {
    Duo d;
    Stream stream{d.a, d.b, d.to_b};
    for (int i = 0; i < 2; ++i) {
        run(d, {&stream});
        CHECK(statistics_of(d.a).connections_deepened == 1);
        CHECK(statistics_of(d.a).connections_made == 2);
    }
    CHECK(statistics_of(d.b).connections_deepened == 0);
    CHECK(statistics_of(d.a).connections_evicted + statistics_of(d.b).connections_evicted == 0);
}

TEST_CASE("a connection that is full often on both sides gives way to one that is deeper on both") {
    Duo d;
    Stream there{d.a, d.b, d.to_b}, back{d.b, d.a, d.to_a};
    run(d, {&there, &back});
    const auto a = statistics_of(d.a), b = statistics_of(d.b);
    CHECK(a.connections_deepened + b.connections_deepened >= 1);
    CHECK(a.connections_made == b.connections_made);
    const uint64_t made = a.connections_made;
    CHECK(made <= 3);
    run(d, {&there, &back});
    CHECK(statistics_of(d.a).connections_made <= 3);
}

TEST_CASE("an endpoint's connection to itself gives way to a deeper one") {
    Duo d;
    Stream stream{d.a, d.a, d.a.endpoint.insert(d.a.endpoint.name())};
    run(d, {&stream});
    CHECK(statistics_of(d.a).connections_deepened == 1);
    CHECK(statistics_of(d.a).connections_made == 2);
}

TEST_CASE("a connection that is seldom full stays as it is") {
    Duo d;
    Stream stream{d.a, d.b, d.to_b};
    for (int i = 0; i < 8; ++i) {
        stream.begin([&] { d.poll(); });
        d.until([&] { return stream.over(); });
        stream.end();
    }
    CHECK(statistics_of(d.a).connections_made == 1);
}
