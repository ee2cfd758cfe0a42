// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Groups of processes: some do not poll, and some are killed.

#include "multicasts.hpp"
#include "tests/forks.hpp"

using namespace duo;

namespace {

constexpr int kWrong = 2, kUnheard = 3; // exit statuses

bool by_packets() {
    const char* way = std::getenv("FI_ODRC_BROADCAST");
    return !way || std::string_view{way} != "message";
}

Wishes automatic() {
    Wishes wishes = kCollectiveWishes;
    wishes.data_progress = FI_PROGRESS_AUTO;
    return wishes;
}

int broadcast(Process& p, std::vector<char>& data, fi_addr_t root) {
    check(static_cast<int>(fi_broadcast(p.me.ep(), data.data(), data.size(), nullptr, p.address(),
                                        root, FI_INT8, 0, data.data())),
          "fi_broadcast");
    return p.end_of(data.data());
}

} // namespace

TEST_CASE("a broadcast passes processes that sleep, and have not asked for it" * forks()) {
    if (!by_packets()) return;
    constexpr size_t kSize = 8, kLength = 40'000;
    const SharedNames names;
    std::vector<std::unique_ptr<Child>> children;
    for (size_t rank = 0; rank < kSize; ++rank) {
        children.push_back(std::make_unique<Child>([&, rank](Board& board) {
            Process p{names, rank, kSize, automatic()};
            const auto sent = pattern(kLength, 'm');
            std::vector<char> data(kLength);
            if (rank == 0) data = sent;
            // All others sleep until the root and the last member, who is below two of them, are
            // done.
            if (rank > 0 && rank + 1 < kSize)
                while (board.step < 2) usleep(1000);
            if (broadcast(p, data, 0) != 0 || data != sent) _exit(kWrong);
            board.step = 3;
            while (board.step < 4) usleep(1000);
        }));
    }
    children[0]->await(3);
    children[kSize - 1]->await(3);
    for (size_t rank = 1; rank + 1 < kSize; ++rank) children[rank]->board->step = 2;
    for (auto& child : children) child->await(3);
    for (auto& child : children) child->board->step = 4;
    for (auto& child : children) CHECK(child->join() == 0);
}

TEST_CASE("who waits for a broadcast below a process that is killed hears of it" * forks()) {
    if (!by_packets()) return;
    constexpr size_t kSize = 8;
    for (const size_t victim : {size_t{0}, size_t{1}, size_t{4}}) { // a root, and inner members
        const SharedNames names;
        std::vector<std::unique_ptr<Child>> children;
        for (size_t rank = 0; rank < kSize; ++rank) {
            children.push_back(std::make_unique<Child>([&, rank](Board& board) {
                Process p{names, rank, kSize};
                std::vector<char> data(30'000);
                if (broadcast(p, data, 0) != 0) _exit(kWrong);
                board.step = 1;
                if (rank == victim) pause();
                while (board.step < 2) usleep(1000);
                // The first may not notice, if it is over here; the group is of no use then.
                for (int i = 0; i < 100; ++i)
                    if (broadcast(p, data, 0) != 0) return;
                _exit(kUnheard);
            }));
        }
        for (auto& child : children) child->await(1);
        children[victim]->kill_now();
        for (size_t rank = 0; rank < kSize; ++rank)
            if (rank != victim) children[rank]->board->step = 2;
        for (size_t rank = 0; rank < kSize; ++rank)
            if (rank != victim) CHECK(children[rank]->join() == 0);
    }
}

TEST_CASE("who sends to a group of which a process is killed hears of it, and who receives" *
          forks()) {
    constexpr size_t kSize = 6, kVictim = 2;
    const SharedNames names;
    std::vector<std::unique_ptr<Child>> children;
    for (size_t rank = 0; rank < kSize; ++rank) {
        children.push_back(std::make_unique<Child>([&, rank](Board& board) {
            Process p{names, rank, kSize};
            fid_ep* ep = p.me.ep();
            const std::string text(5000, 'x');
            const auto latest = Clock::now() + kPatience;
            while (Clock::now() < latest) {
                const ssize_t sent = multicast_ops(ep)->send(ep, p.group.get(), text.data(),
                                                             text.size(), 0, nullptr);
                if (sent != 0 && sent != -FI_EAGAIN) return;
                p.me.poll();
                for (const Outcome& o : p.me.outcomes)
                    if (o.error) return;
                p.me.outcomes.clear();
                fi_odrc_multicast message{};
                const ssize_t n = multicast_ops(ep)->receive(ep, p.group.get(), &message);
                if (n < 0) return;
                if (n == 0) continue;
                if (message.length != text.size()) _exit(kWrong);
                multicast_ops(ep)->release(ep, p.group.get(), &message);
                ++board.step;
            }
            _exit(kUnheard);
        }));
    }
    for (auto& child : children) child->await(20);
    children[kVictim]->kill_now();
    for (size_t rank = 0; rank < kSize; ++rank)
        if (rank != kVictim) CHECK(children[rank]->join() == 0);
}
