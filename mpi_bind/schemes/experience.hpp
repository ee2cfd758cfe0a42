// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "schemes/message_kind.hpp"
#include "schemes/trials.hpp"

#include <array>
#include <optional>

namespace odrc::mpi {

// What messages that are alike have taken: it puts right what is expected of the next ones. Those
// that are under way at the same time, a burst, go alike, and it is known what all of them took;
// whether a way is the quickest for one message and for many at once are two questions. Ways are
// schemes, or what else its owner tells apart by these numbers. Times are in nanoseconds, since any
// point.
class Experience {
public:
    // What is learned of; for others, what is expected counts. Many at once are those that go,
    // which are over before their receiver is: what follows them counts, up to as much again.
    enum class Of : uint8_t { none, all, many_at_once };
    // now: is called where a burst begins or ends.
    using Clock = double (*)() noexcept;
    Experience(Of of, Clock now) noexcept
        : of_{of}
        , now_{now} {}

    // What one that has begun is known by when it ends.
    struct Ticket {
        uint32_t place, generation;
        uint8_t burst;
    };
    struct Begun {
        Scheme way;
        std::optional<Ticket> ticket; // none: nothing will be learned of it
        // So many behind it need not be asked for: it goes alone, and by the first way, which is
        // known to be the quickest. They are few until that has been seen some times: of them
        // nothing is learned, and what was quick once may have had luck.
        uint32_t unasked;
        bool is_trial; // the way is tried
    };

    // By which way a message came, and how many behind it are unasked (above).
    struct News {
        Scheme way;
        uint32_t unasked;
        bool operator==(const News&) const = default;
    };

    // Each way that is not hopeless is tried, now and then again, and otherwise the quickest is
    // taken. What is expected is then what was found, where that is known.
    // like: what another one takes, who leads. Where messages come and go alike, what one of them
    // takes depends on the other's way, which has left its bytes in one processor's caches or in
    // the other's: ways are tried together. (Of many at once there are enough to tell.)
    // spared: so much less takes a message that goes by the first way, Generic, once that is
    // settled: it need not be asked for.
    Begun begin(const MessageKind& kind, uint64_t bytes, Expected& expected,
                const std::optional<News>& like = {}, double spared = 0) noexcept;
    // So many others than those that begin here come next: what these leave in the caches is felt
    // by who begins then.
    void pause(const MessageKind& kind, uint32_t messages) noexcept;
    // The next messages that go alone take that way, whatever is expected: of them nothing is
    // learned here, but by another one (Of::many_at_once).
    void settle(const MessageKind& kind, Scheme way, uint32_t messages) noexcept;
    // As far as it was with the last one, each is over before the next one begins.
    bool go_alone(const MessageKind& kind) const noexcept;
    // How many of these are left; and so many of them have gone which did not begin here.
    uint32_t settled(const MessageKind& kind) const noexcept;
    void went(const MessageKind& kind, uint32_t messages) noexcept;
    // Those that are under way are no measure of theirs, and others take their place: a peer, who
    // does its part in one of several ways, tries one. (Of many at once. It is not waited for for
    // ever.)
    void put_off(const MessageKind& kind) noexcept;
    // A message came that way without having been asked for here.
    void came(const MessageKind& kind, Scheme way) noexcept;
    // For those who follow: of the last message, if that came alone and has not been asked for
    // before.
    std::optional<News> news(const MessageKind& kind) noexcept;
    // bytes: 0, if it has failed.
    void end(const Ticket& ticket, uint64_t bytes) noexcept;

private:
    struct Burst {
        Scheme way{};
        bool counts{false}; // it tells something of its way
        bool is_put_off{false};
        uint32_t begun{0}, ended{0};
        uint64_t bytes{0};
        double begin{0};

        bool is_over() const noexcept { return begun == ended; }
    };
    // What is the quickest is another question for a message that goes alone than for many at once.
    struct Question {
        Trials trials;
        Records records{};
    };
    // A burst that is over for its sender, and may not be for its receiver.
    struct Sent {
        Scheme way;
        uint64_t bytes;
        double begin, end;
    };
    struct Entry {
        MessageKind kind{};
        uint32_t generation{0};
        uint32_t in_a_row{0};    // that had the way of the newest one, and it
        uint32_t tried_again{0}; // bursts that are to go like the newest one
        uint32_t patience{0};    // so many more may be put off
        uint8_t newest{0};       // burst; the other one's last messages may still be under way
        uint32_t most{0};        // messages of the last bursts: a tail of them tells little
        bool many{false};        // messages were in the last burst, and so will be in the next
        bool is_settled{false};  // the newest burst's way: it follows, or nothing was to be tried
        bool is_left{false};     // the last of many that were sent: nothing followed for long
        uint32_t unasked{0};     // behind the newest burst
        uint32_t untold{0};      // the next ones of which nothing is learned
        uint32_t trusted{0};     // so many were unasked when that was last seen to be right
        std::optional<News> news{};
        Scheme settled_way{};    // of the next ones that go alone
        uint32_t settled_for{0}; // so many
        std::array<Burst, 2> bursts{};
        Question one_alone{Trials{Trials::Of::one_alone}};
        Question many_at_once{Trials{Trials::Of::many_at_once}};
        double last_end{0};
        std::optional<Sent> sent{};
        double trial_takes{0};    // of a byte, by the last burst that counted; 0: none has
        bool gets_quicker{false}; // the way that is tried, burst by burst
    };

    // A way that is tried is taken for so many bursts in a row: what others have left in the
    // caches, and what they have displaced there, is not its own. So the first do not count, nor do
    // those of one that is found again. (Of many, it goes on as long as that makes it quicker.)
    struct Row {
        uint32_t bursts, warm;
    };
    static Row row_of(const Entry& entry) noexcept;

    void begin_burst(Entry& entry, uint64_t bytes, Expected& expected,
                     const std::optional<News>& like, double spared) const noexcept;
    Burst telling_burst(Entry& entry, uint64_t bytes, Expected& expected,
                        const std::optional<News>& like, double spared) const noexcept;
    Burst next_burst(Entry& entry, Scheme way) const noexcept;
    uint32_t unasked_behind(Entry& entry, Scheme way) const noexcept;
    Scheme choose(Entry& entry, uint64_t bytes, Expected& expected, double spared) const noexcept;
    void learn(Entry& entry, const Burst& burst, double now) const noexcept;
    void learn_of_sent(Entry& entry) const noexcept;
    static void note(Entry& entry, Scheme way, double takes) noexcept;

    const Of of_;
    const Clock now_;

    std::array<Entry, MessageKind::kPlaces> entries_{};
};

} // namespace odrc::mpi
