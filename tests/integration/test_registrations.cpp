// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What travels is what is in the memory now, whatever was there when it was used before.

#include "statistics.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace duo;

namespace {

constexpr size_t kHuge = size_t{2} << 20;

char* map(size_t bytes, int flags, void* where = nullptr) {
    void* memory = mmap(where, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
}

// One long message from out to in, which must say the same in the end.
void send_over(Duo& d, const char* out, char* in, size_t size) {
    int sending = 0, receiving = 0;
    REQUIRE(fi_recv(d.b.ep(), in, size, nullptr, FI_ADDR_UNSPEC, &receiving) == 0);
    REQUIRE(fi_send(d.a.ep(), out, size, nullptr, d.to_b, &sending) == 0);
    REQUIRE_FALSE(d.outcome(d.b, &receiving).error);
    REQUIRE_FALSE(d.outcome(d.a, &sending).error);
    REQUIRE(std::memcmp(out, in, size) == 0);
}

void fill(char* memory, size_t size, int seed) {
    for (size_t i = 0; i < size; i += 512) memory[i] = static_cast<char>(seed + i / 4096);
}

// Both buffers at the addresses of a reservation, anew for every message.
void send_from_new_memory(size_t size, int flags, int rounds) {
    char* const room = map(4 * kHuge, MAP_PRIVATE | MAP_NORESERVE);
    REQUIRE(room);
    char* const out =
        reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(room) + kHuge - 1) & ~(kHuge - 1));
    char* const in = out + kHuge;
    Duo d;
    for (int i = 0; i < rounds; ++i) {
        REQUIRE(map(size, flags | MAP_FIXED, out));
        REQUIRE(map(size, flags | MAP_FIXED, in));
        if (size >= kHuge) madvise(out, 2 * size, MADV_HUGEPAGE);
        fill(out, size, i);
        send_over(d, out, in, size);
        if (i % 3 == 1) { // what is discarded is new memory, too
            madvise(out, size, flags & MAP_SHARED ? MADV_REMOVE : MADV_DONTNEED);
            madvise(in, size, flags & MAP_SHARED ? MADV_REMOVE : MADV_DONTNEED);
            fill(out, size, i + 100);
            send_over(d, out, in, size);
        }
        if (i % 10 == 5 && !(flags & MAP_SHARED)) { // a child writes to its copy
            const pid_t child = fork();
            if (child == 0) {
                fill(out, size, i + 50);
                _exit(0);
            }
            fill(out, size, i + 200);
            send_over(d, out, in, size);
            waitpid(child, nullptr, 0);
        }
        if (i % 2 == 0) {
            munmap(out, size);
            munmap(in, size);
        }
    }
    munmap(room, 4 * kHuge);
}

} // namespace

TEST_CASE("the same buffers carry long messages again and again") {
    Duo d;
    constexpr size_t kSize = 200'000;
    std::vector<char> out(kSize), in(kSize);
    for (int i = 0; i < 50; ++i) {
        out = pattern(kSize, static_cast<char>(i));
        send_over(d, out.data(), in.data(), kSize);
    }
}

TEST_CASE("messages from memory that is new at the same addresses") {
    SUBCASE("private") { send_from_new_memory(64 << 10, MAP_PRIVATE, 60); }
    SUBCASE("shared") { send_from_new_memory(64 << 10, MAP_SHARED, 60); }
    SUBCASE("of huge pages, if the kernel likes") { send_from_new_memory(kHuge, MAP_PRIVATE, 12); }
    SUBCASE("of huge pages that were set aside") {
        char* memory = map(2 * kHuge, MAP_PRIVATE | MAP_HUGETLB);
        if (!memory) return; // none were
        munmap(memory, 2 * kHuge);
        send_from_new_memory(kHuge, MAP_PRIVATE | MAP_HUGETLB, 12);
    }
}

TEST_CASE("a buffer that was sent from is received into") {
    Duo d;
    constexpr size_t kSize = 50'000;
    std::vector<char> one(kSize), other(kSize);
    for (int i = 0; i < 10; ++i) {
        one = pattern(kSize, static_cast<char>(i));
        send_over(d, one.data(), other.data(), kSize);
        other = pattern(kSize, static_cast<char>(i + 7));
        send_over(d, other.data(), one.data(), kSize);
    }
}

TEST_CASE("a region is told what it is meant for, which permits nothing") {
    Duo d{kRmaWishes};
    char memory[8]{};
    const auto reg = [&](uint64_t access) {
        fid_mr* mr = nullptr;
        const int result =
            fi_mr_reg(d.b.endpoint.domain(), memory, sizeof memory, access, 0, 0, 0, &mr, nullptr);
        return std::pair{result, Owned<fid_mr>{mr}};
    };
    const auto error_of_write = [&](const Owned<fid_mr>& region) {
        int writing = 0;
        REQUIRE(fi_write(d.a.ep(), "w", 1, nullptr, d.to_b, reinterpret_cast<uint64_t>(memory),
                         fi_mr_key(region.get()), &writing) == 0);
        const auto error = d.outcome(d.a, &writing).error;
        return error ? error->err : 0;
    };
    constexpr uint64_t kMeantFor = FI_COLLECTIVE | FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC;
    const auto [result, region] = reg(kMeantFor | FI_REMOTE_WRITE);
    REQUIRE(result == 0);
    CHECK(error_of_write(region) == 0);
    const auto [only_meant, closed] = reg(kMeantFor | FI_REMOTE_READ);
    REQUIRE(only_meant == 0);
    CHECK(error_of_write(closed) == FI_EACCES);
}

TEST_CASE("a region takes up other pages, or says that it cannot") {
    Duo d{kRmaWishes};
    constexpr size_t kSize = 1 << 16;
    char* const pages = map(kSize, MAP_PRIVATE);
    REQUIRE(pages);
    std::memset(pages, 'o', kSize);
    fid_mr* mr = nullptr;
    REQUIRE(fi_mr_reg(d.b.endpoint.domain(), pages, kSize, FI_REMOTE_READ, 0, 0, 0, &mr, nullptr) ==
            0);
    const Owned<fid_mr> region{mr};
    const iovec part{pages + kSize / 2, kSize / 2};
    const iovec beyond{pages + kSize / 2, kSize / 2 + 1};
    CHECK(fi_mr_refresh(mr, &beyond, 1, 0) == -FI_EINVAL);
    CHECK(fi_mr_refresh(mr, nullptr, 1, 0) == -FI_EINVAL);
    CHECK(fi_mr_refresh(mr, &part, 1, FI_RMA_PMEM) == -FI_EBADFLAGS);

    REQUIRE(map(kSize, MAP_PRIVATE | MAP_FIXED, pages));
    std::memset(pages, 'n', kSize);
    const int result = fi_mr_refresh(mr, &part, 1, 0);
    if (result != -FI_EOPNOTSUPP) { // else the driver cannot
        CHECK(result == 0);
        CHECK(fi_mr_refresh(mr, nullptr, 0, 0) == 0);
        char in = 0;
        int reading = 0;
        REQUIRE(fi_read(d.a.ep(), &in, 1, nullptr, d.to_b,
                        reinterpret_cast<uint64_t>(pages) + kSize / 2, fi_mr_key(mr),
                        &reading) == 0);
        CHECK(!d.outcome(d.a, &reading).error);
        CHECK(in == 'n');
    }
    munmap(pages, kSize);
}

TEST_CASE("many pieces with little between them are registered together, and found again") {
    constexpr size_t kPage = 4096, kCount = 32;
    Duo d{kRmaWishes};
    const size_t count = std::min(kCount, d.a.endpoint.info().tx_attr->iov_limit);
    for (const size_t every : {2, 3, 4}) {
        CAPTURE(every);
        const size_t size = kCount * every * kPage;
        char *const out = map(size, MAP_PRIVATE), *const in = map(size, MAP_PRIVATE);
        REQUIRE(out);
        REQUIRE(in);
        fill(out, size, 1);
        std::vector<iovec> from, to;
        for (size_t i = 0; i < count; ++i) {
            const size_t n = i * 7 % count * every * kPage; // in no order
            from.push_back({out + n, kPage});
            to.push_back({in + n, kPage});
        }
        const auto made = [&] {
            return statistics_of(d.a).registrations + statistics_of(d.b).registrations;
        };
        const auto are_same = [&] {
            return std::ranges::all_of(from, [&](const iovec& v) {
                const char* piece = static_cast<const char*>(v.iov_base);
                return std::memcmp(piece, in + (piece - out), kPage) == 0;
            });
        };

        const auto before = made();
        for (int i = 0; i < 3; ++i) {
            int sending = 0, receiving = 0;
            REQUIRE(fi_recvv(d.b.ep(), to.data(), nullptr, count, d.to_a, &receiving) == 0);
            REQUIRE(fi_sendv(d.a.ep(), from.data(), nullptr, count, d.to_b, &sending) == 0);
            REQUIRE_FALSE(d.outcome(d.b, &receiving).error);
            REQUIRE_FALSE(d.outcome(d.a, &sending).error);
            CHECK(are_same());
            // Other memory may come and go around it.
            if (i == 0) CHECK(made() - before <= 2);
        }

        Shared there{d.b, count * kPage};
        const fi_rma_iov remote{there.at(0), count * kPage, there.key()};
        const auto before_rma = made();
        int reading = 0;
        const fi_msg_rma m = rma_message(d.to_b, to, {&remote, 1}, &reading);
        REQUIRE(fi_readmsg(d.a.ep(), &m, FI_COMPLETION) == 0);
        REQUIRE_FALSE(d.outcome(d.a, &reading).error);
        CHECK(made() - before_rma <= 1);
        munmap(out, size);
        munmap(in, size);
    }
}

TEST_CASE("pieces go though there is no memory between some of them") {
    constexpr size_t kPage = 4096, kCount = 16;
    Duo d;
    const size_t count = std::min(kCount, d.a.endpoint.info().tx_attr->iov_limit);
    const size_t size = 2 * kCount * kPage;
    for (int i = 0; i < 6; ++i) {
        char* const out = map(size, MAP_PRIVATE);
        char* const in = map(size, MAP_PRIVATE);
        REQUIRE(out);
        REQUIRE(in);
        fill(out, size, i);
        for (char* memory : {out, in}) { // behind each piece a page that is none
            for (size_t n = 1; n < 2 * kCount; n += 2) {
                const bool unmaps = n == 2 * size_t(i) + 1;
                REQUIRE((unmaps ? munmap(memory + n * kPage, kPage)
                                : mprotect(memory + n * kPage, kPage, PROT_NONE)) == 0);
            }
        }
        std::vector<iovec> from, to;
        for (size_t n = 0; n < count; ++n) {
            from.push_back({out + 2 * n * kPage, kPage});
            to.push_back({in + 2 * n * kPage, kPage});
        }
        int sending = 0, receiving = 0;
        REQUIRE(fi_recvv(d.b.ep(), to.data(), nullptr, count, d.to_a, &receiving) == 0);
        REQUIRE(fi_sendv(d.a.ep(), from.data(), nullptr, count, d.to_b, &sending) == 0);
        REQUIRE_FALSE(d.outcome(d.b, &receiving).error);
        REQUIRE_FALSE(d.outcome(d.a, &sending).error);
        for (size_t n = 0; n < count; ++n)
            CHECK(std::memcmp(from[n].iov_base, to[n].iov_base, kPage) == 0);
        for (const auto* pieces : {&from, &to}) // in a hole may be another thread's memory by now
            for (const iovec& v : *pieces) munmap(v.iov_base, kPage);
    }
}
