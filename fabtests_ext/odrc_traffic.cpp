// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Random traffic: all processes send to all, messages of all sizes in all ways, from a seed. The
// receivers know what must come: every message is checked byte by byte, and receives that match
// alike must get the messages of one sender in the order in which they were sent.

#include "support/content.hpp"
#include "support/options.hpp"
#include "support/samples.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <deque>
#include <map>

namespace fabtests_ext {
namespace {

struct Options {
    Choice choice;
    Halves halves;
    int processes{8};
    uint64_t messages{100'000};
    size_t max_size{4u << 20};
    uint64_t seed{1};
    int window{8};
};

// How the receiver asks for a message.
enum class Way : uint64_t {
    directed, // from this sender, with this tag
    any,      // from anyone, with this tag
    wild,     // from anyone, some bits of the tag ignored
};
constexpr int kWays = 3;

// The k-th message from one process to another: sender and receiver both know all of it.
struct Message {
    uint64_t id;
    size_t size;
    Way way;
    bool inject;

    Message(const Options& o, int from, int to, uint64_t k) noexcept
        : id{scramble(o.seed ^ scramble(uint64_t(from) << 48 ^ uint64_t(to) << 32 ^ k))} {
        const uint64_t r = scramble(id);
        // Every order of magnitude as often as every other; some empty ones.
        const unsigned bits = static_cast<unsigned>(r % (std::bit_width(o.max_size) + 1));
        size = bits == 0 ? 0 : std::min<size_t>(o.max_size, (r >> 8) % (size_t{1} << bits));
        way = static_cast<Way>((r >> 40) % kWays);
        inject = (r >> 48) % 4 == 0;
    }

    uint64_t tag() const noexcept {
        return static_cast<uint64_t>(way) << 32 | (way == Way::wild ? id & 0xffff : 0);
    }
};

class Member {
public:
    Member(Team& team, const Options& options)
        : team_{team}
        , options_{options}
        , endpoint_{options.choice, {.caps = FI_TAGGED | FI_DIRECTED_RECV | FI_SOURCE}}
        , peers_{endpoint_.introduce(team)} {
        const uint64_t pairs = uint64_t(team.size()) * uint64_t(team.size());
        per_pair_ = std::max<uint64_t>(1, options.messages / pairs);
        plan();
    }

    void run() {
        while (sent_ < total_sends_ || received_ < total_receives_ || sending_ > 0) {
            bool busy = post_receives();
            busy |= post_send();
            fi_cq_tagged_entry entry;
            for (fi_addr_t source; endpoint_.poll(entry, &source); busy = true)
                on_done(entry, source);
            if (!busy) sched_yield();
        }
        check_order();
    }

    uint64_t messages() const noexcept { return received_; }
    uint64_t bytes() const noexcept { return bytes_; }

private:
    struct Slot { // one operation under way
        fi_context2 context;
        std::vector<std::byte> buffer;
        bool is_send;
        Way way;
        int from;       // -1: anyone
        uint64_t order; // of posting
    };
    struct Arrival {
        uint64_t order; // of its receive
        uint64_t k;     // its place among the sender's messages
    };

    void plan() {
        const auto n = static_cast<size_t>(team_.size());
        next_.assign(n, 0);
        to_post_.resize(n);
        arrivals_.resize(n);
        total_sends_ = total_receives_ = per_pair_ * n;
        for (int from = 0; from < team_.size(); ++from) {
            for (uint64_t k = 0; k < per_pair_; ++k) {
                const Message m{options_, from, team_.rank(), k};
                if (m.way == Way::directed)
                    to_post_[size_t(from)].push_back(m.size);
                else
                    ++anonymous_[size_t(m.way)];
            }
        }
    }

    Slot& take_slot(size_t size) {
        if (free_.empty()) {
            slots_.emplace_back();
            free_.push_back(&slots_.back());
        }
        Slot& slot = *free_.back();
        free_.pop_back();
        if (slot.buffer.size() < size) slot.buffer.resize(size);
        return slot;
    }

    bool post_receives() {
        bool posted = false;
        for (size_t from = 0; from < to_post_.size(); ++from) {
            auto& next = to_post_[from];
            while (!next.empty() && posted_directed_[from] < options_.window) {
                if (!post_receive(Way::directed, int(from), next.front())) return posted;
                next.pop_front();
                ++posted_directed_[from];
                posted = true;
            }
        }
        for (const Way way : {Way::any, Way::wild}) {
            auto& left = anonymous_[size_t(way)];
            auto& now = posted_anonymous_[size_t(way)];
            while (left > 0 && now < options_.window) {
                if (!post_receive(way, -1, options_.max_size)) return posted;
                --left;
                ++now;
                posted = true;
            }
        }
        return posted;
    }

    bool post_receive(Way way, int from, size_t size) {
        Slot& slot = take_slot(size);
        slot.way = way;
        slot.from = from;
        slot.is_send = false;
        slot.order = receives_posted_++;
        const fi_addr_t source = from < 0 ? FI_ADDR_UNSPEC : peers_[size_t(from)];
        const ssize_t r = fi_trecv(endpoint_.ep(), slot.buffer.data(), size, nullptr, source,
                                   static_cast<uint64_t>(way) << 32, way == Way::wild ? 0xffff : 0,
                                   &slot.context);
        if (r == -FI_EAGAIN) {
            free_.push_back(&slot);
            return false;
        }
        check(r, "fi_trecv");
        return true;
    }

    // To all in turn, from a start of its own, so that everybody is everybody's target.
    bool post_send() {
        if (sent_ == total_sends_ || sending_ >= options_.window) return false;
        const auto n = static_cast<uint64_t>(team_.size());
        const int to = static_cast<int>((sent_ + uint64_t(team_.rank())) % n);
        const Message m{options_, team_.rank(), to, next_[size_t(to)]};
        Slot& slot = take_slot(m.size);
        slot.is_send = true;
        fill(slot.buffer.data(), m.size, m.id);
        const bool inject = m.inject && m.size <= endpoint_.info().tx_attr->inject_size;
        const auto data = static_cast<uint64_t>(team_.rank()) << 32 | next_[size_t(to)];
        const fi_addr_t peer = peers_[size_t(to)];
        const ssize_t r =
            inject ? fi_tinjectdata(endpoint_.ep(), slot.buffer.data(), m.size, data, peer, m.tag())
                   : fi_tsenddata(endpoint_.ep(), slot.buffer.data(), m.size, nullptr, data, peer,
                                  m.tag(), &slot.context);
        if (inject || r == -FI_EAGAIN) free_.push_back(&slot);
        if (r == -FI_EAGAIN) return false;
        check(r, inject ? "fi_tinjectdata" : "fi_tsenddata");
        if (!inject) ++sending_;
        ++next_[size_t(to)];
        ++sent_;
        return true;
    }

    void on_done(const fi_cq_tagged_entry& entry, fi_addr_t source) {
        auto& slot = *reinterpret_cast<Slot*>(static_cast<std::byte*>(entry.op_context) -
                                              offsetof(Slot, context));
        if (slot.is_send)
            --sending_;
        else
            on_received(slot, entry, source);
        free_.push_back(&slot);
    }

    void on_received(const Slot& slot, const fi_cq_tagged_entry& entry, fi_addr_t source) {
        const int from = static_cast<int>(entry.data >> 32);
        const uint64_t k = entry.data & 0xffffffff;
        const auto require = [&](bool holds, const char* what) {
            if (holds) return;
            throw std::runtime_error{"message " + std::to_string(k) + " from " +
                                     std::to_string(from) + ": " + what};
        };
        require(entry.flags & FI_REMOTE_CQ_DATA && from >= 0 && from < team_.size() &&
                    k < per_pair_,
                "its data is nonsense");
        const Message m{options_, from, team_.rank(), k};
        require(source == peers_[size_t(from)], "the completion names another source");
        require(slot.from < 0 || slot.from == from, "not the sender that was asked for");
        require(slot.way == m.way && entry.tag == m.tag(), "not the tag that was asked for");
        require(entry.len == m.size, "not its length");
        require(intact(slot.buffer.data(), m.size, m.id), "damaged");
        if (slot.way == Way::directed)
            --posted_directed_[size_t(from)];
        else
            --posted_anonymous_[size_t(slot.way)];
        arrivals_[size_t(from)][size_t(slot.way)].push_back({slot.order, k});
        ++received_;
        bytes_ += m.size;
    }

    // Receives complete in any order, but they match in the order of posting.
    void check_order() {
        for (size_t from = 0; from < arrivals_.size(); ++from) {
            for (auto& list : arrivals_[from]) {
                std::ranges::sort(list, {}, &Arrival::order);
                for (size_t i = 1; i < list.size(); ++i)
                    if (list[i].k <= list[i - 1].k)
                        throw std::runtime_error{"message " + std::to_string(list[i].k) + " from " +
                                                 std::to_string(from) +
                                                 " was matched out of order"};
            }
        }
    }

    Team& team_;
    const Options& options_;
    Endpoint endpoint_;
    std::vector<fi_addr_t> peers_;
    uint64_t per_pair_{0};
    uint64_t total_sends_{0}, total_receives_{0};
    uint64_t sent_{0}, received_{0}, bytes_{0};
    int sending_{0};
    std::vector<uint64_t> next_; // by receiver: how many were sent
    uint64_t receives_posted_{0};
    std::vector<std::deque<size_t>> to_post_; // by sender: sizes of the directed receives
    std::vector<std::array<std::vector<Arrival>, kWays>> arrivals_;
    std::array<uint64_t, kWays> anonymous_{};
    std::map<size_t, int> posted_directed_;
    std::array<int, kWays> posted_anonymous_{};
    std::deque<Slot> slots_;
    std::vector<Slot*> free_;
};

int traffic(Team& team, const Options& options) {
    Member member{team, options};
    team.barrier();
    const Stopwatch watch;
    member.run();
    const auto messages = team.sum(member.messages());
    const auto bytes = team.sum(member.bytes());
    const double seconds = watch.nanoseconds() / 1e9;
    if (team.rank() == 0)
        std::printf(
            "%d processes, %llu messages, %.1f MB in %.2f s: all came, intact and in order\n",
            team.size(), messages, static_cast<double>(bytes) / 1e6, seconds);
    return 0;
}

} // namespace
} // namespace fabtests_ext

int main(int argc, char** argv) {
    using namespace fabtests_ext;
    Options options;
    CommandLine command{
        "Random tagged traffic among processes, checked byte by byte and for order."};
    add_choice(command, options.choice);
    add_halves(command, options.halves);
    command.option("-n,--processes", options.processes);
    command.option("-m,--messages", options.messages, "in all");
    command.option("-s,--max-size", options.max_size, "of a message, in bytes");
    command.option("-w,--window", options.window, "operations of a kind under way at a time");
    command.option("--seed", options.seed);
    if (!command.read(argc, argv)) return command.status();
    return run_team(
        options.processes, [&](Team& team) { return traffic(team, options); }, options.halves);
}
