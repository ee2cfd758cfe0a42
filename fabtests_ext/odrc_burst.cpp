// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Many senders, and one receiver that is busy elsewhere when they begin: whether all arrives, each
// sender's messages in their order, and what it costs the receiver in memory.

#include "support/content.hpp"
#include "support/options.hpp"
#include "support/samples.hpp"

#include <bit>
#include <cstring>
#include <fstream>
#include <unistd.h>

namespace fabtests_ext {
namespace {

struct Options {
    Choice choice;
    int processes{8}; // that send
    int endpoints{1}; // of each of them
    int messages{1000};
    size_t size{1024};
    double sleep{1}; // seconds in which the receiver looks at nothing
    double poll{0};  // and then looks for completions, and has no receives
    int window{64};  // sends or receives at a time

    int senders() const { return processes * endpoints; }
};

// In kB, with its part of what it shares with others: a device may have the peers' memory mapped.
long memory_in_use() {
    std::ifstream rollup{"/proc/self/smaps_rollup"};
    std::string name;
    while (rollup >> name && name != "Pss:") {
    }
    long kilobytes = 0;
    rollup >> kilobytes;
    return kilobytes;
}

// What a message begins with; the rest follows from it.
struct Head {
    uint32_t sender;
    uint32_t number;
};

void write_message(std::vector<std::byte>& bytes, const Head& head) {
    std::memcpy(bytes.data(), &head, sizeof head);
    fill(bytes.data() + sizeof head, bytes.size() - sizeof head,
         scramble(std::bit_cast<uint64_t>(head)));
}
Head read_message(const std::vector<std::byte>& bytes) {
    Head head;
    std::memcpy(&head, bytes.data(), sizeof head);
    const bool good = intact(bytes.data() + sizeof head, bytes.size() - sizeof head,
                             scramble(std::bit_cast<uint64_t>(head)));
    return good ? head : Head{UINT32_MAX, 0};
}

// One process's endpoints that send: all over one domain and one completion queue.
class Senders {
public:
    Senders(const Options& options, int first)
        : options_{options}
        , first_{first}
        , base_{options.choice, {}} {
        for (int i = 0; i < options.endpoints; ++i) {
            slots_.emplace_back(static_cast<size_t>(options.window));
            for (Slot& slot : slots_.back()) slot = {i, std::vector<std::byte>(options.size)};
            if (i > 0) more_.push_back(base_.open_another());
        }
    }

    std::string name() const { return base_.name(); }

    void run(const std::string& receiver) {
        to_ = base_.insert(receiver);
        sent_.resize(slots_.size());
        size_t left = slots_.size() * static_cast<size_t>(options_.messages);
        for (auto& slots : slots_)
            for (Slot& slot : slots) send_next(slot);
        fi_cq_tagged_entry entry;
        while (left > 0) {
            if (!base_.poll(entry)) {
                sched_yield();
                continue;
            }
            --left;
            send_next(*static_cast<Slot*>(entry.op_context));
        }
    }

private:
    struct Slot {
        int sender{0};
        std::vector<std::byte> bytes;
    };

    void send_next(Slot& slot) {
        int& sent = sent_[static_cast<size_t>(slot.sender)];
        if (sent == options_.messages) return;
        write_message(slot.bytes, {.sender = static_cast<uint32_t>(first_ + slot.sender),
                                   .number = static_cast<uint32_t>(sent++)});
        fid_ep* ep =
            slot.sender == 0 ? base_.ep() : more_[static_cast<size_t>(slot.sender) - 1].get();
        insist(base_, "fi_tsend", [&] {
            return fi_tsend(ep, slot.bytes.data(), slot.bytes.size(), nullptr, to_, 0, &slot);
        });
    }

    const Options& options_;
    const int first_; // of the senders' numbers
    Endpoint base_;
    std::vector<Owned<fid_ep>> more_;
    std::vector<std::vector<Slot>> slots_; // by sender
    std::vector<int> sent_;
    fi_addr_t to_{FI_ADDR_NOTAVAIL};
};

// Which receive took a message tells the order in which they came, and not that in which they are
// complete: some may have had to be fetched.
class Receiver {
public:
    explicit Receiver(const Options& options)
        : options_{options}
        , endpoint_{options.choice, {}}
        , taken_by_(static_cast<size_t>(options.senders()),
                    std::vector<uint32_t>(static_cast<size_t>(options.messages)))
        , taken_(taken_by_.size())
        , receives_(static_cast<size_t>(options.window)) {
        for (Receive& receive : receives_) receive.bytes.resize(options.size);
    }

    std::string name() const { return endpoint_.name(); }

    // True if all has come as it was sent.
    bool run() {
        const long before = memory_in_use();
        usleep(static_cast<useconds_t>(options_.sleep * 1e6));
        const Stopwatch idle;
        while (idle.nanoseconds() < options_.poll * 1e9) {
            fi_cq_read(endpoint_.cq(), nullptr, 0);
            sched_yield();
        }
        const Stopwatch watch;
        const uint64_t all = taken_by_.size() * static_cast<uint64_t>(options_.messages);
        take_in(all);
        const double seconds = watch.nanoseconds() / 1e9;
        const long after = memory_in_use();
        for (const auto& order : taken_by_)
            if (!std::ranges::is_sorted(order, std::less_equal{}))
                ++wrong_; // or something is missing
        std::printf("%d senders, %d messages of %zu bytes each: %llu in %.2f s, %llu wrong; "
                    "memory grew by %ld kB\n",
                    options_.senders(), options_.messages, options_.size,
                    static_cast<unsigned long long>(all), seconds,
                    static_cast<unsigned long long>(wrong_), after - before);
        std::printf("%.2f MB/s; when the first sender was through, %d messages had come of the "
                    "slowest\n",
                    static_cast<double>(all * options_.size) / seconds / 1e6, slowest_);
        return wrong_ == 0;
    }

private:
    struct Receive {
        uint32_t number{0};
        std::vector<std::byte> bytes;
    };

    void take_in(uint64_t messages) {
        for (Receive& receive : receives_) post(receive);
        fi_cq_tagged_entry entry;
        while (messages > 0) {
            if (!endpoint_.poll(entry)) {
                sched_yield();
                continue;
            }
            --messages;
            auto& receive = *static_cast<Receive*>(entry.op_context);
            take(receive, entry.len);
            post(receive);
        }
    }

    void post(Receive& receive) {
        receive.number = ++posted_;
        insist(endpoint_, "fi_trecv", [&] {
            return fi_trecv(endpoint_.ep(), receive.bytes.data(), receive.bytes.size(), nullptr,
                            FI_ADDR_UNSPEC, 0, 0, &receive);
        });
    }

    void take(const Receive& receive, size_t length) {
        const Head head = read_message(receive.bytes);
        if (length != receive.bytes.size() || head.sender >= taken_by_.size() ||
            head.number >= taken_by_[head.sender].size()) {
            ++wrong_;
            return;
        }
        taken_by_[head.sender][head.number] = receive.number;
        if (++taken_[head.sender] == options_.messages && slowest_ < 0)
            slowest_ = *std::ranges::min_element(taken_);
    }

    const Options& options_;
    Endpoint endpoint_;
    std::vector<std::vector<uint32_t>> taken_by_; // by sender and number: the receive's
    std::vector<int> taken_;                      // by sender: how many
    int slowest_{-1}; // that of the slowest when the first one was through
    std::vector<Receive> receives_;
    uint32_t posted_{0};
    uint64_t wrong_{0};
};

int run(Team& team, const Options& options) {
    if (team.rank() == 0) {
        Receiver receiver{options};
        team.exchange(receiver.name());
        const bool good = receiver.run();
        team.barrier();
        return good ? 0 : 1;
    }
    Senders senders{options, (team.rank() - 1) * options.endpoints};
    senders.run(team.exchange(senders.name())[0]);
    team.barrier();
    return 0;
}

} // namespace
} // namespace fabtests_ext

int main(int argc, char** argv) {
    using namespace fabtests_ext;
    Options options;
    CommandLine command{"Many senders to one receiver that is busy elsewhere."};
    add_choice(command, options.choice);
    command.option("-n,--processes", options.processes, "that send");
    command.option("-e,--endpoints", options.endpoints, "of each");
    command.option("-m,--messages", options.messages, "of each endpoint");
    command.option("-s,--size", options.size, "of a message, in bytes")
        .within(size_t{8}, size_t{1} << 30);
    command.option("--sleep", options.sleep, "seconds in which the receiver looks at nothing");
    command.option("--poll", options.poll,
                   "seconds after that in which it looks for completions, without receives");
    command.option("-w,--window", options.window, "sends, and receives, at a time");
    if (!command.read(argc, argv)) return command.status();
    return run_team(options.processes + 1, [&](Team& team) { return run(team, options); });
}
