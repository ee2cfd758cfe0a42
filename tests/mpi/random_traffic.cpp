// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Random messages between random ranks, for any MPI: in all modes, of types that differ on the two
// sides, received by name, from anybody or after they were probed, in communicators with hints that
// ours heeds. All ranks make the same plan.

#include "fabtests_ext/support/command_line.hpp"
#include "random_types.hpp"

#include <array>
#include <cstdio>
#include <memory>

namespace {

using namespace traffic;

struct Options {
    int rounds{20};
    int messages{40}; // in a round, for each rank
    int longest{20'000};
    unsigned seed{1};
    bool without_probes{false};
};

enum class Mode { standard, synchronous, buffered };

// Communicators of all, half of them with hints how data in pieces goes.
class Communicators {
public:
    Communicators() {
        comms_.fill(MPI_COMM_WORLD);
        for (size_t i = 0; i < kHints.size(); ++i) {
            MPI_Info info;
            MPI_Info_create(&info);
            MPI_Info_set(info, "odrc_datatype", kHints[i]);
            MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comms_[i]);
            MPI_Info_free(&info);
        }
    }
    ~Communicators() {
        for (size_t i = 0; i < kHints.size(); ++i) MPI_Comm_free(&comms_[i]);
    }
    Communicators(const Communicators&) = delete;
    Communicators& operator=(const Communicators&) = delete;

    static constexpr int kCount = 12;
    MPI_Comm operator[](int i) const noexcept { return comms_[size_t(i)]; }

private:
    static constexpr std::array kHints{"auto",   "generic", "bc-spup:5000",
                                       "rwg-up", "p-rrs",   "multi-w"};
    std::array<MPI_Comm, kCount> comms_;
};

struct Message {
    int from, to, tag, count, communicator;
    Mode mode;
    bool anybody; // it is received from MPI_ANY_SOURCE
    bool probed;  // first
};

std::vector<Message> make_plan(const Options& options, int ranks, Random& random) {
    std::vector<Message> plan;
    for (int i = 0; i < options.messages * ranks; ++i)
        plan.push_back({.from = between(random, 0, ranks - 1),
                        .to = between(random, 0, ranks - 1),
                        .tag = i,
                        .count = between(random, 0, 7) ? between(random, 0, 200)
                                                       : between(random, 0, options.longest),
                        .communicator = between(random, 0, Communicators::kCount - 1),
                        .mode = Mode(between(random, 0, 2)),
                        .anybody = between(random, 0, 2) == 0,
                        .probed = between(random, 0, 3) == 0 && !options.without_probes});
    return plan;
}

class Rank {
public:
    Rank(const Options& options, int rank)
        : rank_{rank}
        , random_{options.seed * 1000 + unsigned(rank)} {}

    // Gives the number of messages that came wrong.
    int run(const std::vector<Message>& plan) {
        std::vector<Arrival> arrivals;
        for (const Message& message : plan)
            if (message.to == rank_ && !message.probed) arrivals.push_back(expect(message));
        for (const Message& message : plan)
            if (message.from == rank_) send(message);
        for (const Message& message : plan)
            if (message.to == rank_ && message.probed) arrivals.push_back(find(message));
        int wrong = 0;
        for (Arrival& arrival : arrivals) wrong += !came(arrival);
        MPI_Waitall(int(sending_.size()), sending_.data(), MPI_STATUSES_IGNORE);
        sending_.clear();
        out_.clear();
        return wrong;
    }

private:
    struct Arrival {
        const Message* message;
        std::unique_ptr<Place> place;
        MPI_Request request;
        bool probed_right;
    };

    // What the first int of a message is; the others follow.
    static int first_of(const Message& message) { return message.tag * 37 + message.from; }
    static int source_of(const Message& message) {
        return message.anybody ? MPI_ANY_SOURCE : message.from;
    }

    Arrival expect(const Message& message) {
        Arrival arrival{&message, std::make_unique<Place>(message.count, random_), {}, true};
        MPI_Irecv(arrival.place->address(), 1, arrival.place->type(), source_of(message),
                  message.tag, communicators_[message.communicator], &arrival.request);
        return arrival;
    }
    Arrival find(const Message& message) {
        MPI_Status status;
        MPI_Message found;
        MPI_Mprobe(source_of(message), message.tag, communicators_[message.communicator], &found,
                   &status);
        int count = -1;
        MPI_Get_count(&status, MPI_INT, &count);
        Arrival arrival{&message,
                        std::make_unique<Place>(message.count, random_),
                        {},
                        count == message.count && status.MPI_SOURCE == message.from};
        MPI_Imrecv(arrival.place->address(), 1, arrival.place->type(), &found, &arrival.request);
        return arrival;
    }
    bool came(Arrival& arrival) {
        MPI_Status status;
        MPI_Wait(&arrival.request, &status);
        int count = -1;
        MPI_Get_elements(&status, arrival.place->type(), &count);
        const Message& message = *arrival.message;
        const bool right = arrival.probed_right && count == message.count &&
                           status.MPI_SOURCE == message.from && status.MPI_TAG == message.tag &&
                           arrival.place->holds(first_of(message));
        if (!right)
            std::fprintf(stderr, "rank %d: of %d ints from rank %d by tag %d came %d\n", rank_,
                         message.count, message.from, message.tag, count);
        return right;
    }

    void send(const Message& message) {
        Place& place = *out_.emplace_back(std::make_unique<Place>(message.count, random_));
        place.fill(first_of(message));
        MPI_Request& request = sending_.emplace_back();
        const auto call = [&](auto* function) {
            function(place.address(), 1, place.type(), message.to, message.tag,
                     communicators_[message.communicator], &request);
        };
        switch (message.mode) {
        case Mode::standard:
            return call(MPI_Isend);
        case Mode::synchronous:
            return call(MPI_Issend);
        case Mode::buffered:
            return call(MPI_Ibsend);
        }
    }

    const int rank_;
    const Communicators communicators_;
    Random random_;
    std::vector<MPI_Request> sending_;
    std::vector<std::unique_ptr<Place>> out_;
};

// Gives the number of messages that came wrong to this rank.
int run(const Options& options, int rank, int ranks) {
    Random random{options.seed}; // of the plan
    Rank self{options, rank};
    int wrong = 0;
    for (int round = 0; round < options.rounds; ++round) {
        wrong += self.run(make_plan(options, ranks, random));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return wrong;
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    Options options;
    fabtests_ext::CommandLine command{"Random messages between random ranks."};
    command.option("-r,--rounds", options.rounds);
    command.option("-m,--messages", options.messages, "in a round, for each rank");
    command.option("-l,--longest", options.longest, "ints");
    command.option("-s,--seed", options.seed);
    command.flag("--without-probes", options.without_probes,
                 "for the OFI MTL of Open MPI 4.1, which does not unpack what was");
    if (!command.read(argc, argv)) return command.status();
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    // For the case that one rank sends all of a round's messages.
    std::vector<char> buffer(size_t(options.messages) * size_t(ranks) *
                             (size_t(options.longest) * sizeof(int) + MPI_BSEND_OVERHEAD));
    MPI_Buffer_attach(buffer.data(), int(buffer.size()));
    const int wrong = run(options, rank, ranks);
    int all = 0;
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("%d messages between %d ranks, %d wrong\n",
                    options.rounds * options.messages * ranks, ranks, all);
    void* detached = nullptr;
    int size = 0;
    MPI_Buffer_detach(&detached, &size);
    MPI_Finalize();
    return all != 0;
}
