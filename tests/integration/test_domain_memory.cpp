// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Memory of a domain's for programs (fi_odrc.h)

#include "far.hpp"
#include "prov/ofi/fi_odrc.h"
#include "tests/forks.hpp"
#include "tests/no_process_vm.hpp"

using namespace duo;

namespace {

fi_odrc_memory_ops* memory_ops(fid_domain* domain) {
    void* ops = nullptr;
    check(fi_open_ops(&domain->fid, FI_ODRC_MEMORY_OPS, 0, &ops, nullptr), "fi_open_ops");
    return static_cast<fi_odrc_memory_ops*>(ops);
}

bool zero(const char* memory, size_t length) {
    return std::all_of(memory, memory + length, [](char c) { return c == 0; });
}

} // namespace

TEST_CASE("a domain has memory for programs, in whole pages that are zero") {
    const Watched w{kRmaWishes};
    fid_domain* domain = w.endpoint.domain();
    auto* ops = memory_ops(domain);
    REQUIRE(ops->size >= sizeof(fi_odrc_memory_ops));
    for (const size_t length : {1, 4096, 4097, 1'000'000}) {
        CAPTURE(length);
        auto* first = static_cast<char*>(ops->allocate(domain, length));
        auto* second = static_cast<char*>(ops->allocate(domain, length));
        REQUIRE(first);
        REQUIRE(second);
        CHECK(reinterpret_cast<uintptr_t>(first) % 4096 == 0);
        CHECK((first + length <= second || second + length <= first));
        CHECK(zero(first, length));
        std::fill(first, first + length, 'x');
        CHECK(zero(second, length));
        ops->release(domain, first, length);
        auto* again = static_cast<char*>(ops->allocate(domain, length));
        REQUIRE(again);
        CHECK(zero(again, length));
        ops->release(domain, again, length);
        ops->release(domain, second, length + 1); // not what was asked for
        second[length - 1] = 'y';                 // so it is still there
        ops->release(domain, second, length);
    }
    ops->release(domain, nullptr, 1);
    char other = 'z';
    ops->release(domain, &other, 1);
    CHECK(other == 'z');
}

TEST_CASE("where there is no such memory, there is none") {
    const Watched w{kRmaWishes};
    fid_domain* domain = w.endpoint.domain();
    auto* ops = memory_ops(domain);
    CHECK(ops->allocate(domain, 0) == nullptr);
    CHECK(ops->allocate(domain, SIZE_MAX) == nullptr);
    CHECK(ops->allocate(domain, size_t{1} << 60) == nullptr);
    void* none = nullptr;
    CHECK(fi_open_ops(&domain->fid, FI_ODRC_MEMORY_OPS, 1, &none, nullptr) == -FI_EBADFLAGS);
    CHECK(fi_open_ops(&domain->fid, "something else", 0, &none, nullptr) == -FI_ENOSYS);
    CHECK(fi_open_ops(&w.ep()->fid, FI_ODRC_MEMORY_OPS, 0, &none, nullptr) == -FI_ENOSYS);
}

TEST_CASE("what a program forgets goes with the domain") {
    if (choice().domain != "soft0") return; // where there are 8 GiB for a process
    constexpr size_t kMost = size_t{5} << 30;
    for (int i = 0; i < 3; ++i) {
        const Watched w{kRmaWishes};
        CHECK(memory_ops(w.endpoint.domain())->allocate(w.endpoint.domain(), kMost));
    }
}

TEST_CASE("a peer writes and reads it without the kernel" * forks()) {
    constexpr size_t kLength = 300'000;
    Child child{[](Board& board) {
        Far far{board, kRmaWishes};
        fid_ep* ep = far.side.ep();
        // Once for the connection, which is told what the kernel allows.
        uint64_t place[2];
        int receiving = 0, writing = 0, reading = 0;
        check(fi_trecv(ep, place, sizeof place, nullptr, FI_ADDR_UNSPEC, 1, 0, &receiving),
              "fi_trecv");
        if (outcome(far.side, &receiving).error) _exit(2);
        auto out = pattern(kLength, 'm');
        std::vector<char> in(kLength);
        check(fi_write(ep, out.data(), 8, nullptr, far.peer, place[0], place[1], &writing),
              "fi_write");
        if (outcome(far.side, &writing).error) _exit(3);
        forbid_process_vm();
        check(fi_write(ep, out.data(), kLength, nullptr, far.peer, place[0], place[1], &writing),
              "fi_write");
        if (outcome(far.side, &writing).error) _exit(4);
        check(fi_read(ep, in.data(), kLength, nullptr, far.peer, place[0], place[1], &reading),
              "fi_read");
        if (outcome(far.side, &reading).error || in != out) _exit(5);
        board.step = 3;
        board.await(4);
    }};
    Watched near{kRmaWishes};
    const fi_addr_t far = meet(near, child);
    fid_domain* domain = near.endpoint.domain();
    auto* const memory = static_cast<char*>(memory_ops(domain)->allocate(domain, kLength));
    REQUIRE(memory);
    fid_mr* mr = nullptr;
    REQUIRE(fi_mr_reg(domain, memory, kLength, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &mr,
                      nullptr) == 0);
    const Owned<fid_mr> region{mr};
    const uint64_t place[2] = {reinterpret_cast<uint64_t>(memory), fi_mr_key(mr)};
    int sending = 0;
    REQUIRE(fi_tsend(near.ep(), place, sizeof place, nullptr, far, 1, &sending) == 0);
    const auto end = Clock::now() + kPatience;
    while (child.board->step < 3) {
        REQUIRE(Clock::now() < end);
        near.poll();
        sched_yield();
    }
    const auto written = pattern(kLength, 'm');
    CHECK(std::equal(written.begin(), written.end(), memory));
    child.board->step = 4;
    CHECK(child.join() == 0);
}
