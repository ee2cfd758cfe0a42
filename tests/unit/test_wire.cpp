// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/wire.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <doctest/doctest.h>
#include <optional>
#include <random>
#include <vector>

using namespace odrc::transfer::wire;

namespace {

std::span<const std::byte> first(const std::byte* bytes, size_t size) { return {bytes, size}; }

// None unless the frame is whole.
std::optional<Frame> read_frame(std::span<const std::byte> bytes) {
    Frame frame;
    return read_frame(bytes, frame) ? std::optional{frame} : std::nullopt;
}

} // namespace

TEST_CASE("a message frame comes back as it was written") {
    for (const uint8_t flags : {0, int(kTagged), int(kData), int(kConfirm),
                                kTagged | kData | kConfirm, kCollective | kData | kConfirm}) {
        std::byte bytes[kMaxHeader + 3];
        const FrameHeader header{FrameKind::message, flags, 0, 42, 0x1234567890abcdef};
        const size_t size = write_header(bytes, header, 77, 88);
        CHECK(size == header_size(header));
        std::memcpy(bytes + size, "abc", 3);
        const auto frame = read_frame(first(bytes, size + 3));
        REQUIRE(frame);
        CHECK(frame->header.sequence == 42);
        CHECK(frame->header.tag == header.tag);
        CHECK(frame->data == (flags & kData ? 77 : 0));
        CHECK(frame->handle == (flags & kConfirm ? 88 : 0));
        CHECK(frame->message_length() == 3);
        CHECK(std::memcmp(frame->payload.data(), "abc", 3) == 0);
    }
}

TEST_CASE("a message whose header lies behind it comes back, and nothing else is one") {
    for (const int flags : {0, int(kTagged), kTagged | kData, kData | kCrowded}) {
        std::byte bytes[3 + sizeof(uint64_t) + sizeof(FrameHeader)];
        std::memcpy(bytes, "abc", 3);
        const FrameHeader header{FrameKind::message, static_cast<uint8_t>(flags), 0, 42, 7};
        write_header_behind(std::end(bytes), header, 77);
        const std::byte* const behind = std::end(bytes) - sizeof header;
        const size_t size = flags & kData ? 3 + sizeof(uint64_t) : 3;
        Frame frame;
        REQUIRE(read_message(behind, first(bytes, size), frame));
        CHECK(frame.header.sequence == 42);
        CHECK(frame.header.tag == 7);
        CHECK(frame.data == (flags & kData ? 77 : 0));
        CHECK(frame.message_length() == 3);
        CHECK(std::memcmp(frame.payload.data(), "abc", 3) == 0);
    }
    std::byte bytes[sizeof(uint64_t) + sizeof(FrameHeader)]{};
    const std::byte* const behind = bytes + sizeof(uint64_t);
    Frame frame;
    for (const FrameHeader header :
         {FrameHeader{FrameKind::announce, 0, 0, 1, 0}, FrameHeader{FrameKind::grant, 0, 0, 1, 0},
          FrameHeader{FrameKind::message, kConfirm, 0, 1, 0},
          FrameHeader{FrameKind::message, kCollective, 0, 1, 0},
          FrameHeader{FrameKind::message, 1 << 6, 0, 1, 0}}) {
        write_header_behind(std::end(bytes), header, 0);
        CHECK_FALSE(read_message(behind, first(bytes, sizeof(uint64_t)), frame));
    }
    write_header_behind(std::end(bytes), {FrameKind::message, kData, 0, 1, 0}, 5);
    CHECK(read_message(behind, first(bytes, sizeof(uint64_t)), frame));
    CHECK_FALSE(read_message(behind, first(bytes, sizeof(uint64_t) - 1), frame)); // no room for it
}

TEST_CASE("a tag is the program's or a collective's, and of a message") {
    std::byte bytes[kMaxHeader + sizeof(Finish)]{};
    const FrameHeader both{FrameKind::message, kTagged | kCollective, 0, 0, 1};
    CHECK_FALSE(read_frame(first(bytes, write_header(bytes, both, 0, 0))));
    const FrameHeader finish{FrameKind::finish, kCollective, 0, 0, 1};
    CHECK_FALSE(read_frame(first(bytes, write_header(bytes, finish, 0, 0) + sizeof(Finish))));
}

TEST_CASE("an announce frame carries its segments") {
    std::byte bytes[kMaxBuilt];
    FrameHeader header{FrameKind::announce, kConfirm, 0, 0, 0};
    size_t size = write_header(bytes, header, 0, 5);
    const Announcement announcement{.length = 1000};
    const RemoteSegment segments[2] = {{1, 600, 7, 0}, {2, 400, 8, 0}};
    std::memcpy(bytes + size, &announcement, sizeof announcement);
    std::memcpy(bytes + size + sizeof announcement, segments, sizeof segments);
    size += sizeof announcement + sizeof segments;
    const auto frame = read_frame(first(bytes, size));
    REQUIRE(frame);
    CHECK(frame->message_length() == 1000);
    CHECK(frame->payload.size() == sizeof segments);

    SUBCASE("cut short, it is refused, or says less") {
        for (size_t n = 0; n < size; ++n)
            CHECK(!!read_frame(first(bytes, n)) == (n == size - sizeof segments[0]));
    }
    SUBCASE("with no segments, or more than there may be, it is refused") {
        const size_t fields = size - sizeof segments;
        CHECK_FALSE(read_frame(first(bytes, fields)));
        std::byte longer[kMaxBuilt + sizeof(RemoteSegment)]{};
        std::memcpy(longer, bytes, size);
        CHECK(read_frame(first(longer, fields + kIovLimit * sizeof(RemoteSegment))));
        CHECK_FALSE(read_frame(first(longer, fields + (kIovLimit + 1) * sizeof(RemoteSegment))));
    }
    SUBCASE("without a handle to answer to, it is refused") {
        header.flags = 0;
        std::memcpy(bytes, &header, sizeof header);
        CHECK_FALSE(read_frame(first(bytes, size)));
    }
}

TEST_CASE("the first slice of a message says how long it is, and the others nothing") {
    std::byte bytes[256]{};
    const FrameHeader header{FrameKind::slices, kTagged | kData, 0, 5, 77};
    const size_t fields = write_header(bytes, header, 42, 0);
    const auto say = [&](uint64_t length) {
        const Announcement whole{length};
        std::memcpy(bytes + fields, &whole, sizeof whole);
    };
    const size_t size = fields + sizeof(Announcement) + 100;
    say(101);
    const auto frame = read_frame(first(bytes, size));
    REQUIRE(frame);
    CHECK(frame->message_length() == 101);
    CHECK(frame->payload.size() == 100);
    CHECK(frame->header.tag == 77);
    CHECK(frame->data == 42);
    CHECK(frame->is_counted());

    SUBCASE("it is not the whole message, nor nothing of it") {
        CHECK_FALSE(read_frame(first(bytes, size - 100)));
        CHECK_FALSE(read_frame(first(bytes, size + 1)));
        CHECK_FALSE(read_frame(first(bytes, fields)));
    }
    SUBCASE("of messages that are not too long") {
        say(kSlicedLimit);
        CHECK(read_frame(first(bytes, size)));
        say(kSlicedLimit + 1);
        CHECK_FALSE(read_frame(first(bytes, size)));
    }
    SUBCASE("nobody waits for an answer") {
        const FrameHeader confirmed{FrameKind::slices, kConfirm, 0, 5, 77};
        const Announcement whole{200};
        const size_t end = write_header(bytes, confirmed, 0, 1);
        std::memcpy(bytes + end, &whole, sizeof whole);
        CHECK_FALSE(read_frame(first(bytes, end + sizeof whole + 100)));
    }
    SUBCASE("the next one has bytes alone") {
        const FrameHeader next{FrameKind::slice, 0, 0, 6, 0};
        const size_t begin = write_header(bytes, next, 0, 0);
        REQUIRE(read_frame(first(bytes, begin + 1)));
        CHECK(read_frame(first(bytes, begin + 100))->payload.size() == 100);
        CHECK_FALSE(read_frame(first(bytes, begin)));
        const FrameHeader tagged{FrameKind::slice, kTagged, 0, 6, 0};
        CHECK_FALSE(read_frame(first(bytes, write_header(bytes, tagged, 0, 0) + 100)));
    }
}

TEST_CASE("a note behind a write carries what its target is to hear, and nothing else") {
    std::byte bytes[kMaxHeader + 1];
    for (const uint8_t flags : {int(kData), int(kConfirm), kData | kConfirm}) {
        const FrameHeader header{FrameKind::wrote, flags, 0, 3, 4096};
        const size_t size = write_header(bytes, header, 77, 88);
        const auto frame = read_frame(first(bytes, size));
        REQUIRE(frame);
        CHECK(frame->header.tag == 4096);
        CHECK(frame->data == (flags & kData ? 77 : 0));
        CHECK(frame->handle == (flags & kConfirm ? 88 : 0));
        CHECK_FALSE(read_frame(first(bytes, size - 1)));
        CHECK_FALSE(read_frame(first(bytes, size + 1)));
    }
    const FrameHeader idle{FrameKind::wrote, 0, 0, 0, 0};
    CHECK_FALSE(read_frame(first(bytes, write_header(bytes, idle, 0, 0))));
    const FrameHeader tagged{FrameKind::wrote, kTagged | kData, 0, 0, 0};
    CHECK_FALSE(read_frame(first(bytes, write_header(bytes, tagged, 0, 0))));
}

TEST_CASE("a note that counts names the regions") {
    std::array<uint32_t, kIovLimit> keys{}, room{};
    for (uint32_t i = 0; i < keys.size(); ++i) keys[i] = 0xffffffff - i;
    std::byte bytes[kMaxHeader + 1];
    for (const FrameKind kind : {FrameKind::wrote, FrameKind::read}) {
        for (uint16_t n = 0; n <= keys.size(); ++n) {
            const FrameHeader header{kind, kEvent, 0, 3, 4096};
            const size_t size = write_header(bytes, header, 0, 0, std::span{keys}.first(n));
            CHECK(size == header_size(header, n));
            const auto frame = read_frame(first(bytes, size));
            REQUIRE(frame);
            CHECK(std::ranges::equal(frame->regions(room), std::span{keys}.first(n)));
            CHECK_FALSE(read_frame(first(bytes, size - 1)));
            CHECK_FALSE(read_frame(first(bytes, size + 1)));
        }
    }
    const FrameHeader all{FrameKind::wrote, kData | kConfirm | kEvent, 0, 3, 4096};
    const size_t size = write_header(bytes, all, 77, 88, keys);
    CHECK(size == kMaxHeader);
    const auto frame = read_frame(first(bytes, size));
    REQUIRE(frame);
    CHECK(frame->data == 77);
    CHECK(frame->handle == 88);
    CHECK(std::ranges::equal(frame->regions(room), keys));

    SUBCASE("with more than an operation can reach, it is refused") {
        const FrameHeader more{FrameKind::wrote, kEvent, 0, 3, 4096};
        std::byte longer[kMaxHeader + sizeof(uint32_t)]{};
        std::memcpy(longer, &more, sizeof more);
        CHECK_FALSE(read_frame(first(longer, header_size(more, kIovLimit + 1))));
    }
    SUBCASE("what is no note does not count") {
        for (const FrameKind kind : {FrameKind::message, FrameKind::finish, FrameKind::placed}) {
            const FrameHeader other{kind, kEvent, 0, 3, 0};
            write_header(bytes, other, 0, 0);
            CHECK_FALSE(read_frame(first(bytes, sizeof other + sizeof(Finish))));
            CHECK_FALSE(read_frame(first(bytes, sizeof other)));
        }
        const FrameHeader data{FrameKind::read, kData | kEvent, 0, 3, 0};
        CHECK_FALSE(read_frame(first(bytes, write_header(bytes, data, 77, 0))));
    }
}

TEST_CASE("the answer to a note is a handle alone") {
    std::byte bytes[kMaxHeader + 1];
    const FrameHeader header{FrameKind::placed, 0, 0, 0, 99};
    const size_t size = write_header(bytes, header, 0, 0);
    REQUIRE(read_frame(first(bytes, size)));
    CHECK(read_frame(first(bytes, size))->header.tag == 99);
    CHECK_FALSE(read_frame(first(bytes, size + 1)));
    const FrameHeader confirmed{FrameKind::placed, kConfirm, 0, 0, 99};
    CHECK_FALSE(read_frame(first(bytes, write_header(bytes, confirmed, 0, 0))));
}

TEST_CASE("an atomic's frame says what is changed, and by what") {
    std::byte bytes[kMaxHeader + 100];
    FrameHeader header{FrameKind::atomic, kConfirm, 0, 0, 0};
    size_t size = write_header(bytes, header, 0, 88);
    const size_t fields = size;
    Atomic atomic{.call = 1, .type = 2, .op = 3, .segments = 2, .unused = {}};
    const RemoteSegment segments[2] = {{1, 4, 7, 0}, {2, 8, 9, 0}};
    std::memcpy(bytes + size, &atomic, sizeof atomic);
    std::memcpy(bytes + size + sizeof atomic, segments, sizeof segments);
    std::memcpy(bytes + size + sizeof atomic + sizeof segments, "abcdefghijkl", 12);
    size += sizeof atomic + sizeof segments;
    const auto frame = read_frame(first(bytes, size + 12));
    REQUIRE(frame);
    CHECK(frame->handle == 88);
    CHECK(frame->atomic().call == 1);
    CHECK(frame->atomic().type == 2);
    CHECK(frame->atomic().op == 3);
    CHECK(frame->segment(0).length == 4);
    CHECK(frame->segment(1).rkey == 9);
    REQUIRE(frame->elements().size() == 12);
    CHECK(std::memcmp(frame->elements().data(), "abcdefghijkl", 12) == 0);
    REQUIRE(read_frame(first(bytes, size))); // a read has no operands
    CHECK(read_frame(first(bytes, size))->elements().empty());

    for (size_t n = 0; n < size; ++n) CHECK_FALSE(read_frame(first(bytes, n)));
    for (const size_t count : {size_t{0}, size_t{kIovLimit + 1}}) {
        atomic.segments = static_cast<uint8_t>(count);
        std::byte longer[kMaxHeader + sizeof atomic + (kIovLimit + 1) * sizeof(RemoteSegment)]{};
        std::memcpy(longer, bytes, fields);
        std::memcpy(longer + fields, &atomic, sizeof atomic);
        CHECK_FALSE(read_frame(longer));
    }
    header = {FrameKind::atomic, 0, 0, 0, 0}; // nobody to answer to
    std::memcpy(bytes, &header, sizeof header);
    CHECK_FALSE(read_frame(first(bytes, fields + sizeof atomic)));
}

TEST_CASE("random bytes are taken apart or refused, and never read past their end") {
    std::mt19937 random{1};
    for (int i = 0; i < 100'000; ++i) {
        // On the heap in its exact size, where a sanitizer sees a read past the end.
        std::vector<std::byte> bytes(random() % 300);
        for (auto& b : bytes) b = std::byte(random());
        if (!bytes.empty()) bytes[0] = std::byte(random() % 10);
        const auto frame = read_frame(bytes);
        if (!frame) continue;
        CHECK(frame->payload.size() <= bytes.size());
        if (frame->header.kind == FrameKind::announce)
            CHECK(frame->payload.size() % sizeof(RemoteSegment) == 0);
        if (frame->header.kind == FrameKind::finish) frame->finish_error();
        if (frame->header.kind == FrameKind::atomic) {
            frame->atomic();
            for (size_t s = 0; s < frame->atomic().segments; ++s) frame->segment(s);
            CHECK(frame->elements().size() < bytes.size());
        }
    }
}
