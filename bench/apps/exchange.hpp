// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Noncontiguous messages between two ranks, in each way that a program may send them.

#include "bench/apps/contenders.hpp"

#include <span>

namespace bench {

// What contenders send from and receive into, one after the other.
struct ExchangedMemory {
    // As many messages as may be under way at a time, and one that comes in.
    ExchangedMemory(const Layout& sent, const Layout& received, int messages = 1)
        : out{sent.extent}
        , in{received.extent}
        , packed{sent.bytes * size_t(messages + 1)} {}

    // No message has been in it any more.
    void renew() {
        out = Pages{out.size()};
        in = Pages{in.size()};
        packed = Pages{packed.size()};
    }

    Pages out, in, packed;
};

// The same elements may lie otherwise where they are received than where they are sent from.
class Exchange {
public:
    Exchange(const Contender& contender, const Layout& sent, const Layout& received,
             ExchangedMemory& memory)
        : ranks_{contender.comm()}
        , way_{contender.way()}
        , sent_{sent}
        , received_{received}
        , memory_{memory} {
        if (ranks_.size != 2) give_up("these are messages between two ranks");
        if (way_ == Way::kMultiple && sent.blocks.size() != received.blocks.size())
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
    // it. Neither begins with that before all has come that was sent: the system maps no memory of
    // a process while it moves another message out of it, nor the other way round.
    void renew() {
        if (ranks_.rank == 0) {
            say();
            memory_.renew();
            hear();
        } else {
            hear();
            memory_.renew();
            say();
        }
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
            hear();
        } else {
            for (int i = 0; i < messages; ++i) start_receive(i);
            if (way_ == Way::kManual || way_ == Way::kApart)
                for (int i = 0; i < messages; ++i) {
                    MPI_Wait(&requests_[size_t(i)], MPI_STATUS_IGNORE);
                    unpack_by_hand(i);
                }
            wait();
            say();
        }
        return now() - begin;
    }

private:
    int other() const noexcept { return 1 - ranks_.rank; }
    void say() const { MPI_Send(nullptr, 0, MPI_BYTE, other(), 0, ranks_.comm); }
    void hear() const {
        MPI_Recv(nullptr, 0, MPI_BYTE, other(), 0, ranks_.comm, MPI_STATUS_IGNORE);
    }
    std::byte* slot(int message) const noexcept {
        return memory_.packed.data() + sent_.bytes * size_t(message);
    }

    // A program neither packs nor unpacks what it has in one piece.
    static bool is_in_one(const Layout& layout) noexcept { return layout.blocks.size() == 1; }
    const std::byte* packed_by_hand(int message) const {
        if (is_in_one(sent_)) return memory_.out.data() + sent_.blocks[0].offset;
        sent_.pack(memory_.out.data(), slot(message));
        return slot(message);
    }
    std::byte* received_by_hand(int message) const {
        return is_in_one(received_) ? memory_.in.data() + received_.blocks[0].offset
                                    : slot(message);
    }
    void unpack_by_hand(int message) const {
        if (!is_in_one(received_)) received_.unpack(memory_.in.data(), slot(message));
    }

    int bytes() const noexcept { return int(sent_.bytes); }

    template <class Body>
    void checked(Body&& body, bool receives) {
        constexpr std::byte kUntouched{0xee};
        std::vector<std::byte> content(sent_.bytes), expected(memory_.in.size(), kUntouched);
        fabtests_ext::fill(content.data(), content.size(), uint64_t(ranks_.rank));
        place(sent_, memory_.out.data(), content);
        std::memset(memory_.in.data(), int(kUntouched), memory_.in.size());
        body();
        fabtests_ext::fill(content.data(), content.size(), uint64_t(other()));
        if (receives) place(received_, expected.data(), content);
        if (!std::ranges::equal(expected, std::span{memory_.in.data(), memory_.in.size()}))
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
            MPI_Send(memory_.out.data(), 1, sent_.type, other(), 0, ranks_.comm);
            return;
        case Way::kManual:
        case Way::kApart:
            MPI_Send(packed_by_hand(0), bytes(), MPI_BYTE, other(), 0, ranks_.comm);
            return;
        case Way::kContiguous:
            MPI_Send(memory_.out.data(), bytes(), MPI_BYTE, other(), 0, ranks_.comm);
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
            MPI_Recv(memory_.in.data(), 1, received_.type, other(), 0, ranks_.comm, status);
            return;
        case Way::kManual:
        case Way::kApart: {
            const int message = way_ == Way::kApart ? 1 : 0;
            MPI_Recv(received_by_hand(message), bytes(), MPI_BYTE, other(), 0, ranks_.comm, status);
            unpack_by_hand(message);
            return;
        }
        case Way::kContiguous:
            MPI_Recv(memory_.in.data(), bytes(), MPI_BYTE, other(), 0, ranks_.comm, status);
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
            start(memory_.out.data(), 1, sent_.type);
            return;
        case Way::kManual:
        case Way::kApart:
            start(packed_by_hand(message), bytes(), MPI_BYTE);
            return;
        case Way::kContiguous:
            start(memory_.out.data(), bytes(), MPI_BYTE);
            return;
        case Way::kMultiple:
            for (const auto [offset, size] : sent_.blocks)
                start(memory_.out.data() + offset, int(size), MPI_BYTE);
        }
    }
    void start_receive(int message) {
        const auto start = [this](std::byte* to, int count, MPI_Datatype type) {
            MPI_Irecv(to, count, type, other(), 0, ranks_.comm, &requests_.emplace_back());
        };
        switch (way_) {
        case Way::kDatatype:
            start(memory_.in.data(), 1, received_.type);
            return;
        case Way::kManual:
        case Way::kApart:
            start(received_by_hand(message), bytes(), MPI_BYTE);
            return;
        case Way::kContiguous:
            start(memory_.in.data(), bytes(), MPI_BYTE);
            return;
        case Way::kMultiple:
            for (const auto [offset, size] : received_.blocks)
                start(memory_.in.data() + offset, int(size), MPI_BYTE);
        }
    }
    void wait() { MPI_Waitall(int(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE); }

    const Ranks ranks_;
    const Way way_;
    const Layout& sent_;
    const Layout& received_;
    ExchangedMemory& memory_;
    std::vector<MPI_Request> requests_;
};

// All contenders' messages of a layout, each of which has come as it should once.
inline std::vector<Exchange> make_exchanges(const Contenders& contenders, const Layout& sent,
                                            const Layout& received, ExchangedMemory& memory) {
    std::vector<Exchange> all;
    for (const Contender& contender : contenders)
        all.emplace_back(contender, sent, received, memory).check();
    return all;
}

} // namespace bench
