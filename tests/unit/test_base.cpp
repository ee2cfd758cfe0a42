// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "base/buckets.hpp"
#include "base/gate.hpp"
#include "base/host.hpp"
#include "base/list.hpp"
#include "base/pool.hpp"
#include "base/watchdog.hpp"

#include <atomic>
#include <cstdlib>
#include <doctest/doctest.h>
#include <optional>
#include <set>
#include <sys/eventfd.h>
#include <thread>

using namespace odrc;

namespace {

struct Left {};
struct Item : ListNode<>, ListNode<Left> {
    explicit Item(int v = 0) noexcept
        : value{v} {}
    int value;
};

} // namespace

TEST_CASE("a list keeps its order, and an item can be on two lists") {
    Item a{1}, b{2}, c{3};
    List<Item> list;
    List<Item, Left> other;
    list.push_back(b);
    list.push_back(c);
    list.push_front(a);
    other.push_back(b);
    CHECK(list.front() == &a);
    CHECK(list.after(a) == &b);
    CHECK(list.after(c) == nullptr);
    List<Item>::erase(b);
    CHECK(list.after(a) == &c);
    CHECK(other.front() == &b);
    CHECK_FALSE(static_cast<ListNode<>&>(b).linked());
    CHECK(list.pop_front() == &a);
    CHECK(list.pop_front() == &c);
    CHECK(list.pop_front() == nullptr);
    CHECK(list.empty());
}

TEST_CASE("a pool's handle finds its object and no later one in the same place") {
    Pool<Item> pool;
    std::set<Item*> items;
    for (int i = 0; i < 1000; ++i) items.insert(pool.create(i));
    CHECK(items.size() == 1000);
    CHECK(pool.size() == 1000);
    Item* one = *items.begin();
    const uint64_t handle = pool.handle(one);
    CHECK(pool.find(handle) == one);
    pool.destroy(one);
    CHECK(pool.find(handle) == nullptr);
    Item* again = pool.create(7);
    CHECK(again == one); // the last place given back is the first to be used
    CHECK(pool.find(handle) == nullptr);
    CHECK(pool.find(pool.handle(again)) == again);
    CHECK(pool.find(~0ull) == nullptr);
}

TEST_CASE("buckets grow and keep the items of one hash in order") {
    std::vector<Item> items(500);
    for (int i = 0; i < 500; ++i) items[size_t(i)].value = i;
    Buckets<Item> buckets;
    auto hash = [](const Item& i) { return size_t(i.value % 7); };
    for (Item& i : items) REQUIRE(buckets.add(i, hash));
    CHECK(buckets.count() == 500);
    int last = -1, seen = 0;
    for (Item* i = buckets[3].front(); i; i = buckets[3].after(*i)) {
        if (i->value % 7 != 3) continue;
        CHECK(i->value > last);
        last = i->value;
        ++seen;
    }
    CHECK(seen == 71);
}

TEST_CASE("a gate lets in the application or the watchdog, never both") {
    for (const auto kind : {Gate::Kind::one_thread, Gate::Kind::many_threads}) {
        Gate gate{kind};
        int inside = 0; // not atomic: only the gate keeps it right
        std::atomic<bool> stop{false};
        std::thread watchdog{[&] {
            for (int i = 0; i < 2000; ++i) {
                const WatchdogEntry entry{gate};
                ++inside;
            }
            stop = true;
        }};
        int entries = 0;
        while (!stop) {
            const Entry entry{gate};
            ++inside;
            ++entries;
        }
        watchdog.join();
        CHECK(inside == entries + 2000);
    }
}

TEST_CASE("a watchdog does not wait for an application whose call takes long, unless it has to") {
    for (const auto kind : {Gate::Kind::one_thread, Gate::Kind::many_threads}) {
        Gate gate{kind};
        std::atomic<int> turned_away{0};
        std::optional<Entry> call{std::in_place, gate};
        std::thread watchdog{[&] {
            while (!WatchdogEntry{gate, std::try_to_lock}.is_inside()) ++turned_away;
            const WatchdogEntry entry{gate};
        }};
        // At a mutex everyone sleeps until it is their turn.
        while (!gate.is_mutex() && turned_away < 3) std::this_thread::yield();
        call.reset();
        watchdog.join();
        const Entry again{gate}; // nobody has been left inside
    }
}

TEST_CASE("the watchdog serves who is readable and who is due") {
    struct Client final : Watchdog::Client {
        Fd event{eventfd(0, EFD_NONBLOCK)};
        std::atomic<int> served{0};
        std::atomic<int> wanted_ms{-1};
        Time serve() noexcept override {
            eventfd_t count;
            [[maybe_unused]] const auto n = read(event.get(), &count, sizeof count);
            ++served;
            served.notify_all();
            const int ms = wanted_ms.exchange(-1);
            return ms < 0 ? kNever : Clock::now() + std::chrono::milliseconds{ms};
        }
    };
    Watchdog watchdog;
    Client a, b;
    watchdog.add(a, a.event.get());
    watchdog.add(b, b.event.get());
    eventfd_write(a.event.get(), 1);
    a.served.wait(0);
    CHECK(b.served == 0);
    // The new deadline is asked for by waking, and kept.
    b.wanted_ms = 5;
    watchdog.wake();
    b.served.wait(0);
    b.served.wait(1);
    CHECK(b.served == 2);
    watchdog.remove(a, a.event.get());
    const int before = a.served;
    eventfd_write(a.event.get(), 1);
    watchdog.wake();
    b.served.wait(2);
    CHECK(a.served == before);
    watchdog.remove(b, b.event.get());
}

TEST_CASE("those that may look for what has come are counted") {
    const size_t before = Looker::all();
    {
        const Looker one, two;
        CHECK(Looker::all() == before + 2);
    }
    CHECK(Looker::all() == before);
}

TEST_CASE("the launcher says how many processes share a host") {
    const char* launchers[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                               "MV2_COMM_WORLD_LOCAL_SIZE", "SLURM_TASKS_PER_NODE"};
    for (const char* name : launchers) unsetenv(name);
    CHECK(processors_of_this_host() >= 1);
    CHECK(processes_of_this_host() == processors_of_this_host());
    for (const char* name : launchers) {
        setenv(name, "37", 1);
        CHECK(processes_of_this_host() == 37);
        for (const char* nonsense : {"", "many", "-4", "0", "99999999999999999999999"}) {
            setenv(name, nonsense, 1);
            CHECK(processes_of_this_host() == processors_of_this_host());
        }
        unsetenv(name);
    }
    setenv("SLURM_TASKS_PER_NODE", "4(x2),3", 1);
    CHECK(processes_of_this_host() == 4);
    unsetenv("SLURM_TASKS_PER_NODE");
}
