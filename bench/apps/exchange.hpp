// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Noncontiguous messages between two ranks, in each way that a program may send them.

#include "bench/apps/noncontiguous.hpp"

#include <map>
#include <span>

namespace bench {

enum class Way {
    kDatatype,   // described to MPI
    kManual,     // packed and unpacked by the program, in memory that it keeps
    kContiguous, // as many bytes that are neither: the least that could be
    kMultiple,   // a message for each block
};

inline const std::map<std::string, Way> kWays{{"datatype", Way::kDatatype},
                                              {"manual", Way::kManual},
                                              {"contiguous", Way::kContiguous},
                                              {"multiple", Way::kMultiple}};

// The same elements may lie otherwise where they are received than where they are sent from.
class Exchange {
public:
    // As many messages as may be under way at a time.
    Exchange(Way way, const Layout& sent, const Layout& received, int messages = 1)
        : way_{way}
        , sent_{sent}
        , received_{received}
        , packed_{sent.bytes * size_t(messages)} {
        if (ranks_.size != 2) give_up("these are messages between two ranks");
        if (way == Way::kMultiple && sent.blocks.size() != received.blocks.size())
            give_up("a message for each block takes as many of them on both sides");
    }

    // Fails the program unless both receive what they should, and nothing else is written to.
    void check() {
        checked([this] { there_and_back(); }, true);
    }
    void check_stream(int messages) {
        checked([&] { stream(messages); }, ranks_.rank == 1);
    }

    // From and to memory that no message has been in; returns to the first rank when the other has
    // it.
    void renew() {
        out_ = Pages{sent_.extent};
        in_ = Pages{received_.extent};
        packed_ = Pages{packed_.size()};
        if (ranks_.rank == 0)
            MPI_Recv(nullptr, 0, MPI_BYTE, 1, 0, ranks_.comm, MPI_STATUS_IGNORE);
        else
            MPI_Send(nullptr, 0, MPI_BYTE, 0, 0, ranks_.comm);
    }

    // Half of what a message there and one back take.
    double latency() {
        const double begin = now();
        there_and_back();
        return (now() - begin) / 2;
    }

    // Seconds for so many messages under way at the same time and an answer. All are the same one,
    // so that it does not matter which of them is the last to be written where they are received.
    double stream(int messages) {
        requests_.clear();
        const double begin = now();
        if (ranks_.rank == 0) {
            for (int i = 0; i < messages; ++i) start_send(i);
            wait();
            MPI_Recv(nullptr, 0, MPI_BYTE, 1, 0, ranks_.comm, MPI_STATUS_IGNORE);
        } else {
            for (int i = 0; i < messages; ++i) start_receive(i);
            if (way_ == Way::kManual)
                for (int i = 0; i < messages; ++i) {
                    MPI_Wait(&requests_[size_t(i)], MPI_STATUS_IGNORE);
                    received_.unpack(in_.data(), slot(i));
                }
            wait();
            MPI_Send(nullptr, 0, MPI_BYTE, 0, 0, ranks_.comm);
        }
        return now() - begin;
    }

private:
    int other() const noexcept { return 1 - ranks_.rank; }
    std::byte* slot(int message) const noexcept {
        return packed_.data() + sent_.bytes * size_t(message);
    }

    int bytes() const noexcept { return int(sent_.bytes); }

    template <class Body>
    void checked(Body&& body, bool receives) {
        constexpr std::byte kUntouched{0xee};
        std::vector<std::byte> content(sent_.bytes), expected(in_.size(), kUntouched);
        fabtests_ext::fill(content.data(), content.size(), uint64_t(ranks_.rank));
        place(sent_, out_.data(), content);
        std::memset(in_.data(), int(kUntouched), in_.size());
        body();
        fabtests_ext::fill(content.data(), content.size(), uint64_t(other()));
        if (receives) place(received_, expected.data(), content);
        if (!std::ranges::equal(expected, std::span{in_.data(), in_.size()}))
            give_up("another message than was sent");
    }
    void place(const Layout& layout, std::byte* memory, const std::vector<std::byte>& content) {
        if (way_ == Way::kContiguous)
            std::ranges::copy(content, memory);
        else
            layout.unpack(memory, content.data());
    }

    void there_and_back() {
        if (ranks_.rank == 0) send();
        receive();
        if (ranks_.rank != 0) send();
    }
    void send() {
        switch (way_) {
        case Way::kDatatype:
            MPI_Send(out_.data(), 1, sent_.type, other(), 0, ranks_.comm);
            return;
        case Way::kManual:
            sent_.pack(out_.data(), slot(0));
            MPI_Send(slot(0), bytes(), MPI_BYTE, other(), 0, ranks_.comm);
            return;
        case Way::kContiguous:
            MPI_Send(out_.data(), bytes(), MPI_BYTE, other(), 0, ranks_.comm);
            return;
        case Way::kMultiple:
            requests_.clear();
            start_send(0);
            wait();
        }
    }
    void receive() {
        const auto status = MPI_STATUS_IGNORE;
        switch (way_) {
        case Way::kDatatype:
            MPI_Recv(in_.data(), 1, received_.type, other(), 0, ranks_.comm, status);
            return;
        case Way::kManual:
            MPI_Recv(slot(0), bytes(), MPI_BYTE, other(), 0, ranks_.comm, status);
            received_.unpack(in_.data(), slot(0));
            return;
        case Way::kContiguous:
            MPI_Recv(in_.data(), bytes(), MPI_BYTE, other(), 0, ranks_.comm, status);
            return;
        case Way::kMultiple:
            requests_.clear();
            start_receive(0);
            wait();
        }
    }

    void start_send(int message) {
        const auto start = [this](const std::byte* from, int count, MPI_Datatype type) {
            MPI_Isend(from, count, type, other(), 0, ranks_.comm, &requests_.emplace_back());
        };
        switch (way_) {
        case Way::kDatatype:
            start(out_.data(), 1, sent_.type);
            return;
        case Way::kManual:
            sent_.pack(out_.data(), slot(message));
            start(slot(message), bytes(), MPI_BYTE);
            return;
        case Way::kContiguous:
            start(out_.data(), bytes(), MPI_BYTE);
            return;
        case Way::kMultiple:
            for (const auto [offset, size] : sent_.blocks)
                start(out_.data() + offset, int(size), MPI_BYTE);
        }
    }
    void start_receive(int message) {
        const auto start = [this](std::byte* to, int count, MPI_Datatype type) {
            MPI_Irecv(to, count, type, other(), 0, ranks_.comm, &requests_.emplace_back());
        };
        switch (way_) {
        case Way::kDatatype:
            start(in_.data(), 1, received_.type);
            return;
        case Way::kManual:
            start(slot(message), bytes(), MPI_BYTE);
            return;
        case Way::kContiguous:
            start(in_.data(), bytes(), MPI_BYTE);
            return;
        case Way::kMultiple:
            for (const auto [offset, size] : received_.blocks)
                start(in_.data() + offset, int(size), MPI_BYTE);
        }
    }
    void wait() { MPI_Waitall(int(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE); }

    const Ranks ranks_{MPI_COMM_WORLD};
    const Way way_;
    const Layout& sent_;
    const Layout& received_;
    Pages out_{sent_.extent}, in_{received_.extent}, packed_;
    std::vector<MPI_Request> requests_;
};

} // namespace bench
