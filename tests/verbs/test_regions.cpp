// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Registered memory: what can be registered, and what a registration is good for.

#include "operations.hpp"

#include <cstring>
#include <sys/mman.h>

using namespace rig;

namespace {

constexpr size_t kPage = 4096;

// Anonymous memory of its own pages.
class Mapping {
public:
    Mapping(size_t size, int protection)
        : size_{size}
        , address{mmap(nullptr, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)} {
        REQUIRE(address != MAP_FAILED);
    }
    ~Mapping() { munmap(address, size_); }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

private:
    size_t size_;

public:
    void* address;
};

void check_refused(const Side& side, void* address, size_t size, unsigned access, int error) {
    errno = 0;
    const Mr mr = register_memory(side.pd, address, size, access);
    CHECK(mr == nullptr);
    CHECK(errno == error);
}

bool write_to(Pair& p, uint64_t address, uint32_t rkey) {
    Work w = work<Write>({p.ma.segment(0, 8)}, p.mb);
    w.remote = address;
    w.rkey = rkey;
    REQUIRE(post(p.qa.get(), w) == 0);
    return p.a.sent().status == IBV_WC_SUCCESS;
}

} // namespace

TEST_CASE("a region tells what it was made of") {
    const Side side;
    const Region region{side.pd, 100};
    CHECK(region.mr->addr == region.bytes.data());
    CHECK(region.mr->length == 100);
    CHECK(region.mr->pd == side.pd.get());
    CHECK(region.mr->context == side.context.get());
}

TEST_CASE("regions have keys of their own, even of the same memory") {
    const Side side;
    char bytes[64];
    std::vector<Mr> regions;
    for (int i = 0; i < 20; ++i) {
        regions.push_back(register_memory(side.pd, bytes, sizeof bytes, kAllAccess));
        REQUIRE(regions.back());
        for (int k = 0; k < i; ++k) {
            CHECK(regions[i]->lkey != regions[k]->lkey);
            CHECK(regions[i]->rkey != regions[k]->rkey);
        }
    }
}

TEST_CASE_TEMPLATE("a right for others to change memory needs the right to write it", T,
                   std::integral_constant<unsigned, IBV_ACCESS_REMOTE_WRITE>,
                   std::integral_constant<unsigned, IBV_ACCESS_REMOTE_ATOMIC>) {
    const Side side;
    char bytes[64];
    check_refused(side, bytes, sizeof bytes, T::value, EINVAL);
    check_refused(side, bytes, sizeof bytes, T::value | IBV_ACCESS_REMOTE_READ, EINVAL);
}

TEST_CASE("memory that is not there cannot be registered") {
    const Side side;
    const Mapping hole{3 * kPage, PROT_NONE};
    check_refused(side, hole.address, 3 * kPage, IBV_ACCESS_LOCAL_WRITE, EFAULT);
}

TEST_CASE("memory that is there in part cannot be registered") {
    const Side side;
    const Mapping mapping{3 * kPage, PROT_READ | PROT_WRITE};
    auto* last = static_cast<char*>(mapping.address) + 2 * kPage;
    REQUIRE(mprotect(last, kPage, PROT_NONE) == 0);
    check_refused(side, mapping.address, 2 * kPage + 1, IBV_ACCESS_LOCAL_WRITE, EFAULT);
    const Mr mr = register_memory(side.pd, mapping.address, 2 * kPage, IBV_ACCESS_LOCAL_WRITE);
    CHECK(mr);
}

TEST_CASE("memory that may not be written cannot be registered for that") {
    const Side side;
    const Mapping constant{kPage, PROT_READ};
    check_refused(side, constant.address, kPage, IBV_ACCESS_LOCAL_WRITE, EFAULT);
}

TEST_CASE("a region cannot go round the end of the address space") {
    const Side side;
    char byte = 0;
    errno = 0;
    const Mr mr = register_memory(side.pd, &byte, ~size_t{0} - 100, IBV_ACCESS_LOCAL_WRITE);
    CHECK(mr == nullptr);
    CHECK(errno != 0);
}

TEST_CASE("a region ends at the byte, not at the page") {
    const Mapping mapping{2 * kPage, PROT_READ | PROT_WRITE};
    auto* bytes = static_cast<char*>(mapping.address);
    for (const size_t size : {size_t{8}, kPage - 1, kPage + 9}) {
        for (const bool inside : {true, false}) {
            Pair p;
            const Mr mr = register_memory(p.b.pd, bytes + 5, size, kAllAccess);
            REQUIRE(mr);
            const auto last = reinterpret_cast<uint64_t>(bytes) + 5 + size - 8;
            CHECK(write_to(p, last + !inside, mr->rkey) == inside);
        }
    }
}

TEST_CASE("a region that is given up leaves another of the same memory alone") {
    Pair p;
    p.ma.fill(1);
    const Mr other =
        register_memory(p.b.pd, p.mb.bytes.data() + 100, p.mb.bytes.size() - 100, kAllAccess);
    REQUIRE(other);
    const uint32_t gone = p.mb.rkey();
    p.mb.mr.reset();
    CHECK(write_to(p, p.mb.address(100), other->rkey));
    CHECK(std::memcmp(p.mb.bytes.data() + 100, p.ma.bytes.data(), 8) == 0);
    CHECK_FALSE(write_to(p, p.mb.address(100), gone));
}

TEST_CASE("each region of the same memory gives its own rights") {
    Pair p;
    const Mr readable = register_memory(p.b.pd, p.mb.bytes.data(), 100, IBV_ACCESS_REMOTE_READ);
    REQUIRE(readable);
    CHECK(write_to(p, p.mb.address(), p.mb.rkey()));
    CHECK_FALSE(write_to(p, p.mb.address(), readable->rkey));
}

TEST_CASE("memory registered again has a key of its own, and the old one stays dead") {
    Pair p;
    const uint32_t old = p.mb.rkey();
    p.mb.mr.reset();
    p.mb.mr = register_memory(p.b.pd, p.mb.bytes.data(), p.mb.bytes.size(), kAllAccess);
    REQUIRE(p.mb.mr);
    CHECK(p.mb.rkey() != old);
    CHECK(write_to(p, p.mb.address(), p.mb.rkey()));
    CHECK_FALSE(write_to(p, p.mb.address(), old));
}

TEST_CASE("a region can be written though its memory has not been touched") {
    constexpr size_t size = 64 * kPage;
    const Mapping mapping{size, PROT_READ | PROT_WRITE};
    Pair p;
    p.ma.fill(1);
    const Mr mr = register_memory(p.b.pd, mapping.address, size, kAllAccess);
    REQUIRE(mr);
    const auto at = reinterpret_cast<uint64_t>(mapping.address) + 40 * kPage - 4;
    CHECK(write_to(p, at, mr->rkey));
    CHECK(std::memcmp(reinterpret_cast<void*>(at), p.ma.bytes.data(), 8) == 0);
}

TEST_CASE("what the program writes into a region is what the peer reads") {
    Pair p;
    for (int seed = 0; seed < 3; ++seed) {
        p.mb.fill(seed);
        REQUIRE(post(p.qa.get(), work<Read>({p.ma.segment(0, 5000)}, p.mb)) == 0);
        check_sent<Read>(p.a.sent(), p.qa, 5000);
        CHECK(std::memcmp(p.ma.bytes.data(), p.mb.bytes.data(), 5000) == 0);
    }
}

TEST_CASE("a region can be reached at addresses of the program's choice") {
    Pair p;
    p.ma.fill(1);
    // Within its page the memory stays where it is.
    const uint64_t base = 0x100000000 + p.mb.address() % kPage;
    const Mr mr{ibv_reg_mr_iova(p.b.pd.get(), p.mb.bytes.data(), 100, base, kAllAccess)};
    REQUIRE(mr);
    CHECK(write_to(p, base + 92, mr->rkey));
    CHECK(std::memcmp(p.mb.bytes.data() + 92, p.ma.bytes.data(), 8) == 0);
    CHECK_FALSE(write_to(p, base + 93, mr->rkey));
}

TEST_CASE("a region of no bytes is refused, or gives access to none") {
    Pair p;
    const Mr mr = register_memory(p.b.pd, p.mb.bytes.data(), 0, kAllAccess);
    if (!mr) return;
    CHECK_FALSE(write_to(p, p.mb.address(), mr->rkey));
    CHECK(all_zero(p.mb.bytes, 0, 100));
}
