// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// A ring: memory of the receiver's, into which one peer writes short frames, and where the receiver
// finds them by looking (the "RDMA channel" of Liu et al., and of the memory study of 2006). There
// is no receive to take and no completion to poll for a frame that comes like that.
//
// A record is a frame and, behind it, its end. Where a device places the bytes of a write in the
// order of their addresses, a frame is whole when its end is there. Verbs do not promise that (IBTA
// 1.4, 9.5), and what copies by software may begin with the last bytes: else the end has a sum of
// the frame, and what does not agree with it has not come yet. A ring is filled from its last byte
// towards its first: so the receiver knows where the next record ends before it knows how long it
// is, and has one word to look at.
//
// The end has the record's number, which tells it from the one that was there before. The receiver
// need not clear that: to write to a line that the peer has just written, and will write again,
// costs a hand-over for each. It does clear one with a sum, from which no number can be told.
//
// Where the peer's program writes it, a record of several lines of the cache begins where a line
// does (copies are quicker so), and the header of its frame lies behind the rest, in the line of
// the end: whoever sees that knows what has come while he waits for the rest.
//
// Records are counted in granules. One that begins near the beginning of the ring reaches over it,
// into room that is there for that; the next one ends at the end of the ring again.
//
// A record may do so, too, when the peer knows that all has been read: two processes that answer
// each other use the same few lines then, which either of them gets from the other sooner than such
// as it had a round ago. The receiver looks there as well, until it finds the record, and trusts
// nothing else before: where it would come next there may be the midst of a later one. Hence none
// begins anew that would reach there itself. Where records have sums none does at all.

#include "base/counters.hpp"
#include "base/prefetch.hpp"
#include "verbs_rc/adapter.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <span>

// The thread sanitizer does not look at what such a function does. Clang would go on with what is
// atomic, and with what it has put into other functions, if it were not told in its own words.
#if defined __clang__ && defined ODRC_THREAD_SANITIZER
#define ODRC_UNWATCHED [[clang::disable_sanitizer_instrumentation, gnu::noinline]]
#else
#define ODRC_UNWATCHED [[gnu::no_sanitize_thread]]
#endif

namespace odrc::srq {

inline constexpr uint32_t kGranule = 64; // bytes
// The longest record: a message of 4 KiB, its header and its end. And with a sum, which each byte
// adds to, on both sides.
inline constexpr size_t kMostInRecord = 4160, kMostSummed = 320;

// How many rings there is memory for, what one takes, and what one of them may take.
struct RingShare {
    size_t count, bytes, longest;
};
constexpr uint32_t granules_of_ring(size_t bytes) noexcept {
    return static_cast<uint32_t>((bytes - kMostInRecord) / kGranule + 1);
}

// The last word of a record. The length of the frame is never zero.
struct RecordEnd {
    uint16_t length; // with kHeaderBehind
    uint16_t freed;  // granules, until now, of the ring in the other direction: the lower bits
    uint32_t mark;   // the record's number, and the sum of the rest where that is asked for
};
static_assert(sizeof(RecordEnd) == sizeof(uint64_t));
inline constexpr uint16_t kHeaderBehind = 1 << 15; // the frame's header lies before the end
inline constexpr size_t kHeader = 16;              // bytes of that
static_assert(kMostInRecord < kHeaderBehind);
static_assert(std::endian::native == std::endian::little); // where a word of it is looked at

// Not made for those who mean harm: what was there before, in part, has another one.
uint32_t sum_of(const std::byte* frame, RecordEnd end) noexcept;

// How many bytes the record of a frame has, and how many granules that is.
constexpr size_t record_size(size_t frame) noexcept {
    return (frame + 7) / 8 * 8 + sizeof(uint64_t);
}
constexpr uint32_t granules_of(size_t record) noexcept {
    return static_cast<uint32_t>((record + kGranule - 1) / kGranule);
}
constexpr size_t whole_granules(size_t record) noexcept {
    return size_t{granules_of(record)} * kGranule;
}

// Where a ring is, for the peer that may write into it.
struct RingOffer {
    uint64_t end; // the address behind its last byte
    uint32_t rkey;
    uint16_t granules; // where a record may end
    uint16_t summed;   // not 0: records are to have sums

    size_t bytes() const noexcept { return (granules - 1) * size_t{kGranule} + kMostInRecord; }
};
static_assert(sizeof(RingOffer) == 16);

// The number of the record behind so many granules. There is none of the number 0, which is what
// memory begins with.
constexpr uint32_t number_behind(uint32_t granules) noexcept { return granules + 1; }

// The place of the next record, on either side.
class RingPlace {
public:
    // Granules between its end and that of the ring.
    uint32_t get() const noexcept { return at_; }
    void advance(uint32_t granules, uint32_t of_ring) noexcept {
        at_ += granules;
        if (at_ >= of_ring) at_ = 0;
    }
    void rewind() noexcept { at_ = 0; }

private:
    uint32_t at_{0};
};

// A ring of a peer's, into which we write.
class RingWriter {
public:
    // seen: where this process sees the end of it, if it does; else null.
    void open(const RingOffer& offer, const std::byte* seen = nullptr) noexcept {
        *this = {};
        end_ = offer.end;
        seen_ = seen;
        rkey_ = offer.rkey;
        granules_ = offer.granules;
        summed_ = offer.summed != 0;
    }
    void close() noexcept { *this = {}; }

    // False as well if it is not open.
    bool has_room(uint32_t granules) const noexcept {
        return written_ - freed_ + granules <= granules_;
    }
    // Where the next record ends, if it has so many granules.
    uint64_t begin(uint32_t granules) noexcept {
        next_ = next(granules);
        return end_ - uint64_t{next_.get()} * kGranule;
    }
    // A record of one granule is about to be written. To get its line from the receiver takes
    // longest of all: so that is begun first. The end of a longer one would be taken back again by
    // the receiver, who looks there, before its turn has come.
    void fetch_next() const noexcept {
        if (seen_) fetch_to_write(seen_ - size_t{next(1).get()} * kGranule - sizeof(RecordEnd));
    }
    uint32_t rkey() const noexcept { return rkey_; }
    // Behind the frame, whose record is of that size.
    void end_record(std::byte* frame, size_t record, RecordEnd end) const noexcept {
        end.mark = number_behind(written_) + (summed_ ? sum_of(frame, end) : 0);
        std::memcpy(frame + record - sizeof end, &end, sizeof end);
    }
    // The same behind a frame that was written there itself: whoever sees the end sees the rest.
    void publish(std::byte* frame, size_t record, RecordEnd end) const noexcept {
        end.mark = number_behind(written_);
        std::atomic_ref{*reinterpret_cast<uint64_t*>(frame + record - sizeof end)}.store(
            std::bit_cast<uint64_t>(end), std::memory_order_release);
    }
    // It was written there.
    void wrote(uint32_t granules) noexcept {
        place_ = next_;
        place_.advance(granules, granules_);
        written_ += granules;
    }
    // The peer has said how many granules are free again, by the lower bits of their number.
    void freed(uint16_t granules) noexcept {
        const auto more = static_cast<uint16_t>(granules - freed_);
        if (more <= written_ - freed_) freed_ += more;
    }

private:
    // Of so many granules the last ones go round without that, so that no end lies in the ring
    // until its number comes again.
    static constexpr uint32_t kRewound = 1 << 20;

    RingPlace next(uint32_t granules) const noexcept {
        const uint32_t round = granules_ + granules_of(kMostInRecord);
        const bool anew = freed_ == written_ && granules <= place_.get() && !summed_ &&
                          written_ % kRewound < kRewound - round;
        return anew ? RingPlace{} : place_;
    }

    uint64_t end_{0};
    const std::byte* seen_{nullptr};
    uint32_t rkey_{0};
    uint32_t granules_{0};
    bool summed_{false};
    RingPlace place_; // behind the record that was written last
    RingPlace next_;
    uint32_t written_{0};
    uint32_t freed_{0};
};

// A ring of ours.
class Ring {
public:
    // Throws Error.
    Ring(verbs::Adapter& adapter, Counters& counters, size_t bytes);
    ~Ring();
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;

    RingOffer offer() const noexcept;
    uint32_t granules() const noexcept { return granules_; }
    size_t bytes() const noexcept { return memory_.bytes().size(); }

    // Where the end of the next record is; null while it has not come, as far as that tells.
    const uint64_t* find_next() const noexcept {
        if (summed_) return end_at(place_).length > 0 ? word_at(place_.get()) : nullptr;
        const uint64_t next = word_there(place_);
        if (is_next(word_there({}))) return word_at(0); // read after the other one
        return is_next(next) ? word_at(place_.get()) : nullptr;
    }
    // The end that was found there. It has no length if the rest has not come.
    RecordEnd open(const uint64_t* found) noexcept {
        if (summed_) [[unlikely]]
            return look_for_sum();
        if (found == word_at(0)) place_.rewind();
        return have_come();
    }
    // Both: without a length it has not come.
    RecordEnd look() noexcept {
        const uint64_t* found = find_next();
        return found ? open(found) : RecordEnd{};
    }
    // The next record has not come. Fetches what lies before its end, if it is like the last one
    // and as short as not to be disturbed by that: then whoever sees the end need not wait for the
    // beginning, which was written before.
    [[gnu::always_inline]] void fetch_next() const noexcept {
        const size_t lines = last_granules_ - 1;
        if (lines > kFetched) return;
        const std::byte* line = end_ - (size_t{begins_anew_ ? 0 : place_.get()} + 2) * kGranule;
        for (size_t i = 0; i < lines; ++i) fetch_to_read(line - i * kGranule);
    }
    // This frame has come. Asks for all of its lines at once, so that nobody waits for one of them
    // to learn that there are others.
    void fetch(std::span<const std::byte> frame) const noexcept {
        for (size_t at = 0; at + kGranule <= frame.size(); at += kGranule)
            fetch_to_read(frame.data() + at);
    }
    // Without its header if that lies behind.
    std::span<const std::byte> frame(RecordEnd end) const noexcept {
        const size_t length = length_of(end);
        if (!(end.length & kHeaderBehind)) return {next_end() - record_size(length), length};
        return {next_end() - whole_granules(record_size(length)),
                std::max(length, kHeader) - kHeader};
    }
    const std::byte* header_behind() const noexcept {
        return next_end() - sizeof(RecordEnd) - kHeader;
    }
    // It has been read. Where an end may come to stand, nothing is left that a peer's program
    // wrote; nor its own end if that has a sum, or each look in vain there would take another one.
    void pop(RecordEnd end) noexcept {
        const uint32_t granules = granules_of(record_size(length_of(end)));
        for (uint32_t i = summed_ ? 0 : 1; i < granules; ++i)
            end_word(place_.get() + i).store(0, std::memory_order_relaxed);
        begins_anew_ = place_.get() == 0;
        last_granules_ = granules;
        place_.advance(granules, granules_);
        freed_ += granules;
    }

    // How much has been read, which the peer is to be told; and that it is told.
    uint16_t tell() noexcept { return static_cast<uint16_t>(told_ = freed_); }
    // Half of it is free again, and the peer does not know.
    bool is_due() const noexcept { return freed_ - told_ >= granules_ / 2; }

private:
    // The most lines before the end of a short record, in granules.
    static constexpr size_t kFetched = 8;

    // Until the next record is there this may be the midst of a later one that is being written,
    // which the thread sanitizer would take for a race: it does not see this, and what has come
    // with an end it learns by another look.
    ODRC_UNWATCHED uint64_t word_there(RingPlace place) const noexcept {
        return __atomic_load_n(word_at(place.get()), __ATOMIC_ACQUIRE);
    }
    RecordEnd end_at(RingPlace place) const noexcept {
        return std::bit_cast<RecordEnd>(word_there(place));
    }
    // It is the end of the next record, of which no sum is taken: of that number, and not cleared.
    bool is_next(uint64_t word) const noexcept {
        return word - 1 - (uint64_t{number_behind(freed_)} << 32) < UINT32_MAX;
    }
    RecordEnd look_for_sum() const noexcept;
    RecordEnd have_come() const noexcept {
        return std::bit_cast<RecordEnd>(end_word(place_.get()).load(std::memory_order_acquire));
    }
    // More than fits is no frame's, whatever stands there.
    static size_t length_of(RecordEnd end) noexcept {
        return std::min<size_t>(end.length & ~kHeaderBehind, kMostInRecord - sizeof(uint64_t));
    }
    const std::byte* next_end() const noexcept { return end_ - size_t{place_.get()} * kGranule; }
    uint64_t* word_at(uint32_t place) const noexcept {
        return reinterpret_cast<uint64_t*>(end_ - size_t{place} * kGranule - sizeof(uint64_t));
    }
    std::atomic_ref<uint64_t> end_word(uint32_t place) const noexcept {
        return std::atomic_ref{*word_at(place)};
    }

    Counters& counters_;
    verbs::Slab memory_;
    const bool summed_;
    const uint32_t granules_;
    std::byte* const end_;
    RingPlace place_;
    uint32_t freed_{0};
    uint32_t told_{0};
    uint32_t last_granules_{1}; // of the record that was read last
    bool begins_anew_{false};   // which began the ring anew
};

} // namespace odrc::srq
