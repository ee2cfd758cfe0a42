// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/completion_sink.hpp"

#include <doctest/doctest.h>
#include <poll.h>

using odrc::transfer::Completion;
using odrc::transfer::CompletionSink;

namespace {

Completion numbered(size_t n) {
    Completion c{};
    c.length = n;
    return c;
}

bool readable(int fd) {
    pollfd p{.fd = fd, .events = POLLIN, .revents = 0};
    return poll(&p, 1, 0) == 1;
}

} // namespace

TEST_CASE("a completion sink keeps all it is given, in order, past its size") {
    CompletionSink sink{4, false, false};
    for (size_t i = 0; i < 100; ++i) sink.push(numbered(i));
    CHECK(sink.full());
    size_t next = 0;
    while (sink.take(7, [&](const Completion& c) { CHECK(c.length == next++); }) > 0) {
    }
    CHECK(next == 100);
    CHECK_FALSE(sink.full());
    CHECK(sink.next() == CompletionSink::Next::none);
}

TEST_CASE("an error stops the completions behind it until it is read") {
    CompletionSink sink{8, false, false};
    sink.push(numbered(1));
    fi_cq_err_entry error{};
    error.err = 42;
    sink.push_error(error);
    sink.push(numbered(2));
    size_t taken = 0;
    auto count = [&](const Completion& c) { taken += c.length; };
    CHECK(sink.take(8, count) == 1);
    CHECK(sink.take(8, count) == 0);
    CHECK(sink.next() == CompletionSink::Next::error);
    fi_cq_err_entry read{};
    CHECK(sink.take_error(read));
    CHECK(read.err == 42);
    CHECK_FALSE(sink.take_error(read));
    CHECK(sink.take(8, count) == 1);
    CHECK(taken == 3);
}

TEST_CASE("a sleeper is woken by what comes after it armed") {
    CompletionSink sink{8, true, true};
    sink.push(numbered(1));
    CHECK_FALSE(readable(sink.fd()));
    sink.arm();
    CHECK_FALSE(readable(sink.fd()));
    sink.push(numbered(2));
    CHECK(readable(sink.fd()));
    sink.arm();
    CHECK_FALSE(readable(sink.fd()));
    sink.signal();
    CHECK(readable(sink.fd()));
}
