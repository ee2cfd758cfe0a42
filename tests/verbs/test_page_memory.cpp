// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Memory that a program asks for by whole pages, which is what many register: it is what the
// manual pages say, device or not, and may outlive the device.

#include "../forks.hpp"
#include "operations.hpp"

#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <memory>
#include <sys/wait.h>
#include <unistd.h>

using namespace rig;

namespace {

constexpr size_t kPage = 4096;

struct Free {
    void operator()(void* p) const { std::free(p); }
};
using Block = std::unique_ptr<char, Free>;

Block pages(size_t alignment, size_t bytes) {
    void* memory = nullptr;
    REQUIRE(posix_memalign(&memory, alignment, bytes) == 0);
    REQUIRE(reinterpret_cast<uintptr_t>(memory) % alignment == 0);
    return Block{static_cast<char*>(memory)};
}

bool is(const char* bytes, size_t size, char value) {
    for (size_t i = 0; i < size; ++i)
        if (bytes[i] != value) return false;
    return true;
}

} // namespace

TEST_CASE("memory by whole pages is aligned as asked, and all of it can be used") {
    const Side side;
    std::vector<Block> all;
    for (const size_t alignment : {kPage, 16 * kPage, 512 * kPage})
        for (const size_t size : {size_t{1}, kPage - 1, kPage, 3 * kPage + 1, 300 * kPage}) {
            all.push_back(pages(alignment, size));
            CHECK(malloc_usable_size(all.back().get()) >= size);
            std::memset(all.back().get(), static_cast<int>(all.size()), size);
            all.emplace_back(static_cast<char*>(memalign(alignment, size)));
            REQUIRE(all.back());
            std::memset(all.back().get(), static_cast<int>(all.size()), size);
        }
    for (size_t i = 0; i < all.size(); ++i) CHECK(*all[i] == static_cast<char>(i + 1));
}

TEST_CASE("what cannot be asked for is refused") {
    const Side side;
    void* memory = nullptr;
    CHECK(posix_memalign(&memory, 3 * kPage, kPage) == EINVAL);
    CHECK(posix_memalign(&memory, kPage, SIZE_MAX / 2) == ENOMEM);
    CHECK(memory == nullptr);
    std::free(nullptr);
}

TEST_CASE("messages come into memory by whole pages and out of it") {
    Pair p;
    const auto out = pages(kPage, 2 * kPage), in = pages(kPage, 2 * kPage);
    const Mr mo = register_memory(p.a.pd, out.get(), 2 * kPage, kAllAccess);
    const Mr mi = register_memory(p.b.pd, in.get(), 2 * kPage, kAllAccess);
    REQUIRE((mo && mi));
    std::memset(out.get(), 'x', 2 * kPage);
    const ibv_sge from{reinterpret_cast<uint64_t>(out.get()) + 100, kPage, mo->lkey};
    const ibv_sge to{reinterpret_cast<uint64_t>(in.get()) + 50, kPage, mi->lkey};
    REQUIRE(post_receive(p.qb.get(), {.id = kReceiveId, .segments = {to}}) == 0);
    REQUIRE(post(p.qa.get(), {.id = kSendId, .opcode = IBV_WR_SEND, .segments = {from}}) == 0);
    CHECK(p.a.sent().status == IBV_WC_SUCCESS);
    CHECK(p.b.received().byte_len == kPage);
    CHECK(is(in.get() + 50, kPage, 'x'));
}

TEST_CASE("memory by whole pages keeps what it holds when it is made larger or smaller") {
    const Side side;
    for (const size_t size : {size_t{10}, 5 * kPage}) {
        auto memory = pages(kPage, 2 * kPage);
        std::memset(memory.get(), 'y', 2 * kPage);
        void* moved = std::realloc(memory.release(), size);
        REQUIRE(moved);
        memory.reset(static_cast<char*>(moved));
        CHECK(is(memory.get(), std::min(size, 2 * kPage), 'y'));
    }
}

TEST_CASE("memory by whole pages stays when the device is closed") {
    Block memory;
    {
        const Side side;
        memory = pages(kPage, 4 * kPage);
        std::memset(memory.get(), 'z', 4 * kPage);
    }
    CHECK(is(memory.get(), 4 * kPage, 'z'));
    const Side again;
    const auto more = pages(kPage, 4 * kPage);
    std::memset(more.get(), 'a', 4 * kPage);
    CHECK(is(memory.get(), 4 * kPage, 'z'));
}

TEST_CASE("a child that frees what it inherited takes nothing from its parent" * forks()) {
    const Side side;
    const auto memory = pages(kPage, 2 * kPage);
    std::memset(memory.get(), 'p', 2 * kPage);
    const pid_t child = fork();
    if (child == 0) {
        std::free(memory.get());
        void* own = nullptr;
        _exit(posix_memalign(&own, kPage, kPage) == 0 && own ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(is(memory.get(), 2 * kPage, 'p'));
}
