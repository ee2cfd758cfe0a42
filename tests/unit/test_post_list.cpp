// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "verbs_rc/post_list.hpp"

#include <cerrno>
#include <doctest/doctest.h>
#include <vector>

using odrc::verbs::PostList;

namespace {

// A queue pair that remembers what it was given in each call, up to one that it refuses.
struct CountingQueuePair : ibv_qp {
    CountingQueuePair()
        : ibv_qp{} {
        device.ops.post_send = post_send;
        context = &device;
    }

    static int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad) {
        auto& self = *static_cast<CountingQueuePair*>(qp);
        auto& call = self.calls.emplace_back();
        for (; wr; wr = wr->next) {
            if (wr->wr_id == self.refuse) {
                *bad = wr;
                return ENOMEM;
            }
            call.push_back(wr->wr_id);
            for (int i = 0; i < wr->num_sge; ++i) self.lengths.push_back(wr->sg_list[i].length);
        }
        return 0;
    }

    ibv_context device{};
    std::vector<std::vector<uint64_t>> calls;
    std::vector<uint32_t> lengths;
    uint64_t refuse{~0ull};
};

// A work request of so many segments, whose lengths count up, on memory that is gone afterwards.
struct Request {
    explicit Request(uint64_t id, int segments = 1)
        : pieces(static_cast<size_t>(segments)) {
        for (size_t i = 0; i < pieces.size(); ++i) pieces[i].length = static_cast<uint32_t>(i + 1);
        wr.wr_id = id;
        wr.sg_list = pieces.data();
        wr.num_sge = segments;
    }
    std::vector<ibv_sge> pieces;
    ibv_send_wr wr{};
};

struct Rig {
    bool hold(uint64_t id, int segments = 1) { return list.hold(&a, Request{id, segments}.wr); }
    int post(uint64_t id) { return post(a, id); }
    int post(ibv_qp& qp, uint64_t id) {
        Request request{id};
        return list.post(&qp, request.wr);
    }

    uint64_t posts{0};
    PostList list{posts};
    CountingQueuePair a, b;
};

using Ids = std::vector<uint64_t>;
using Calls = std::vector<Ids>;

} // namespace

TEST_CASE("what is held goes in one call with what is posted behind it") {
    Rig r;
    for (uint64_t id = 0; id < 20; ++id) CHECK(r.hold(id, 2));
    CHECK(r.a.calls.empty());
    CHECK(r.post(20) == 0);
    REQUIRE(r.a.calls.size() == 1);
    CHECK(r.a.calls[0].size() == 21);
    for (uint64_t id = 0; id <= 20; ++id) CHECK(r.a.calls[0][id] == id);
    CHECK(r.a.lengths.size() == 41);
    CHECK(r.a.lengths[1] == 2);
    CHECK(r.posts == 1);
    CHECK(r.list.empty());
    CHECK(r.post(21) == 0); // alone
    CHECK(r.a.calls.back() == Ids{21});
    CHECK(r.posts == 2);
}

TEST_CASE("what is held goes when it is asked for, once") {
    Rig r;
    r.hold(1);
    r.hold(2);
    r.list.post_held(&r.b); // nothing is held for that one
    CHECK(r.a.calls.empty());
    r.list.post_held();
    r.list.post_held(&r.a);
    CHECK(r.posts == 1);
    CHECK(r.a.calls == Calls{Ids{1, 2}});
}

TEST_CASE("what finds no room has all before it posted") {
    Rig requests;
    for (uint64_t id = 0; id <= PostList::kRequests; ++id) CHECK(requests.hold(id));
    REQUIRE(requests.a.calls.size() == 1);
    CHECK(requests.a.calls[0].size() == PostList::kRequests);
    CHECK_FALSE(requests.list.empty());

    Rig segments;
    for (uint64_t id = 0; id < 9; ++id) CHECK(segments.hold(id, 30));
    REQUIRE(segments.a.calls.size() == 1);
    CHECK(segments.a.calls[0].size() == PostList::kSegments / 30);
}

TEST_CASE("another queue pair's work request is posted past what is held, or takes its place") {
    Rig r;
    r.hold(1);
    CHECK(r.post(r.b, 2) == 0);
    CHECK(r.a.calls.empty());
    CHECK(r.list.hold(&r.b, Request{3}.wr));
    CHECK(r.a.calls == Calls{Ids{1}});
    r.list.post_held();
    CHECK(r.b.calls == Calls{Ids{2}, Ids{3}});
}

TEST_CASE("what the device refuses is told of, and nothing is held meanwhile") {
    Rig r;
    r.a.refuse = 2;
    for (uint64_t id = 1; id < 5; ++id) r.hold(id);
    SUBCASE("alone") { r.list.post_held(); }
    SUBCASE("with what was posted behind it, which is refused by itself") {
        CHECK(r.post(9) == ENOMEM);
    }
    REQUIRE(r.list.refused().size() == 3);
    CHECK(r.list.refused().front().wr_id == 2);
    CHECK(r.list.refused().back().wr_id == 4);
    r.list.post_held();
    CHECK(r.a.calls.size() == 1);
    CHECK_FALSE(r.hold(6));
    CHECK_FALSE(r.list.hold(&r.b, Request{6}.wr));
    CHECK(r.post(7) != 0);
    CHECK(r.post(r.b, 8) == 0);
    r.list.clear();
    CHECK(r.hold(10));
    CHECK(r.list.refused().empty());
}

TEST_CASE("if only the last is refused, what was held has gone") {
    Rig r;
    r.a.refuse = 9;
    r.hold(1);
    CHECK(r.post(9) == ENOMEM);
    CHECK(r.list.refused().empty());
    CHECK(r.list.empty());
    CHECK(r.a.calls == Calls{Ids{1}});
}

TEST_CASE("what is held for a queue pair that goes is forgotten") {
    Rig r;
    r.hold(1);
    r.list.forget(&r.b);
    CHECK_FALSE(r.list.empty());
    r.list.forget(&r.a);
    CHECK(r.list.empty());
    r.list.post_held();
    CHECK(r.posts == 0);
}
