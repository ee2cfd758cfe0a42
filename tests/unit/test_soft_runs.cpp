// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Lists of reads or writes of another process's private memory, which the soft device carries out
// together: they end as each by itself would.

#include "fork.hpp"
#include "tests/forks.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

using namespace rig;

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kRequests = 100;
constexpr size_t kPages = 2 * kRequests; // every other one is used
constexpr size_t kBlock = 200;
constexpr int kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
constexpr Limits kMany{.completions = 512, .sends = 2 * kRequests};

std::byte* pages() {
    void* memory =
        mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    return static_cast<std::byte*>(memory);
}

// A connection to a child, whose memory this process sees, too, though not the device in it.
class Connection {
public:
    // One page of the child's has been unmapped since it was registered.
    explicit Connection(size_t hole = kPages) {
        child_ = fork_child([&] {
            Side side{kMany};
            const verbs::Qp its_qp = side.make_qp();
            const verbs::Mr its_mr = side.register_memory(there, kPages * kPage, kAll);
            auto* own = static_cast<std::byte*>(side.context().allocate(kPage));
            const verbs::Mr own_mr = side.register_memory(own, kPage, kAll);
            if (hole < kPages) munmap(there + hole * kPage, kPage);
            memory_.board->address = reinterpret_cast<uint64_t>(own);
            key = its_mr->rkey;
            memory_.board->rkey = own_mr->rkey;
            child_connects(side, its_qp.get(), *memory_.board);
            while (!memory_.board->done) sched_yield();
        });
        qp = near.make_qp();
        mr = near.register_memory(here, kPages * kPage, kAll);
        parent_connects(near, qp.get(), *memory_.board);
    }
    ~Connection() {
        memory_.board->done = true;
        waitpid(child_, nullptr, 0);
        munmap(here, kPages * kPage);
        munmap(there, kPages * kPage);
        munmap(&key, sizeof key);
    }

    uint64_t shared_address() const { return memory_.board->address; }
    uint32_t shared_key() const { return memory_.board->rkey; }

private:
    BoardMemory memory_;
    pid_t child_;

public:
    std::byte* const here{pages()};
    std::byte* const there{pages()};
    uint32_t& key{*static_cast<uint32_t*>(mmap(nullptr, sizeof(uint32_t), PROT_READ | PROT_WRITE,
                                               MAP_SHARED | MAP_ANONYMOUS, -1, 0))};
    Side near{kMany};
    verbs::Qp qp;
    verbs::Mr mr;
};

// Requests of a block each, from one scattered place to another; every third has a completion.
class RequestList {
public:
    RequestList(const Connection& c, ibv_wr_opcode opcode)
        : segments_(3 * kRequests)
        , requests(kRequests) {
        for (size_t i = 0; i < kRequests; ++i) {
            const size_t at = 2 * i * kPage + i;
            ibv_sge* s = &segments_[3 * i];
            s[0] = sge(c.here + at, 100, c.mr->lkey);
            s[1] = sge(c.here + at + 100, 40, c.mr->lkey); // which goes on where that ends
            s[2] = sge(c.here + at + kPage, kBlock - 140, c.mr->lkey);
            ibv_send_wr& wr = requests[i];
            wr.wr_id = i;
            wr.next = i + 1 < kRequests ? &requests[i + 1] : nullptr;
            wr.sg_list = s;
            wr.num_sge = 3;
            wr.opcode = opcode;
            wr.send_flags = i % 3 == 0 || i + 1 == kRequests ? IBV_SEND_SIGNALED : 0;
            wr.wr.rdma.remote_addr = reinterpret_cast<uint64_t>(c.there + at);
            wr.wr.rdma.rkey = c.key;
        }
    }

    void post(ibv_qp* qp) {
        ibv_send_wr* bad = nullptr;
        REQUIRE(ibv_post_send(qp, requests.data(), &bad) == 0);
    }

private:
    std::vector<ibv_sge> segments_;

public:
    std::vector<ibv_send_wr> requests;
};

void fill(Connection& c) {
    for (size_t i = 0; i < kPages * kPage; ++i) {
        c.here[i] = static_cast<std::byte>(i * 7 + i / kPage);
        c.there[i] = static_cast<std::byte>(i * 5 + i / kPage);
    }
}

// Whether the block of a request is the same on both sides.
bool moved(const Connection& c, size_t i) {
    const size_t at = 2 * i * kPage + i;
    return std::memcmp(c.here + at, c.there + at, 140) == 0 &&
           std::memcmp(c.here + at + kPage, c.there + at + 140, kBlock - 140) == 0;
}

// Those before the culprit succeed and have moved, it ends so, and those behind it are flushed and
// have not moved.
void check_end(Connection& c, size_t culprit, ibv_wc_status status) {
    for (size_t i = 0; i < kRequests; ++i) {
        CAPTURE(i);
        CHECK(moved(c, i) == (i < culprit));
        if (i < culprit && i % 3 != 0 && i + 1 != kRequests) continue;
        const ibv_wc wc = c.near.wait();
        CHECK(wc.wr_id == i);
        CHECK(wc.status == (i < culprit    ? IBV_WC_SUCCESS
                            : i == culprit ? status
                                           : IBV_WC_WR_FLUSH_ERR));
    }
    CHECK_FALSE(c.near.poll());
}

} // namespace

TEST_CASE("scattered blocks of a list are moved, and completed in order" * forks()) {
    for (const auto opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ}) {
        Connection c;
        fill(c);
        const std::vector<std::byte> before(c.there, c.there + kPages * kPage);
        RequestList list{c, opcode};
        for (int round = 0; round < 5; ++round) {
            list.post(c.qp.get());
            check_end(c, kRequests, IBV_WC_SUCCESS);
        }
        if (opcode == IBV_WR_RDMA_READ) {
            CHECK(std::equal(before.begin(), before.end(), c.there));
        } else {
            for (size_t i = 0; i < kRequests; ++i) // and nothing beside them
                CHECK(std::equal(c.there + 2 * i * kPage + i + kBlock,
                                 c.there + 2 * (i + 1) * kPage,
                                 &before[2 * i * kPage + i + kBlock]));
        }
    }
}

TEST_CASE("a request with a wrong key or bounds ends a list where it stands" * forks()) {
    enum class Wrong { key_of_peer, bounds, own_key };
    for (const Wrong what : {Wrong::key_of_peer, Wrong::bounds, Wrong::own_key}) {
        for (const size_t culprit : {0, 50, 99}) {
            for (const auto opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ}) {
                Connection c;
                fill(c);
                RequestList list{c, opcode};
                ibv_send_wr& wrong = list.requests[culprit];
                if (what == Wrong::key_of_peer) wrong.wr.rdma.rkey ^= 1;
                if (what == Wrong::bounds) wrong.wr.rdma.remote_addr += kPages * kPage;
                if (what == Wrong::own_key) wrong.sg_list[1].lkey ^= 1;
                list.post(c.qp.get());
                check_end(c, culprit,
                          what == Wrong::own_key ? IBV_WC_LOC_PROT_ERR : IBV_WC_REM_ACCESS_ERR);
            }
        }
    }
}

TEST_CASE("a request for memory that is not there any more ends a list where it stands" * forks()) {
    for (const size_t culprit : {0, 50, 99}) {
        for (const auto opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ}) {
            Connection c{2 * culprit};
            fill(c);
            RequestList list{c, opcode};
            list.post(c.qp.get());
            check_end(c, culprit, IBV_WC_REM_ACCESS_ERR);
        }
    }
}

TEST_CASE("a list that the send queue has no room for is refused from there on" * forks()) {
    Connection c;
    fill(c);
    RequestList list{c, IBV_WR_RDMA_WRITE};
    for (ibv_send_wr& wr : list.requests) wr.send_flags = IBV_SEND_SIGNALED;
    list.post(c.qp.get());
    list.requests[70].next = nullptr;
    list.post(c.qp.get()); // 71 of them
    list.requests[70].next = &list.requests[71];
    ibv_send_wr* bad = nullptr;
    CHECK(ibv_post_send(c.qp.get(), list.requests.data(), &bad) == ENOMEM);
    CHECK(bad == &list.requests[2 * kRequests - 171]);
    for (size_t i = 0; i < 2 * kRequests; ++i) CHECK(c.near.wait().status == IBV_WC_SUCCESS);
    CHECK_FALSE(c.near.poll());
}

TEST_CASE("what is in between goes in its turn" * forks()) {
    Connection c;
    fill(c);
    RequestList list{c, IBV_WR_RDMA_WRITE};
    for (size_t i = 0; i < kRequests; ++i) {
        ibv_send_wr& wr = list.requests[i];
        if (i % 10 == 3 || i % 10 == 4) { // memory that is seen here
            wr.wr.rdma.remote_addr = c.shared_address();
            wr.wr.rdma.rkey = c.shared_key();
        } else if (i % 10 == 6) { // what the one before has written
            wr.opcode = IBV_WR_RDMA_READ;
            wr.wr.rdma.remote_addr = list.requests[i - 1].wr.rdma.remote_addr;
        } else if (i % 10 == 8) {
            wr.num_sge = 0;
        } else if (i % 10 == 9) { // over what the one before that has written
            wr.wr.rdma.remote_addr = list.requests[i - 2].wr.rdma.remote_addr;
        }
        wr.send_flags = IBV_SEND_SIGNALED;
    }
    list.post(c.qp.get());
    for (size_t i = 0; i < kRequests; ++i) {
        const ibv_wc wc = c.near.wait();
        CHECK(wc.wr_id == i);
        CHECK(wc.status == IBV_WC_SUCCESS);
    }
    std::byte in_it[kBlock];
    const auto mr = c.near.register_memory(in_it, kBlock, IBV_ACCESS_LOCAL_WRITE);
    REQUIRE(c.near.post_send(c.qp.get(), {sge(in_it, kBlock, mr->lkey)},
                             {.opcode = IBV_WR_RDMA_READ,
                              .remote = c.shared_address(),
                              .rkey = c.shared_key()}) == 0);
    REQUIRE(c.near.wait().status == IBV_WC_SUCCESS);
    for (size_t i = 0; i < kRequests; ++i) {
        CAPTURE(i);
        const auto block = [&](size_t of, size_t where) {
            const std::byte* from = c.here + 2 * of * kPage + of;
            return std::memcmp(from, c.there + 2 * where * kPage + where, 140) == 0 &&
                   std::memcmp(from + kPage, c.there + 2 * where * kPage + where + 140,
                               kBlock - 140) == 0;
        };
        if (i % 10 == 6) CHECK(block(i, i - 1));
        if (i % 10 == 9) CHECK(block(i, i - 2));
        if (i % 10 < 3 || i % 10 == 5) CHECK(block(i, i));
    }
    const std::byte* last = c.here + 2 * 94 * kPage + 94;
    CHECK(std::memcmp(in_it, last, 140) == 0);
    CHECK(std::memcmp(in_it + 140, last + kPage, kBlock - 140) == 0);
}
