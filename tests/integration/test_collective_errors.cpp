// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// fi_collective(3): what is refused, and what fails.

#include "collectives.hpp"

using namespace duo;

namespace {

int query(const Endpoint& e, fi_collective_op coll, fi_datatype type, fi_op op,
          fi_collective_attr* out = nullptr) {
    fi_collective_attr attr{};
    attr.datatype = type;
    attr.op = op;
    const int result = fi_query_collective(e.domain(), coll, &attr, 0);
    if (out) *out = attr;
    return result;
}

} // namespace

TEST_CASE("fi_query_collective tells what there is") {
    const Watched w{kCollectiveWishes};
    CHECK(query(w.endpoint, FI_BARRIER, FI_VOID, FI_NOOP) == 0);
    fi_collective_attr attr{};
    for (int coll = FI_BROADCAST; coll <= FI_GATHER; ++coll) {
        CHECK(query(w.endpoint, static_cast<fi_collective_op>(coll), FI_DOUBLE, FI_SUM, &attr) ==
              0);
        CHECK(attr.datatype_attr.size == sizeof(double));
        CHECK(attr.datatype_attr.count > 0);
        CHECK(attr.max_members > 1);
    }
    CHECK(query(w.endpoint, FI_BROADCAST, FI_UINT64, FI_NOOP) == 0);
    CHECK(query(w.endpoint, FI_BROADCAST, FI_VOID, FI_NOOP) == -FI_EOPNOTSUPP);
    CHECK(query(w.endpoint, FI_ALLREDUCE, FI_UINT64, FI_NOOP) == -FI_EOPNOTSUPP);
    CHECK(query(w.endpoint, FI_ALLREDUCE, FI_UINT64, FI_ATOMIC_WRITE) == -FI_EOPNOTSUPP);
    CHECK(query(w.endpoint, FI_ALLREDUCE, FI_UINT64, FI_CSWAP) == -FI_EOPNOTSUPP);
    CHECK(query(w.endpoint, FI_ALLREDUCE, FI_DOUBLE, FI_BOR) == -FI_EOPNOTSUPP);
    CHECK(query(w.endpoint, FI_REDUCE, FI_FLOAT_COMPLEX, FI_MAX) == -FI_EOPNOTSUPP);
    CHECK(query(w.endpoint, static_cast<fi_collective_op>(FI_GATHER + 1), FI_UINT64, FI_SUM) ==
          -FI_EOPNOTSUPP);
    CHECK(fi_query_collective(w.endpoint.domain(), FI_BARRIER, nullptr, 0) == -FI_EINVAL);
    CHECK(fi_query_collective(w.endpoint.domain(), FI_BARRIER, &attr, FI_SEND) == -FI_EINVAL);
    attr.mode = 1;
    CHECK(fi_query_collective(w.endpoint.domain(), FI_BARRIER, &attr, 0) == -FI_EINVAL);
}

TEST_CASE("a call that makes no sense is refused, and is not counted among the group's") {
    Circle circle{2};
    const Joined group{circle, first(2)};
    fid_ep* ep = circle.ep(0);
    const fi_addr_t to = group.at(0);
    uint64_t in = 1, out = 0;
    const auto allreduce = [&](const void* data, size_t count, void* result, fi_addr_t address,
                               fi_datatype type, fi_op op, uint64_t flags) {
        return fi_allreduce(ep, data, count, nullptr, result, nullptr, address, type, op, flags,
                            &out);
    };
    CHECK(allreduce(&in, 1, &out, to + 1, FI_UINT64, FI_SUM, 0) == -FI_EINVAL);
    CHECK(allreduce(&in, 1, &out, FI_ADDR_NOTAVAIL, FI_UINT64, FI_SUM, 0) == -FI_EINVAL);
    CHECK(allreduce(&in, 1, &out, 1, FI_UINT64, FI_SUM, 0) == -FI_EINVAL); // a member's
    CHECK(allreduce(&in, 1, &out, to, FI_DOUBLE, FI_BXOR, 0) == -FI_EOPNOTSUPP);
    CHECK(allreduce(&in, 1, &out, to, FI_VOID, FI_SUM, 0) == -FI_EOPNOTSUPP);
    CHECK(allreduce(&in, 1, &out, to, static_cast<fi_datatype>(99), FI_SUM, 0) == -FI_EOPNOTSUPP);
    CHECK(allreduce(&in, SIZE_MAX / 4, &out, to, FI_UINT64, FI_SUM, 0) == -FI_EMSGSIZE);
    CHECK(allreduce(nullptr, 1, &out, to, FI_UINT64, FI_SUM, 0) == -FI_EINVAL);
    CHECK(allreduce(&in, 1, nullptr, to, FI_UINT64, FI_SUM, 0) == -FI_EINVAL);
    CHECK(allreduce(&in, 1, &out, to, FI_UINT64, FI_SUM, FI_INJECT) == -FI_EBADFLAGS);
    CHECK(allreduce(&in, 1, &out, to, FI_UINT64, FI_SUM, FI_PEEK) == -FI_EBADFLAGS);
    CHECK(fi_broadcast(ep, &in, 1, nullptr, to, 7, FI_UINT64, 0, &out) == -FI_EINVAL);
    CHECK(fi_scatter(ep, nullptr, 1, nullptr, &out, nullptr, to, 0, FI_UINT64, 0, &out) ==
          -FI_EINVAL);

    uint64_t others = 2, result = 0;
    REQUIRE(allreduce(&in, 1, &out, to, FI_UINT64, FI_SUM, 0) == 0);
    REQUIRE(fi_allreduce(circle.ep(1), &others, 1, nullptr, &result, nullptr, group.at(1),
                         FI_UINT64, FI_SUM, 0, &result) == 0);
    CHECK(!circle.outcome(0, &out).error);
    CHECK(!circle.outcome(1, &result).error);
    CHECK(out == 3);
}

TEST_CASE("a join that makes no sense is refused") {
    Circle circle{3};
    const Endpoint& e = circle[0].endpoint;
    Owned<fid_mc> group;
    CHECK(join(e, circle.set(0, {1, 2}).get(), group) == -FI_EINVAL); // we are no member
    CHECK(join(e, empty_set(e).get(), group) == -FI_EINVAL);
    const auto foreign = circle.set(1, first(3)); // of another address vector
    CHECK(join(e, foreign.get(), group) == -FI_EINVAL);
    const fi_addr_t twice = circle[0].endpoint.insert(circle[1].endpoint.name());
    CHECK(join(e, circle.set(0, {0, 1, twice}).get(), group) == -FI_EINVAL);

    const auto set = circle.set(0, first(3));
    fid_mc* mc = nullptr;
    CHECK(fi_join_collective(e.ep(), 0, set.get(), 0, &mc, nullptr) == -FI_EINVAL);
    CHECK(fi_join_collective(e.ep(), FI_ADDR_NOTAVAIL, set.get(), 0, &mc, nullptr) == -FI_ENOSYS);
    fi_addr_t address = FI_ADDR_NOTAVAIL;
    REQUIRE(fi_av_set_addr(set.get(), &address) == 0);
    CHECK(fi_join_collective(e.ep(), address, set.get(), FI_SEND, &mc, nullptr) == -FI_EINVAL);
    CHECK(fi_join_collective(e.ep(), address, nullptr, 0, &mc, nullptr) == -FI_EINVAL);
    CHECK(fi_join(e.ep(), &address, 0, &mc, nullptr) == -FI_ENOSYS);
}

TEST_CASE("who has no event queue, or has not asked for collectives, has none") {
    Watched deaf{{.caps = kAllCaps | FI_COLLECTIVE}};
    deaf.endpoint.insert(deaf.endpoint.name());
    const auto alone = [](const Watched& w) {
        fi_av_set_attr attr{};
        attr.flags = FI_UNIVERSE;
        fid_av_set* set = nullptr;
        REQUIRE(fi_av_set(w.endpoint.av(), &attr, &set, nullptr) == 0);
        return Owned<fid_av_set>{set};
    };
    Owned<fid_mc> group;
    CHECK(join(deaf.endpoint, alone(deaf).get(), group) == -FI_ENOEQ);

    const Watched without{{.caps = kAllCaps, .events = true}};
    CHECK((without.endpoint.info().caps & FI_COLLECTIVE) == 0);
    CHECK(join(without.endpoint, alone(without).get(), group) == -FI_EOPNOTSUPP);
    CHECK(fi_barrier(without.ep(), 0, nullptr) == -FI_EOPNOTSUPP);
    CHECK((deaf.endpoint.info().caps & FI_COLLECTIVE) != 0);
}

TEST_CASE("an endpoint cannot be closed before its groups") {
    Circle circle{1};
    const Joined group{circle, {0}};
    CHECK(fi_close(&circle.ep(0)->fid) == -FI_EBUSY);
}

TEST_CASE("members who disagree about the length of a collective hear of it") {
    Circle circle{2};
    const Joined group{circle, first(2)};
    for (const size_t unlike : {size_t{3}, size_t{5000}}) {
        std::vector<uint8_t> in(unlike), out(unlike);
        for (size_t i = 0; i < 2; ++i)
            REQUIRE(fi_allreduce(circle.ep(i), in.data(), i == 0 ? unlike : 2, nullptr, out.data(),
                                 nullptr, group.at(i), FI_UINT8, FI_SUM, 0, &in) == 0);
        for (size_t i = 0; i < 2; ++i) {
            const Outcome o = circle.outcome(i, &in);
            REQUIRE(o.error);
            CHECK(o.error->err == FI_EIO);
            CHECK(o.error->flags == FI_COLLECTIVE);
        }
    }
}

TEST_CASE("what is under way in a group that is left is canceled, and the others hear of it") {
    Circle circle{3};
    Joined group{circle, first(3)};
    const fi_addr_t gone = group.at(0);
    std::vector<uint64_t> in(3 * 3000), out(3 * 3000); // too long for one frame
    int first_op = 0, second_op = 0;
    for (size_t i = 0; i < 2; ++i) {
        REQUIRE(fi_alltoall(circle.ep(i), in.data(), 3000, nullptr, out.data(), nullptr,
                            group.at(i), FI_UINT64, 0, &first_op) == 0);
        REQUIRE(fi_barrier(circle.ep(i), group.at(i), &second_op) == 0);
    }
    circle.idle();
    group.groups[0].reset();
    CHECK(fi_barrier(circle.ep(0), gone, nullptr) == -FI_EINVAL);
    for (int* op : {&first_op, &second_op}) {
        // The last to come finds that it is over.
        if (op == &first_op)
            REQUIRE(fi_alltoall(circle.ep(2), in.data(), 3000, nullptr, out.data(), nullptr,
                                group.at(2), FI_UINT64, 0, op) == 0);
        else
            REQUIRE(fi_barrier(circle.ep(2), group.at(2), op) == 0);
        for (size_t i = 0; i < 3; ++i) {
            const Outcome o = circle.outcome(i, op);
            REQUIRE(o.error);
            CHECK(o.error->err == FI_ECANCELED);
        }
    }
    // A new group of the same members is a new group.
    const Joined again{circle, first(3)};
    for (size_t i = 0; i < 3; ++i) REQUIRE(fi_barrier(circle.ep(i), again.at(i), &first_op) == 0);
    for (size_t i = 0; i < 3; ++i) CHECK(!circle.outcome(i, &first_op).error);
}

TEST_CASE("a join that a member has given up fails at the others") {
    Circle circle{3};
    auto waiting = circle.join(1, first(3));
    circle.join(0, first(3)).reset();
    circle.idle();
    const auto late = circle.join(2, first(3));
    for (const size_t i : {1, 2}) {
        fi_eq_err_entry error{};
        circle.until([&] {
            uint32_t event = 0;
            fi_eq_entry entry{};
            const ssize_t n = fi_eq_read(circle[i].endpoint.eq(), &event, &entry, sizeof entry, 0);
            return n == -FI_EAVAIL;
        });
        REQUIRE(fi_eq_readerr(circle[i].endpoint.eq(), &error, 0) == sizeof error);
        CHECK(error.err == FI_ECANCELED);
        CHECK(error.fid == (i == 1 ? &waiting->fid : &late->fid));
    }
    CHECK(fi_barrier(circle.ep(1), fi_mc_addr(waiting.get()), nullptr) == -FI_EOPBADSTATE);
}
