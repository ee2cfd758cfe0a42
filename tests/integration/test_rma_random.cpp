// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Reads, writes and messages in any mixture, against a copy of the memory that tells what each
// of them must find.

#include "duo.hpp"

#include <random>

using namespace duo;

namespace {

constexpr size_t kBytes = 300'000;

// One side's operations on the memory of the other, with what they must find there.
class Player {
public:
    Player(Watched& from, Watched& to, fi_addr_t number, unsigned seed)
        : from_{from}
        , there_{to, kBytes}
        , to_{number}
        , random_{seed}
        , expected_(kBytes) {}

    // Begins an operation; false where there is no room now.
    bool begin() {
        auto op = std::make_unique<Operation>();
        op->size = size();
        const size_t at = random_() % (kBytes - op->size + 1);
        op->iov = pieces(*op);
        const fi_rma_iov remote{there_.at(at), op->size, there_.key()};
        const fi_msg_rma m =
            rma_message(to_, {op->iov.data(), op->iov.size()}, {&remote, 1}, op.get(), noted_);
        uint64_t flags = FI_COMPLETION;
        const bool reads = random_() % 3 == 0;
        ssize_t result = 0;
        if (reads) {
            op->expected.assign(&expected_[at], &expected_[at] + op->size);
            result = fi_readmsg(from_.ep(), &m, flags);
        } else {
            // A write must not overtake the reads before it.
            if (read_since_) flags |= FI_FENCE;
            if (random_() % 4 == 0) flags |= FI_REMOTE_CQ_DATA;
            if (random_() % 4 == 0) flags |= FI_DELIVERY_COMPLETE;
            if (op->size <= 1024 && random_() % 4 == 0) flags |= FI_INJECT;
            std::ranges::generate(op->bytes, [&] { return static_cast<char>(random_()); });
            result = fi_writemsg(from_.ep(), &m, flags);
        }
        if (result == -FI_EAGAIN) return false;
        REQUIRE(result == 0);
        read_since_ = reads;
        if (!reads) std::ranges::copy(op->bytes, &expected_[at]);
        if (flags & FI_REMOTE_CQ_DATA) ++noted_;
        if (flags & FI_INJECT) std::ranges::fill(op->bytes, 'X');
        under_way_[op.get()] = std::move(op);
        return true;
    }

    // Takes in what has completed at this side, and remote CQ data of the other's writes.
    void poll() {
        from_.poll();
        while (!from_.outcomes.empty()) {
            const Outcome o = from_.outcomes.front();
            from_.outcomes.pop_front();
            REQUIRE_FALSE(o.error);
            if (o.entry.flags & FI_REMOTE_CQ_DATA) {
                CHECK(o.entry.data == heard_++);
                continue;
            }
            const auto found = under_way_.find(o.entry.op_context);
            REQUIRE(found != under_way_.end());
            const Operation& op = *found->second;
            if (!op.expected.empty()) CHECK(op.bytes == op.expected);
            under_way_.erase(found);
        }
    }

    bool idle() const { return under_way_.empty(); }
    uint64_t noted() const { return noted_; }
    uint64_t heard() const { return heard_; }
    bool memory_is_right() const { return there_.bytes == expected_; }

private:
    struct Operation {
        size_t size;
        std::vector<char> bytes;
        std::vector<char> expected; // of a read
        std::vector<iovec> iov;
    };

    size_t size() {
        switch (random_() % 4) {
        case 0:
            return random_() % 64;
        case 1:
            return random_() % 4096;
        case 2:
            return random_() % 20'000;
        default:
            return random_() % 200'000;
        }
    }

    std::vector<iovec> pieces(Operation& op) {
        op.bytes.resize(op.size);
        std::vector<iovec> iov;
        size_t done = 0;
        while (iov.size() < 7 && random_() % 3 == 0) {
            const size_t n = random_() % (op.size - done + 1);
            iov.push_back({op.bytes.data() + done, n});
            done += n;
        }
        iov.push_back({op.bytes.data() + done, op.size - done});
        return iov;
    }

    Watched& from_;
    Shared there_;
    const fi_addr_t to_;
    std::mt19937 random_;
    std::vector<char> expected_;
    std::map<void*, std::unique_ptr<Operation>> under_way_;
    bool read_since_{false};
    uint64_t noted_{0}, heard_{0};
};

} // namespace

TEST_CASE("reads and writes in any mixture, both ways at once, find what was written before") {
    for (const auto threading : {FI_THREAD_DOMAIN, FI_THREAD_SAFE}) {
        Wishes wishes = kRmaWishes;
        wishes.threading = threading;
        Duo d{wishes};
        Player a{d.a, d.b, d.to_b, 1}, b{d.b, d.a, d.to_a, 2};
        std::mt19937 random{3};
        for (int i = 0; i < 1500; ++i) {
            a.begin();
            b.begin();
            for (unsigned polls = random() % 8; polls > 0; --polls) {
                a.poll();
                b.poll();
            }
        }
        const auto end = Clock::now() + kPatience;
        while (!a.idle() || !b.idle() || a.heard() < b.noted() || b.heard() < a.noted()) {
            REQUIRE(Clock::now() < end);
            a.poll();
            b.poll();
        }
        CHECK(a.memory_is_right());
        CHECK(b.memory_is_right());
    }
}
