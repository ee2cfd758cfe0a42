// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// fi_av_set(3). What a set holds shows in how it answers to insertions and removals.

#include "collectives.hpp"

using namespace duo;

namespace {

struct Vector {
    explicit Vector(size_t count)
        : side{kCollectiveWishes} {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        for (size_t i = 0; i < count; ++i) {
            address.sin_port = htons(static_cast<uint16_t>(1000 + i));
            side.endpoint.insert({reinterpret_cast<const char*>(&address), sizeof address});
        }
    }

    Owned<fid_av_set> range(fi_addr_t start, fi_addr_t last, uint64_t stride, size_t count = 0,
                            uint64_t flags = 0) const {
        fid_av_set* set = nullptr;
        REQUIRE(open(start, last, stride, count, flags, &set) == 0);
        return Owned<fid_av_set>{set};
    }
    int open(fi_addr_t start, fi_addr_t last, uint64_t stride, size_t count, uint64_t flags,
             fid_av_set** set) const {
        fi_av_set_attr attr{};
        attr.count = count;
        attr.start_addr = start;
        attr.end_addr = last;
        attr.stride = stride;
        attr.flags = flags;
        return fi_av_set(side.endpoint.av(), &attr, set, nullptr);
    }

    Watched side;
};

// Takes all numbers below the limit out, and gives those that were there.
Ranks drain(fid_av_set* set, size_t limit = 12) {
    Ranks numbers;
    for (size_t i = 0; i < limit; ++i)
        if (fi_av_set_remove(set, i) == 0) numbers.push_back(i);
    return numbers;
}

} // namespace

TEST_CASE("a set begins with a range, with all addresses or with none") {
    Vector v{10};
    fi_addr_t taken_back = 4;
    REQUIRE(fi_av_remove(v.side.endpoint.av(), &taken_back, 1, 0) == 0);
    CHECK(drain(v.range(2, 8, 2).get()) == Ranks{2, 6, 8});
    CHECK(drain(v.range(7, 100, 1).get()) == Ranks{7, 8, 9});
    CHECK(drain(v.range(3, 3, 1, 1).get()) == Ranks{3});
    CHECK(drain(v.range(0, FI_ADDR_NOTAVAIL - 1, 5).get()) == Ranks{0, 5});
    CHECK(drain(v.range(FI_ADDR_NOTAVAIL, FI_ADDR_NOTAVAIL, 0, 0, FI_UNIVERSE).get()) ==
          Ranks{0, 1, 2, 3, 5, 6, 7, 8, 9});
    CHECK(drain(v.range(FI_ADDR_NOTAVAIL, FI_ADDR_NOTAVAIL, 0, 5, FI_BARRIER_SET).get()).empty());
}

TEST_CASE("sets are united, intersected and subtracted") {
    const Vector v{10};
    const auto even = v.range(0, 8, 2), low = v.range(0, 4, 1);
    auto set = v.range(0, 8, 2);
    CHECK(fi_av_set_union(set.get(), low.get()) == 0);
    CHECK(drain(set.get()) == Ranks{0, 1, 2, 3, 4, 6, 8});
    set = v.range(0, 8, 2);
    CHECK(fi_av_set_intersect(set.get(), low.get()) == 0);
    CHECK(drain(set.get()) == Ranks{0, 2, 4});
    set = v.range(0, 8, 2);
    CHECK(fi_av_set_diff(set.get(), low.get()) == 0);
    CHECK(drain(set.get()) == Ranks{6, 8});
    set = v.range(0, 8, 2);
    CHECK(fi_av_set_union(set.get(), set.get()) == 0);
    CHECK(fi_av_set_intersect(set.get(), set.get()) == 0);
    CHECK(fi_av_set_diff(even.get(), even.get()) == 0);
    CHECK(drain(set.get()) == Ranks{0, 2, 4, 6, 8});
    CHECK(drain(even.get()).empty());
}

TEST_CASE("a set refuses what does not make sense") {
    const Vector v{3}, other{3};
    auto set = v.range(0, 1, 1);
    CHECK(fi_av_set_insert(set.get(), 1) == -FI_EINVAL); // it is there
    CHECK(fi_av_set_insert(set.get(), 3) == -FI_EINVAL); // there is no such address
    CHECK(fi_av_set_remove(set.get(), 2) == -FI_EINVAL);
    CHECK(fi_av_set_insert(set.get(), 2) == 0);
    const auto foreign = other.range(0, 1, 1);
    CHECK(fi_av_set_union(set.get(), foreign.get()) == -FI_EINVAL);
    CHECK(fi_av_set_intersect(set.get(), foreign.get()) == -FI_EINVAL);
    CHECK(fi_av_set_diff(set.get(), foreign.get()) == -FI_EINVAL);
    CHECK(fi_close(&v.side.endpoint.av()->fid) == -FI_EBUSY);

    fid_av_set* none = nullptr;
    CHECK(v.open(0, 2, 0, 0, 0, &none) == -FI_EINVAL);
    CHECK(v.open(2, 1, 1, 0, 0, &none) == -FI_EINVAL);
    CHECK(v.open(0, 2, 1, 2, 0, &none) == -FI_EINVAL);
    CHECK(v.open(0, 2, 1, 0, FI_SEND, &none) == -FI_EINVAL);
    CHECK(fi_av_set(v.side.endpoint.av(), nullptr, &none, nullptr) == -FI_EINVAL);
    uint8_t key = 0;
    fi_av_set_attr attr{};
    attr.start_addr = attr.end_addr = FI_ADDR_NOTAVAIL;
    attr.comm_key = &key;
    attr.comm_key_size = 1;
    CHECK(fi_av_set(v.side.endpoint.av(), &attr, &none, nullptr) == -FI_ENOSYS);
}

TEST_CASE("the order of a set is the order of the members") {
    Circle circle{3};
    const Joined group{circle, {2, 0, 1}};
    std::vector<uint64_t> in{10, 11, 12};
    std::vector<std::vector<uint64_t>> out(3, std::vector<uint64_t>(3));
    for (size_t rank = 0; rank < 3; ++rank) {
        const size_t i = group.ranks[rank];
        REQUIRE(fi_allgather(circle.ep(i), &in[i], 1, nullptr, out[i].data(), nullptr,
                             group.at(rank), FI_UINT64, 0, &in[i]) == 0);
    }
    for (size_t i = 0; i < 3; ++i) {
        CHECK(!circle.outcome(i, &in[i]).error);
        CHECK(out[i] == std::vector<uint64_t>{12, 10, 11});
    }
}
