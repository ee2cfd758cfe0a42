// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "schemes/choice.hpp"
#include "schemes/copy_pace.hpp"
#include "schemes/footprint.hpp"
#include "schemes/kept_costs.hpp"
#include "schemes/staging.hpp"

#include <cmath>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>

using namespace odrc::mpi;

namespace {

constexpr Means kAll{
    .unpacks = true, .exposes = true, .overlaps = true, .caches = true, .near = true};
constexpr Means kShared{
    .unpacks = true, .exposes = true, .overlaps = false, .caches = false, .near = true};

Offer offer_of(uint64_t bytes, uint64_t piece) {
    Offer offer{};
    offer.bytes = bytes;
    offer.shape = {.piece = piece, .median = piece, .extent = 2 * bytes};
    offer.wanted = kAnyScheme;
    return offer;
}

Plan choose(const SchemeCosts& costs, const Offer& offer, const Shape& receiver, uint64_t bytes,
            const Means& means, const WantedScheme& wanted) {
    Choice choice{costs, offer, receiver, bytes, means, wanted};
    return choice.plan(choice.asked_for().value_or(quickest(choice.expected())));
}

Plan plan_of(const SchemeCosts& costs, uint64_t bytes, uint64_t piece, const Means& means = kAll,
             const WantedScheme& wanted = {}) {
    const Offer offer = offer_of(bytes, piece);
    return choose(costs, offer, offer.shape, bytes, means, wanted);
}

// A NIC: it copies nothing by the processor, and takes long for each request.
constexpr SchemeCosts kNic{.copied_piece = 5,
                           .copied_byte = 0.2,
                           .fetched_byte = 0.3,
                           .write = 300,
                           .gathered = 30,
                           .written_byte = 0.08,
                           .read = 900,
                           .scattered = 30,
                           .read_byte = 0.1,
                           .plain_byte = 0.1,
                           .placed = 300,
                           .placed_byte = 0.08,
                           .exposed = 2000,
                           .exposed_byte = 0.01,
                           .word = 1500,
                           .by_processor = 0.01};

} // namespace

TEST_CASE("a scheme is named, with what belongs to it") {
    CHECK(!scheme_of("auto")->scheme);
    CHECK(scheme_of("generic")->scheme == Scheme::generic);
    CHECK(scheme_of("multi-w")->scheme == Scheme::multi_w);
    CHECK(scheme_of("bc-spup:4096")->segment == 4096);
    CHECK(scheme_of("p-rrs:1")->segment == 1);
    CHECK(scheme_of("rwg-up:whole")->whole);
    CHECK(scheme_of("multi-w:single")->single);
    for (const char* text : {"", "Auto", "auto:1", "generic:4096", "multi-w:4096", "multi-w:whole",
                             "bc-spup:", "bc-spup:0", "bc-spup:-1", "bc-spup:4k", "p-rrs:single"})
        CHECK_MESSAGE(!scheme_of(text), text);
}

TEST_CASE("large blocks go from where they lie to where they belong, small ones are packed") {
    CHECK(plan_of(kNic, 1 << 20, 64 << 10).scheme == Scheme::multi_w);
    const Scheme of_words = plan_of(kNic, 1 << 20, 8).scheme;
    CHECK((of_words == Scheme::bc_spup));
    CHECK(plan_of(kNic, 1 << 20, 1024).scheme == Scheme::rwg_up);
}

TEST_CASE("what has to be registered for it counts against writing to where the data belongs") {
    const Offer offer = offer_of(1 << 20, 64 << 10);
    const auto multi_w = [&](uint64_t extent) {
        const Shape receiver{.piece = 64 << 10, .median = 64 << 10, .extent = extent};
        return choose(kNic, offer, receiver, 1 << 20, kAll, {});
    };
    CHECK(multi_w(2 << 20).scheme == Scheme::multi_w);
    CHECK(multi_w(200 << 20).scheme != Scheme::multi_w);
}

TEST_CASE("a long message goes in segments, a short one as a whole") {
    const Plan of_long = plan_of(kNic, 4 << 20, 8);
    CHECK(of_long.segment < 4 << 20);
    CHECK(of_long.room >= 2);
    CHECK(of_long.room * of_long.segment <= 1 << 20);
    CHECK(plan_of(kNic, 6000, 8).room == 1);
}

TEST_CASE("where processors are shared nothing is gained by segments") {
    SchemeCosts costs = kNic;
    costs.fetched_byte = costs.word = 0;
    for (const uint64_t piece : {8, 256, 8192}) {
        const auto apart = plan_of(costs, 1 << 20, piece),
                   together = plan_of(costs, 1 << 20, piece, kShared);
        CHECK(together.expected[1] > apart.expected[1]);
        CHECK(together.expected[0] == apart.expected[0]);
        CHECK(together.expected[4] == apart.expected[4]);
    }
    CHECK(plan_of(kNic, 1 << 20, 8, kShared, *scheme_of("bc-spup")).segment >
          plan_of(kNic, 1 << 20, 8, kAll, *scheme_of("bc-spup")).segment);
}

TEST_CASE("where processors are shared it counts how often data comes into a cache") {
    SchemeCosts costs = kNic; // a processor in a device's stead
    costs.by_processor = 1;
    costs.placed = 500;
    costs.placed_byte = costs.read_byte = costs.written_byte = costs.copied_byte;
    costs.fetched_byte = 0;
    CHECK(plan_of(costs, 256 << 10, 2 << 10, kShared).scheme != Scheme::multi_w);
    costs.fetched_byte = 1;
    CHECK(plan_of(costs, 256 << 10, 2 << 10, kShared).scheme == Scheme::multi_w);
    const auto seen = plan_of(costs, 256 << 10, 2 << 10, kShared).expected;
    CHECK(seen[0] > seen[3]); // three times, twice
    CHECK(plan_of(costs, 256 << 10, 2 << 10).expected == [&] {
        SchemeCosts cached = costs;
        cached.fetched_byte = 0;
        return plan_of(cached, 256 << 10, 2 << 10).expected;
    }());
}

TEST_CASE(
    "where caches are far what is written past them is not fetched, and others take lines back") {
    constexpr uint64_t kBytes = 256 << 10;
    SchemeCosts costs = kNic;
    costs.by_processor = 1;
    costs.fetched_byte = 1;
    const auto expected = [&](bool caches, bool near) {
        Means means = kShared;
        means.caches = caches;
        means.near = near;
        return plan_of(costs, kBytes, 2 << 10, means).expected;
    };
    const Expected near = expected(true, true), far = expected(true, false),
                   full = expected(false, true);
    const auto fetched = [&](const Expected& takes, Scheme scheme) { // times
        const auto i = static_cast<size_t>(scheme);
        return std::round((takes[i] - near[i]) / (2 * costs.fetched_byte * kBytes));
    };
    CHECK(fetched(far, Scheme::generic) == 3);
    CHECK(fetched(full, Scheme::generic) == 3);
    CHECK(fetched(far, Scheme::bc_spup) == 2); // the data, and what is unpacked
    CHECK(fetched(full, Scheme::bc_spup) == 3);
    CHECK(fetched(far, Scheme::rwg_up) == 1);
    CHECK(fetched(full, Scheme::rwg_up) == 2);
    CHECK(fetched(far, Scheme::p_rrs) == 3); // the memory for segments as well
    CHECK(fetched(full, Scheme::p_rrs) == 2);
}

TEST_CASE(
    "where processors are shared a word takes what the processor does in the device's stead") {
    SchemeCosts costs = kNic;
    costs.word = 30'000;
    SchemeCosts without = costs;
    without.word = 0;
    const auto expected = [](const SchemeCosts& c) {
        return plan_of(c, 64 << 10, 256, kShared).expected;
    };
    CHECK(expected(costs) == expected(without)); // a NIC's: 300 ns are not felt
    costs.by_processor = without.by_processor = 1;
    for (size_t scheme = 0; scheme < kSchemes; ++scheme)
        CHECK(expected(costs)[scheme] >= expected(without)[scheme] + 2 * costs.word);
}

TEST_CASE("the memory of the last messages counts once each") {
    Footprint footprint;
    char places[100];
    for (int times = 0; times < 3; ++times)
        for (int i = 0; i < 7; ++i) footprint.add(&places[i], 1000);
    CHECK(footprint.bytes() == 7000);
    footprint.add(&places[0], 10);
    CHECK(footprint.bytes() == 6010);
    for (char& place : places) footprint.add(&place, 1);
    CHECK(footprint.bytes() == 16);
}

TEST_CASE("copies that take long tell that what they copy is far") {
    constexpr size_t kBytes = 64 << 10, kPiece = 4096;
    SchemeCosts costs = kUsualCosts;
    costs.copied_piece = 10;
    costs.copied_byte = 0.02;
    costs.fetched_byte = 0.1;
    constexpr double kQuick = kBytes * 0.02 + kBytes / kPiece * 10.0, kSlow = kQuick + kBytes * 0.1;
    CopyPace pace;
    const auto copy_in_pieces = [&](int times, double took, size_t bytes, uint64_t piece) {
        for (int i = 0; i < times; ++i) pace.copied(bytes, piece, took, costs);
    };
    const auto copy = [&](int times, double took) { copy_in_pieces(times, took, kBytes, kPiece); };
    CHECK_FALSE(pace.is_slow()); // nothing is known
    copy(64, kQuick * 2);        // less than half of what fetching would take
    CHECK_FALSE(pace.is_slow());
    copy(7, kSlow); // somebody else had the processor
    CHECK_FALSE(pace.is_slow());
    copy(1, kSlow);
    CHECK(pace.is_slow());
    copy(61, kQuick); // of the last 64, three
    CHECK(pace.is_slow());
    copy(1, kQuick);
    CHECK_FALSE(pace.is_slow());

    SUBCASE("short copies and short pieces tell nothing") {
        copy_in_pieces(32, kSlow, CopyPace::kLeast - 1, kPiece);
        copy_in_pieces(32, kSlow, kBytes, CopyPace::kLeastPiece - 1);
        CHECK_FALSE(pace.is_slow());
    }
    SUBCASE("it is forgotten when messages have gone without a copy for long") {
        copy(32, kSlow);
        for (uint32_t i = 1; i < CopyPace::kTold; ++i) pace.chosen();
        CHECK(pace.is_slow());
        copy(1, kSlow);
        for (uint32_t i = 1; i < CopyPace::kTold; ++i) pace.chosen();
        CHECK(pace.is_slow());
        pace.chosen();
        CHECK_FALSE(pace.is_slow());
    }
}

TEST_CASE("what there is no memory for is not chosen, whoever wants it") {
    CHECK(plan_of(kNic, 1 << 20, 64 << 10, {true, false, true, true, true}).scheme !=
          Scheme::multi_w);
    const Scheme without = plan_of(kNic, 1 << 20, 8, {false, false, true, true, true}).scheme;
    CHECK((without == Scheme::p_rrs || without == Scheme::generic));
    CHECK(
        plan_of(kNic, 1 << 20, 8, {false, true, true, true, true}, *scheme_of("bc-spup")).scheme ==
        Scheme::generic);
    CHECK(plan_of(kNic, 1 << 20, 8, kAll, *scheme_of("bc-spup")).scheme == Scheme::bc_spup);
}

TEST_CASE("the sender's wish counts where the receiver has none") {
    Offer offer = offer_of(1 << 20, 8);
    offer.wanted = static_cast<uint8_t>(Scheme::multi_w);
    CHECK(choose(kNic, offer, offer.shape, 1 << 20, kAll, {}).scheme == Scheme::multi_w);
    CHECK(choose(kNic, offer, offer.shape, 1 << 20, kAll, *scheme_of("rwg-up")).scheme ==
          Scheme::rwg_up);
}

TEST_CASE(
    "by Generic goes nothing that is offered to see what can be gained, unless it is asked for") {
    SchemeCosts costs = kNic;
    costs.write = costs.placed = 100'000;
    Offer offer = offer_of(16 << 10, 8);
    const auto scheme = [&](const WantedScheme& wanted) {
        return choose(costs, offer, offer.shape, offer.bytes, kAll, wanted).scheme;
    };
    CHECK(scheme({}) == Scheme::generic);
    offer.is_trial = true;
    CHECK(scheme({}) != Scheme::generic);
    CHECK(scheme(*scheme_of("generic")) == Scheme::generic);
}

TEST_CASE("where writes take long, what is short takes longer if it is offered") {
    SchemeCosts costs = kNic;
    costs.write = costs.placed = 100'000;
    const auto gain = [&](uint64_t bytes) {
        const Offer offer = offer_of(bytes, 256);
        Choice choice{costs, offer, offer.shape, bytes, kAll, {}};
        return choice.not_offered() / *std::ranges::min_element(choice.expected());
    };
    CHECK(gain(8 << 10) < 1);
    CHECK(gain(4 << 20) > 1);
}

TEST_CASE("Generic is spared what asking takes, but not the time that a receiver lets pass") {
    const auto spared = [](uint32_t asking) {
        Offer offer = offer_of(1 << 20, 8);
        offer.asking = asking;
        return Choice{kNic, offer, offer.shape, 1 << 20, kAll, {}}.spared();
    };
    CHECK(spared(0) == 2 * kNic.word); // it was not measured
    CHECK(spared(static_cast<uint32_t>(4 * kNic.word)) == 4 * kNic.word);
    CHECK(spared(1'000'000'000) == 8 * kNic.word);
}

TEST_CASE("an offer that was overwritten leaves open what it can, and is like the last one") {
    const Offer offer = offer_of(1 << 20, 8);
    const uint64_t bits = offer_bits(offer.number, offer.bytes);
    const auto bytes = std::as_bytes(std::span{&offer, 1});
    OffersRead offers;
    CHECK(offers.read(bytes.first(10), bits).shape.piece != 8);
    CHECK(offers.read(bytes, bits).shape.piece == 8);
    CHECK(offers.read(bytes, bits + 1).shape.piece != 8);
    for (const auto& found : {offers.read({}, bits), offers.read(bytes.first(10), bits),
                              offers.read(bytes, offer_bits(offer.number + 1, offer.bytes))}) {
        CHECK(found.shape.piece == 8);
        CHECK(found.wanted == kAnyScheme);
        CHECK(found.trial.plain.key == 0);
    }
    CHECK(offers.read({}, offer_bits(77, 5000)).number == 77);
    CHECK(offers.read({}, offer_bits(77, 5000)).bytes == 5000);
}

TEST_CASE("segments are as many bytes as were asked for, but leave room for two") {
    CHECK(plan_of(kNic, 1 << 20, 8, kAll, *scheme_of("bc-spup:5000")).segment == 5000);
    const Plan huge = plan_of(kNic, 64 << 20, 8, kAll, *scheme_of("bc-spup:99000000"));
    CHECK(huge.segment * 2 <= 1 << 20);
    constexpr size_t kHalf = Staging::kBytes / 2;
    const Plan whole = plan_of(kNic, kHalf, 8, kAll, *scheme_of("rwg-up:whole"));
    CHECK(whole.whole);
    CHECK(whole.room * whole.segment >= kHalf);
    CHECK(!plan_of(kNic, kHalf + 1, 8, kAll, *scheme_of("rwg-up:whole")).whole);
}

TEST_CASE("costs are kept for who asks for the same, and nothing else is taken for them") {
    const auto folder = std::filesystem::temp_directory_path() / "odrc-kept-costs";
    std::filesystem::remove_all(folder);
    setenv("XDG_CACHE_HOME", folder.c_str(), 1);
    const KeptCosts kept{"a device"}, other{"another one"};
    CHECK(!kept.find());
    kept.keep(kNic);
    REQUIRE(kept.find());
    CHECK(kept.find()->write == kNic.write);
    CHECK(kept.find()->by_processor == kNic.by_processor);
    CHECK(!other.find());
    for (const auto& file : std::filesystem::directory_iterator(folder / "odrc")) {
        std::ofstream{file.path(), std::ios::app} << "1\n";
        CHECK(!kept.find());
        std::ofstream{file.path()} << "a device\n1\n2\nnan\n";
        CHECK(!kept.find());
    }
    kept.keep(kNic);
    CHECK(kept.find());
    {
        const auto turn = kept.take_turn();
        CHECK(turn);
        CHECK(!kept.take_turn());
    }
    CHECK(kept.take_turn());
    unsetenv("XDG_CACHE_HOME");
    std::filesystem::remove_all(folder);
}
