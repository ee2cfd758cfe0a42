// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Messages whose slices end in the middle: something is in the way, or their sender is lost.

#include "engine_rig.hpp"

#include <cerrno>
#include <utility>

using namespace odrc;
using namespace engine_rig;

namespace {

// After so many sends that are to be over at once, the device refuses: others like these, or all
// work requests.
class Refusing {
public:
    Refusing(ibv_context& context, int after, bool all)
        : context_{context} {
        left = after;
        refuses_all = all;
        below = std::exchange(context.ops.post_send, post);
    }
    ~Refusing() { context_.ops.post_send = below; }

private:
    static int post(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad) {
        const bool slice = wr->opcode == IBV_WR_SEND && wr->send_flags & verbs::kDeliver;
        if (slice ? left-- > 0 : left >= 0 || !refuses_all) return below(qp, wr, bad);
        *bad = wr;
        return slice ? EAGAIN : ENOMEM;
    }
    static inline int left;
    static inline bool refuses_all;
    static inline int (*below)(ibv_qp*, ibv_send_wr*, ibv_send_wr**);

    ibv_context& context_;
};

// Else all is announced.
bool delivers() { return rig::device().port().delivers; }

constexpr size_t kLength = 32 << 10;
constexpr int kSlices = 4;

uint64_t all(const BySize& way) {
    uint64_t messages = 0;
    for (const auto& of_size : way.classes) messages += of_size.messages;
    return messages;
}

// Two that are connected.
struct Connected : Pair {
    explicit Connected(bool on_soft = true)
        : Pair{on_soft} {
        std::byte word{};
        receive({&word, 1});
        send({&word, 1});
        until(1, 1);
    }
    uint64_t sliced() {
        return static_cast<uint64_t>(
            a.call([](Engine& e) { return static_cast<ssize_t>(all(e.traffic().sliced)); }));
    }
};

} // namespace

TEST_CASE("a message whose slices end in the middle is announced, and comes once") {
    for (const bool on_soft : {true, false}) {
        for (int slices = 0; slices <= kSlices; ++slices) {
            for (const bool posted : {true, false}) {
                CAPTURE(on_soft);
                CAPTURE(slices);
                CAPTURE(posted);
                Connected p{on_soft};
                const auto first = some_bytes(kLength), second = some_bytes(20'000);
                std::vector<std::byte> in_first(first.size()), in_second(second.size());
                if (posted) p.receive(in_first);
                {
                    const Refusing refusing{p.a.context(on_soft), slices, false};
                    p.send(first);
                }
                p.send(second);
                for (int i = 0; i < 10; ++i) p.b.poll();
                if (!posted) p.receive(in_first);
                p.receive(in_second);
                p.until(3, 3);
                CHECK(in_first == first);
                CHECK(in_second == second);
                // The second one as well, if the first one was quick.
                CHECK(p.sliced() >= (delivers() ? 1 : 0));
                CHECK(p.sliced() <= (slices < kSlices ? 1 : 2));
                CHECK(p.b.counters().messages_received == 3);
                CHECK(p.b.counters().bytes_received == 1 + first.size() + second.size());
            }
        }
    }
}

TEST_CASE("a message whose sender is lost after some slices fails its receive, and no other") {
    if (!delivers()) return;
    for (const bool posted : {true, false}) {
        CAPTURE(posted);
        Connected p;
        const auto out = some_bytes(kLength), next = some_bytes(100);
        std::vector<std::byte> in(kLength), in_next(next.size());
        if (posted) p.receive(in);
        const uint64_t memory = p.b.counters().memory_bytes;
        {
            const Refusing refusing{p.a.context(true), 2, true};
            const iovec piece{const_cast<std::byte*>(out.data()), out.size()};
            CHECK(p.a.call([&](Engine& e) {
                return e.send({{&piece, 1}, nullptr, p.to_b, 0, 0, nullptr, FI_MSG});
            }) == -FI_ENOMEM);
        }
        p.a.poll(); // and gives its peer up
        p.b.poll(); // which has the slices
        if (posted) {
            const auto end = Clock::now() + std::chrono::seconds{20};
            int error = 0;
            while (!(error = p.b.poll_for_error())) {
                REQUIRE(Clock::now() < end);
                p.a.poll();
            }
            CHECK(error == FI_ECONNRESET);
        }
        // And what is sent next goes over another connection, into another receive.
        p.receive(in_next);
        p.send(next);
        p.until(2, 2);
        CHECK(in_next == next);
        CHECK(p.b.counters().memory_bytes <= memory);
    }
}
