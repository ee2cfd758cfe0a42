// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Memory in many pieces: how few regions it becomes, and of what is found when it comes again.

#include "adapter_rig.hpp"
#include "verbs_rc/group_registration.hpp"

#include <random>

using namespace rig;
using verbs::Range;
using verbs::Registration;

namespace {

constexpr uintptr_t kBase = uintptr_t{1} << 32;
constexpr uintptr_t kReach = verbs::kWorthOneCall;

// How many of the pieces are in each group.
std::vector<size_t> groups_of(const std::vector<Range>& memory) {
    std::vector<verbs::Piece> pieces;
    for (const Range& r : memory) pieces.push_back({{kBase + r.begin, kBase + r.end}, 0});
    std::vector<size_t> sizes;
    for (std::span<const verbs::Piece> rest{pieces}; !rest.empty();) {
        sizes.push_back(verbs::first_group(rest));
        rest = rest.subspan(sizes.back());
    }
    return sizes;
}

using Sizes = std::vector<size_t>;

// A list and what became of it.
struct Listed {
    Listed(AdapterRig& rig, std::vector<iovec> list, int access = kRead, size_t bytes = SIZE_MAX)
        : r{rig}
        , pieces{std::move(list)}
        , keys(pieces.size())
        , error{verbs::register_list(r.adapter, pieces, bytes, access, r.adapter.now(), keys)} {}

    size_t fresh() const { return std::ranges::count_if(keys, &Registration::fresh); }
    size_t found() const {
        return std::ranges::count_if(keys, [](auto& k) { return k.cached() && !k.fresh(); });
    }
    size_t bytes() const {
        size_t bytes = 0;
        for (const Registration& key : keys) bytes += key.bytes();
        return bytes;
    }
    // Whether each piece has the key of memory in which it lies.
    bool all_right() const {
        for (size_t i = 0; i < keys.size(); ++i) {
            const auto begin = reinterpret_cast<uintptr_t>(pieces[i].iov_base);
            if (pieces[i].iov_len > 0 &&
                !r.device.memory_of(keys[i].lkey()).covers({begin, begin + pieces[i].iov_len}))
                return false;
        }
        return true;
    }

    AdapterRig& r;
    std::vector<iovec> pieces;
    std::vector<Registration> keys;
    int error;
};

// A page each, every so many pages.
std::vector<iovec> pages(const Mapping& m, size_t count, size_t every) {
    std::vector<iovec> list;
    for (size_t i = 0; i < count; ++i) list.push_back({m.page(i * every), kPage});
    return list;
}

} // namespace

TEST_SUITE_BEGIN("group registration");

TEST_CASE("pieces are one region as long as what lies between them takes no more than a call") {
    CHECK(groups_of({{0, 100}}) == Sizes{1});
    CHECK(groups_of({{0, 100}, {100, 200}, {300, 400}}) == Sizes{3});
    CHECK(groups_of({{0, kPage}, {kPage + kReach, 2 * kPage + kReach}}) == Sizes{2});
    CHECK(groups_of({{0, kPage}, {2 * kPage + kReach, 3 * kPage + kReach}}) == Sizes{1, 1});
    // Only whole pages between them count.
    CHECK(groups_of({{0, 1}, {kPage + kReach + kPage - 1, kReach + 3 * kPage}}) == Sizes{2});
    CHECK(groups_of({{0, 10}, {10 * kReach, 11 * kReach}, {11 * kReach + 5, 12 * kReach}}) ==
          Sizes{1, 2});
}

TEST_CASE("pieces that overlap are one, and the longest says where the next gap begins") {
    CHECK(groups_of({{0, 10 * kReach}, {5, 6}, {10 * kReach, 10 * kReach + 1}}) == Sizes{3});
    CHECK(groups_of({{0, 100}, {0, 100}, {0, 100}, {50, 150}}) == Sizes{4});
}

TEST_CASE("a list is one region in any order, and is found again as one") {
    AdapterRig r;
    const Mapping m{64};
    std::vector<iovec> list = pages(m, 32, 2);
    list[5].iov_len = 0;
    list[6] = list[7];                   // the same twice
    list[8] = {m.page(18) + 100, kPage}; // over the edge of the next
    std::ranges::shuffle(list, std::mt19937{7});
    {
        const Listed once{r, list};
        REQUIRE(once.error == 0);
        CHECK(once.all_right());
        CHECK(r.device.registered == 1);
        CHECK(once.fresh() == 1);
        CHECK(once.found() == 0);
        CHECK(once.bytes() == 63 * kPage);
    }
    if (no_userfaultfd()) return;
    const Listed again{r, list};
    CHECK(again.all_right());
    CHECK(again.fresh() == 0);
    CHECK(again.found() == 1);
    CHECK(again.bytes() == 63 * kPage);
    const Listed some{r, {list[20], list[3]}};
    CHECK(some.found() == 1);
    CHECK(r.device.registered == 1);
}

TEST_CASE("far pieces are regions of their own") {
    AdapterRig r;
    const Mapping m{256};
    const Listed list{r, {{m.page(200), 10}, {m.page(0), 10}, {m.page(202), 10}, {m.page(2), 10}}};
    CHECK(list.all_right());
    CHECK(r.device.registered == 2);
    CHECK(list.bytes() == 2 * (2 * kPage + 10));
}

TEST_CASE("no more is registered than the bytes that are moved") {
    AdapterRig r;
    const Mapping m{8};
    const Listed list{r, pages(m, 4, 2), kWrite, kPage + 100};
    CHECK(list.error == 0);
    CHECK(list.bytes() == 2 * kPage + 100);
    CHECK(list.keys[2].lkey() == 0);
    CHECK(list.keys[3].lkey() == 0);
    CHECK(Listed{r, {{m.page(7), kPage}}, kWrite, 10}.bytes() == 10);
}

TEST_CASE("what has a key keeps it") {
    AdapterRig r;
    const Mapping m{64};
    const std::vector<iovec> list = pages(m, 3, 1);
    std::vector<Registration> keys(3);
    keys[1] = {77, 0};
    REQUIRE(verbs::register_list(r.adapter, list, SIZE_MAX, kRead, r.adapter.now(), keys) == 0);
    CHECK(keys[1].lkey() == 77);
    CHECK(keys[0].lkey() == keys[2].lkey());
    CHECK(r.device.registered == 1);
}

TEST_CASE("where there is no memory between pieces they are registered apart") {
    AdapterRig r;
    const Mapping m{3};
    SUBCASE("unmapped") { munmap(m.page(1), kPage); }
    SUBCASE("without access") { REQUIRE(mprotect(m.page(1), kPage, PROT_NONE) == 0); }
    for (int i = 0; i < 2; ++i) {
        const Listed list{r, pages(m, 2, 2)};
        REQUIRE(list.error == 0);
        CHECK(list.all_right());
        CHECK(list.bytes() == 2 * kPage);
        if (no_userfaultfd()) return;
        CHECK(list.fresh() == (i == 0 ? 2 : 0));
        CHECK(list.found() == (i == 0 ? 0 : 2));
    }
    CHECK(r.device.registered == 2);
}

TEST_CASE("a list with one hole is a few regions") {
    for (size_t hole = 1; hole < 63; hole += 2) {
        AdapterRig r;
        const Mapping m{64};
        munmap(m.page(hole), kPage);
        const Listed list{r, pages(m, 32, 2)};
        REQUIRE(list.error == 0);
        CHECK(list.all_right());
        CHECK(r.device.registered <= 6);
    }
}

TEST_CASE("a piece that is no memory is an error, and nothing is registered") {
    AdapterRig r;
    const Mapping m{8};
    munmap(m.page(4), kPage);
    const Listed list{r, pages(m, 4, 2)};
    CHECK(list.error == EFAULT);
    CHECK(list.bytes() == 0);
    for (const Registration& key : list.keys) CHECK(key.lkey() == 0);
    CHECK(Listed{r, {{m.page(4), kPage}}}.error == EFAULT);
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("group registration" * doctest::skip(no_userfaultfd()));

TEST_CASE("what was registered before is found, and the others become regions around it") {
    AdapterRig r;
    const Mapping m{64};
    { const Listed one{r, {{m.page(4), kPage}}}; }
    for (int i = 0; i < 2; ++i) {
        const Listed list{r, pages(m, 8, 1)};
        CHECK(list.all_right());
        CHECK(list.found() == (i == 0 ? 1 : 2));
        CHECK(list.fresh() == (i == 0 ? 1 : 0));
    }
    CHECK(r.device.registered == 2);
    CHECK(r.device.standing() == 2);
}

TEST_CASE("what lies between the pieces is not found by them, since nobody handed it over") {
    AdapterRig r;
    const Mapping m{3};
    { const Listed list{r, pages(m, 2, 2)}; }
    const Listed between{r, {{m.page(1), kPage}}};
    CHECK(between.fresh() == 1);
    const Listed all{r, {{m.page(0), 3 * kPage}}};
    CHECK(all.fresh() == 1);
    CHECK(Listed{r, pages(m, 2, 2)}.found() == 1);
}

// It was not there when it was to be watched, so its end is not heard of.
TEST_CASE("memory that comes between the pieces while they are registered is never stale") {
    AdapterRig r;
    const Mapping m{3};
    munmap(m.page(1), kPage);
    r.device.before_registering = [&] { map(kPage, m.page(1)); };
    { const Listed list{r, pages(m, 2, 2)}; }
    CHECK(r.device.registered == 1);
    r.device.before_registering = [] {};
    map(kPage, m.page(1));
    CHECK(Listed{r, {{m.page(1), kPage}}}.fresh() == 1);
}

TEST_CASE("a region goes with what lies between its pieces") {
    AdapterRig r;
    const Mapping m{16};
    { const Listed list{r, pages(m, 4, 4)}; }
    SUBCASE("nobody uses it") {
        munmap(m.page(6), kPage);
        const auto end = Clock::now() + std::chrono::seconds{10};
        while (r.device.standing() > 0 && Clock::now() < end) sched_yield();
        CHECK(r.device.standing() == 0);
    }
    SUBCASE("somebody does") {
        const Listed held{r, pages(m, 4, 4)};
        CHECK(held.found() == 1);
        munmap(m.page(6), kPage);
        CHECK(r.device.standing() == 1);
        map(kPage, m.page(6));
        CHECK(Listed{r, pages(m, 4, 4)}.fresh() == 1);
        CHECK(r.device.standing() == 2);
    }
    SUBCASE("with one of them, too") {
        munmap(m.page(8), kPage);
        map(kPage, m.page(8));
        const Listed list{r, pages(m, 4, 4)};
        CHECK(list.fresh() == 1);
        CHECK(list.found() == 0);
    }
}

TEST_CASE("lists that overlap, and are used for different things, become one region") {
    AdapterRig r;
    const Mapping m{64};
    for (int i = 0; i < 10; ++i) {
        const std::vector<iovec> one{{m.page(0), 2 * kPage}, {m.page(6), kPage}};
        const std::vector<iovec> other{{m.page(1), 2 * kPage}, {m.page(8), kPage}};
        CHECK(Listed{r, one, kRead}.all_right());
        CHECK(Listed{r, other, kWrite}.all_right());
    }
    CHECK(r.device.registered <= 4);
    CHECK(r.device.standing() <= 2);
}

TEST_CASE("a cache counts each piece, and keeps nothing that has more than it may") {
    CacheRig r{{.count = 4, .bytes = 16 * kPage}};
    const Mapping m{64};
    const auto take = [&](size_t count, size_t every) {
        std::vector<Range> pieces;
        for (size_t i = 0; i < count; ++i) {
            const auto begin = reinterpret_cast<uintptr_t>(m.page(i * every));
            pieces.push_back({begin, begin + kPage});
        }
        return r.cache.take_together(pieces, kRead, r.cache.now());
    };
    CHECK_FALSE(take(5, 2));
    CHECK_FALSE(take(3, 8));
    CHECK(take(4, 2));
    CHECK(r.device.standing() == 1);
    REQUIRE(r.take(m.page(20), kPage)); // in its place
    CHECK(r.device.standing() == 1);
    CHECK(take(3, 2));
    CHECK(r.device.standing() == 2);
    CHECK(r.device.bytes == 6 * kPage);
}

TEST_CASE("any lists, over memory that comes and goes") {
    AdapterRig r;
    const Mapping m{256};
    std::mt19937 random{11};
    const auto below = [&](size_t n) { return random() % n; };
    std::vector<std::unique_ptr<Listed>> held;
    for (int round = 0; round < 3000; ++round) {
        std::vector<iovec> list(1 + below(32));
        for (iovec& v : list) v = {m.page(below(250)) + below(kPage), below(3 * kPage)};
        held.push_back(std::make_unique<Listed>(r, list, below(2) ? kRead : kWrite));
        REQUIRE(held.back()->error == 0);
        REQUIRE(held.back()->all_right());
        if (held.size() > 4) held.erase(held.begin() + long(below(held.size())));
        if (below(5)) continue;
        std::byte* page = m.page(below(255));
        munmap(page, kPage);
        map(kPage, page);
    }
    held.clear();
    munmap(m.at, m.bytes);
    const auto end = Clock::now() + std::chrono::seconds{10};
    while (r.device.standing() > 0 && Clock::now() < end) sched_yield();
    CHECK(r.device.standing() == 0);
}

TEST_SUITE_END();
