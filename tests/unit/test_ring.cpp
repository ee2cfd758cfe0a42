// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// A ring, written over a connection and read by looking.

#include "wireup_rig.hpp"

#include <atomic>
#include <deque>
#include <doctest/doctest.h>
#include <map>
#include <random>
#include <thread>
#include <vector>

using namespace rig;

namespace {

// soft0, as if it did not promise to write in order.
class Disorderly final : public verbs::Device {
public:
    Disorderly()
        : verbs::Device{port_of(device())} {}
    std::unique_ptr<verbs::Context> open() const override { return device().open(); }

private:
    static verbs::Port port_of(const verbs::Device& device) {
        verbs::Port port = device.port();
        port.writes_in_order = false;
        return port;
    }
};

// A queue pair that writes into the ring, and the one over which it does.
struct Pair : Room {
    explicit Pair(const verbs::Device& on = device())
        : Room{on} {
        join(from, to);
        writer.open(ring.offer());
    }

    // False if there is no room. behind: the header, with which the frame begins, goes there.
    bool write(const std::vector<uint8_t>& frame, uint16_t freed = 0, bool behind = false) {
        const size_t size = srq::record_size(frame.size());
        std::vector<std::byte> record(behind ? srq::whole_granules(size) : size);
        const uint32_t granules = srq::granules_of(record.size());
        if (!writer.has_room(granules)) return false;
        srq::RecordEnd end{static_cast<uint16_t>(frame.size()), freed, 0};
        if (behind) {
            end.length |= srq::kHeaderBehind;
            std::memcpy(record.data(), frame.data() + srq::kHeader, frame.size() - srq::kHeader);
            std::memcpy(record.data() + record.size() - sizeof end - srq::kHeader, frame.data(),
                        srq::kHeader);
        } else {
            std::memcpy(record.data(), frame.data(), frame.size());
        }
        writer.end_record(record.data(), record.size(), end);
        ibv_sge piece{reinterpret_cast<uint64_t>(record.data()),
                      static_cast<uint32_t>(record.size()), 0};
        ibv_send_wr wr{}, *bad = nullptr;
        wr.sg_list = &piece;
        wr.num_sge = 1;
        wr.opcode = IBV_WR_RDMA_WRITE;
        wr.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
        last = writer.begin(granules);
        wr.wr.rdma = {last - record.size(), writer.rkey()};
        REQUIRE(ibv_post_send(from.get(), &wr, &bad) == 0);
        ibv_wc wc{};
        while (ibv_poll_cq(cq.get(), 1, &wc) == 0) {
        }
        REQUIRE(wc.status == IBV_WC_SUCCESS);
        writer.wrote(granules);
        return true;
    }
    // Empty if nothing has come.
    std::vector<uint8_t> read() {
        const srq::RecordEnd end = ring.look();
        if (end.length == 0) return {};
        const auto bytes = ring.frame(end);
        const size_t header = end.length & srq::kHeaderBehind ? srq::kHeader : 0;
        std::vector<uint8_t> frame(header + bytes.size());
        std::memcpy(frame.data(), ring.header_behind(), header);
        std::memcpy(frame.data() + header, bytes.data(), bytes.size());
        if (header) CHECK(reinterpret_cast<uintptr_t>(bytes.data()) % srq::kGranule == 0);
        ring.pop(end);
        return frame;
    }

    srq::Ring ring{adapter, counters, 32 << 10};
    srq::RingWriter writer;
    uint64_t last{0}; // where the record ends that was written last
    verbs::Cq cq{adapter.context(), adapter.context().create_cq(16, nullptr, nullptr)};
    verbs::QueuePair from{adapter, cq.get(), stations->device().srq(), {16, 1}, kAccess};
    verbs::QueuePair to{adapter, cq.get(), stations->device().srq(), {16, 1}, kAccess};
};

constexpr size_t kLongest = srq::kMostInRecord - sizeof(uint64_t);

} // namespace

TEST_CASE("what is written into a ring is found there, in order and whole, round and round") {
    Pair p;
    std::mt19937 random{7};
    std::uniform_int_distribution<size_t> length{1, kLongest};
    std::deque<std::vector<uint8_t>> under_way;
    size_t full = 0, empty = 0;
    for (int i = 0; i < 20'000; ++i) {
        // Now the one is faster, now the other, so that it fills up and runs empty.
        if (random() % 4 < (i / 3000 % 2 ? 3 : 1)) {
            std::vector<uint8_t> frame(length(random));
            for (uint8_t& byte : frame) byte = static_cast<uint8_t>(random());
            if (p.write(frame, 0, frame.size() > srq::kHeader && random() % 2))
                under_way.push_back(frame);
            else
                ++full;
        } else if (const auto frame = p.read(); frame.empty()) {
            REQUIRE(under_way.empty());
            ++empty;
        } else {
            REQUIRE(frame == under_way.front());
            under_way.pop_front();
            if (p.ring.is_due() || random() % 16 == 0) p.writer.freed(p.ring.tell());
        }
    }
    CHECK(full > 100);
    CHECK(empty > 100);
}

TEST_CASE("a ring takes as much as it has room for, of records of any length") {
    for (size_t length = 1; length <= kLongest; length += 13) {
        Pair p;
        const uint32_t granules = srq::granules_of(srq::record_size(length));
        const std::vector<uint8_t> frame(length, 0xff);
        uint32_t written = 0;
        while (p.write(frame)) ++written;
        CHECK(written == p.ring.granules() / granules);
        for (uint32_t i = 0; i < written; ++i) REQUIRE(p.read() == frame);
        CHECK(p.read().empty());
        CHECK_FALSE(p.writer.has_room(p.ring.granules())); // nobody has said so
        p.writer.freed(p.ring.tell());
        CHECK(p.writer.has_room(p.ring.granules()));
    }
}

TEST_CASE("the end of a record brings word of the ring in the other direction") {
    Pair p;
    REQUIRE(p.write({1, 2, 3}, 77));
    CHECK(p.ring.look().freed == 77);
    CHECK(p.ring.look().length == 3);
}

TEST_CASE("what was never written is not taken for free, and a length that is none does no harm") {
    Pair p;
    REQUIRE(p.write({1}));
    p.writer.freed(5); // of one
    CHECK_FALSE(p.writer.has_room(p.ring.granules()));
    p.writer.freed(1);
    CHECK(p.writer.has_room(p.ring.granules()));
    p.writer.close();
    CHECK_FALSE(p.writer.has_room(1));
    const auto bytes_of = [&p](int length) {
        return p.ring.frame({.length = static_cast<uint16_t>(length), .freed = 0, .mark = 0})
            .size();
    };
    CHECK(bytes_of(0xffff & ~srq::kHeaderBehind) == kLongest);
    CHECK(bytes_of(0xffff) == kLongest - srq::kHeader);
    CHECK(bytes_of(srq::kHeaderBehind | 1) == 0);
}

TEST_CASE("what was there a round before is not taken for a record, nor what a program wrote") {
    Pair p;
    constexpr uint32_t kLong = srq::granules_of(srq::kMostInRecord);
    const uint32_t round = (p.ring.granules() + kLong - 1) / kLong * kLong;
    const auto answer = [&p](const std::vector<uint8_t>& frame) {
        REQUIRE(p.read().empty());
        REQUIRE(p.write(frame));
        REQUIRE(p.read() == frame);
        // Not all of it, or it would begin anew.
        p.writer.freed(static_cast<uint16_t>(p.ring.tell() - 1));
    };
    // Long ones, of which each granule ends like the short one that is to come there next.
    for (uint32_t place = 0; place < round; place += kLong) {
        std::vector<uint8_t> frame(kLongest, 0xff);
        for (uint32_t i = 1; i < kLong; ++i) {
            const srq::RecordEnd end{
                .length = 8, .freed = 0, .mark = srq::number_behind(round + place + i)};
            std::memcpy(frame.data() + srq::kMostInRecord - i * srq::kGranule - sizeof end, &end,
                        sizeof end);
        }
        answer(frame);
    }
    for (uint32_t i = 0; i < 2 * p.ring.granules(); ++i) answer({1, 2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE("a ring begins anew when the peer knows that all has been read, and not before") {
    Pair p;
    const std::vector<uint8_t> one{1}, two{2}, three{3}, longer(srq::kGranule, 4);
    REQUIRE(p.write(one));
    const uint64_t begin = p.last;
    REQUIRE(p.write(two));
    REQUIRE(p.read() == one);
    p.writer.freed(p.ring.tell());
    REQUIRE(p.write(three));
    CHECK(p.last == begin - 2 * srq::kGranule);
    REQUIRE(p.read() == two);
    REQUIRE(p.read() == three);
    p.writer.freed(p.ring.tell());
    CHECK_FALSE(p.ring.find_next());
    REQUIRE(p.write(one));
    CHECK(p.last == begin);
    REQUIRE(p.write(two));
    CHECK(p.last == begin - srq::kGranule);
    CHECK(p.ring.find_next());
    CHECK(p.read() == one);
    CHECK(p.read() == two);
    CHECK(p.read().empty());
    REQUIRE(p.write(three));
    REQUIRE(p.read() == three);
    p.writer.freed(p.ring.tell());
    REQUIRE(p.write(one));
    CHECK(p.last == begin);
    REQUIRE(p.read() == one);
    p.writer.freed(p.ring.tell());
    // It would reach to where the receiver looks, too.
    REQUIRE(p.write(longer));
    CHECK(p.last == begin - srq::kGranule);
    CHECK(p.read() == longer);
}

TEST_CASE("what a program wrote is not taken for a record where the ring begins anew") {
    Pair p;
    const uint64_t end_of_ring = p.ring.offer().end;
    constexpr uint32_t kLong = srq::granules_of(srq::kMostInRecord), kShorts = 20;
    const std::vector<uint8_t> brief{1, 2, 3, 4, 5, 6, 7, 8};
    std::vector<uint8_t> longest(kLongest, 0xff);
    int anew = 0;
    for (uint32_t written = 0; written < 8 * p.ring.granules(); written += kLong + kShorts) {
        const auto place =
            static_cast<uint32_t>((end_of_ring - p.writer.begin(kLong)) / srq::kGranule);
        // Each granule of the long one ends like the short one that is to come there next.
        for (uint32_t i = 1; i < kLong; ++i) {
            const srq::RecordEnd end{
                .length = 8, .freed = 0, .mark = srq::number_behind(written + kLong + place + i)};
            std::memcpy(longest.data() + srq::kMostInRecord - i * srq::kGranule - sizeof end, &end,
                        sizeof end);
        }
        REQUIRE(p.write(longest));
        REQUIRE(p.read() == longest);
        p.writer.freed(p.ring.tell());
        for (uint32_t i = 0; i < kShorts; ++i) { // one behind the other, as nobody tells
            REQUIRE(p.read().empty());
            REQUIRE(p.write(brief));
            anew += i == 0 && p.last == end_of_ring;
            REQUIRE(p.read() == brief);
        }
        p.writer.freed(p.ring.tell());
    }
    CHECK(anew > 10);
}

TEST_CASE("no end lies in a ring until its number comes again") {
    Pair p;
    constexpr uint32_t kLong = srq::granules_of(srq::kMostInRecord);
    const std::vector<uint8_t> longest(kLongest, 0xff);
    std::map<uint64_t, uint32_t> last; // when a record was written there
    for (uint32_t written = 0; written < 3 << 20; written += kLong) {
        REQUIRE(p.write(longest));
        last[p.last] = written;
        REQUIRE(p.read() == longest);
        p.writer.freed(p.ring.tell());
    }
    REQUIRE(last.size() >= p.ring.granules() / kLong);
    for (const auto& [address, written] : last) CHECK(written > 1 << 20);
}

TEST_CASE("nothing that a program writes is taken for an end while it is being written") {
    constexpr uint32_t kRecords = 20'000;
    Pair p;
    const Time until = Clock::now() + std::chrono::minutes{5}; // lost, if not found by then
    std::atomic<uint32_t> records{0}, granules{0};             // that have been read
    std::atomic<bool> over{false};
    std::thread reader{[&] {
        while (records < kRecords && Clock::now() < until) {
            const srq::RecordEnd end = p.ring.look();
            if (end.length == 0) {
                std::this_thread::yield(); // there may be one processor
                continue;
            }
            uint64_t number = 0;
            std::memcpy(&number, p.ring.frame(end).data(), sizeof number);
            if (number != records) break;
            p.ring.pop(end);
            p.ring.tell();
            granules += srq::granules_of(srq::record_size(end.length));
            ++records;
        }
        over = true;
    }};
    std::mt19937 random{11};
    uint32_t written = 0; // granules
    for (uint64_t i = 0; i < kRecords && !over; ++i) {
        // Now one after the other, now several at a time.
        while (i % 512 < 256 && records < i && !over) std::this_thread::yield();
        std::vector<uint8_t> frame(sizeof(uint64_t) *
                                   (1 + random() % (random() % 4 == 0 ? 500 : 20)));
        // Each word of it could be the end of what is read next.
        const srq::RecordEnd mimicked{
            .length = 8, .freed = 0, .mark = srq::number_behind(i % 2 ? written : granules.load())};
        for (size_t at = 0; at < frame.size(); at += sizeof mimicked)
            std::memcpy(frame.data() + at, &mimicked, sizeof mimicked);
        std::memcpy(frame.data(), &i, sizeof i);
        do p.writer.freed(static_cast<uint16_t>(granules.load()));
        while (!p.write(frame) && !over);
        written += srq::granules_of(srq::record_size(frame.size()));
    }
    reader.join();
    CHECK(records == kRecords);
}

TEST_CASE("a record with a sum is found when it is whole, and nothing is summed before one comes") {
    const Disorderly disorderly;
    Pair p{disorderly};
    std::mt19937 random{13};
    for (uint32_t i = 0; i < 4 * p.ring.granules(); ++i) {
        CHECK_FALSE(p.ring.find_next());
        std::vector<uint8_t> frame(1 + random() % (srq::kMostSummed - sizeof(srq::RecordEnd)));
        for (uint8_t& byte : frame) byte = static_cast<uint8_t>(random());
        REQUIRE(p.write(frame));
        CHECK(p.ring.find_next());
        // One byte of it comes last.
        const size_t record = srq::record_size(frame.size());
        auto* byte = reinterpret_cast<uint8_t*>(p.last - record + random() % frame.size());
        *byte ^= 1;
        CHECK(p.read().empty());
        *byte ^= 1;
        CHECK(p.read() == frame);
        p.writer.freed(p.ring.tell());
    }
}

TEST_CASE("the sum of a record tells of each bit of it, and of no other bytes") {
    std::vector<std::byte> bytes(64);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 37);
    const srq::RecordEnd end{.length = 45, .freed = 9, .mark = 0};
    const uint32_t sum = srq::sum_of(bytes.data(), end);
    for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
        CHECK((srq::sum_of(bytes.data(), end) != sum) == (bit / 8 < end.length));
        bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    }
    CHECK(srq::sum_of(bytes.data(), {.length = 44, .freed = 9, .mark = 0}) != sum);
    CHECK(srq::sum_of(bytes.data(), {.length = 45, .freed = 8, .mark = 0}) != sum);
}
