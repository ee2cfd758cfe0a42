// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Items for other ranks, many to a message, which nobody waits for; and how all notice that there
// is nothing left to do (Mattern's four counters, 1987).

#include "bench/apps/app.hpp"

#include <list>
#include <vector>

namespace bench {

template <class Item>
class OneWay {
public:
    OneWay(const Ranks& ranks, size_t items_in_message)
        : ranks_{ranks}
        , most_{items_in_message}
        , outgoing_(size_t(ranks.size)) {}

    void put(int to, const Item& item) {
        outgoing_[size_t(to)].push_back(item);
        if (outgoing_[size_t(to)].size() == most_) flush(to);
    }
    void flush_all() {
        for (int to = 0; to < ranks_.size; ++to) flush(to);
    }

    // Calls take(ITEM) for all that has come.
    template <class Take>
    void poll(Take&& take) {
        int there = 0;
        MPI_Status status;
        while (MPI_Iprobe(MPI_ANY_SOURCE, kItems, ranks_.comm, &there, &status), there) {
            int bytes = 0;
            MPI_Get_count(&status, MPI_BYTE, &bytes);
            incoming_.resize(size_t(bytes) / sizeof(Item));
            MPI_Recv(incoming_.data(), bytes, MPI_BYTE, status.MPI_SOURCE, kItems, ranks_.comm,
                     MPI_STATUS_IGNORE);
            ++counts_.received;
            for (const Item& item : incoming_) take(item);
        }
        under_way_.remove_if([](Message& message) {
            int over = 0;
            MPI_Test(&message.request, &over, MPI_STATUS_IGNORE);
            return over != 0;
        });
    }

    // Asked by each while it has nothing to do and nothing to flush, until all of them have heard
    // that it is so everywhere. Afterwards they agree on something before they go on.
    //
    // A token goes round and adds up what was sent and received. When as much was sent until it is
    // back as had been received until the round before was over, nothing was under way between.
    bool ended() {
        if (ranks_.size == 1) return true;
        if (ranks_.rank == 0 && !token_is_out_) {
            token_is_out_ = true;
            pass_on({counts_.sent, counts_.received, 0});
        }
        int there = 0;
        MPI_Iprobe(left(), kToken, ranks_.comm, &there, MPI_STATUS_IGNORE);
        if (!there) return false;
        Counts token;
        MPI_Recv(&token, sizeof token, MPI_BYTE, left(), kToken, ranks_.comm, MPI_STATUS_IGNORE);
        return ranks_.rank == 0 ? came_round(token) : went_by(token);
    }

private:
    static constexpr int kItems = 1, kToken = 2;

    struct Counts {
        int64_t sent{0}, received{0}; // messages
        int64_t end{0};
    };
    struct Message {
        std::vector<Item> items;
        MPI_Request request;
    };

    int left() const noexcept { return (ranks_.rank + ranks_.size - 1) % ranks_.size; }

    void flush(int to) {
        if (outgoing_[size_t(to)].empty()) return;
        Message& message = under_way_.emplace_back();
        message.items.swap(outgoing_[size_t(to)]);
        MPI_Isend(message.items.data(), int(message.items.size() * sizeof(Item)), MPI_BYTE, to,
                  kItems, ranks_.comm, &message.request);
        ++counts_.sent;
    }

    void pass_on(const Counts& token) const {
        MPI_Send(&token, sizeof token, MPI_BYTE, (ranks_.rank + 1) % ranks_.size, kToken,
                 ranks_.comm);
    }
    bool came_round(const Counts& token) {
        token_is_out_ = false;
        const bool end = token.sent == received_before_;
        received_before_ = end ? -1 : token.received;
        if (end) pass_on({0, 0, 1});
        return end;
    }
    bool went_by(Counts token) const {
        token.sent += counts_.sent;
        token.received += counts_.received;
        if (!token.end || ranks_.rank + 1 < ranks_.size) pass_on(token);
        return token.end != 0;
    }

    const Ranks& ranks_;
    const size_t most_;
    std::vector<std::vector<Item>> outgoing_; // by rank
    std::vector<Item> incoming_;
    std::list<Message> under_way_;
    Counts counts_;
    bool token_is_out_{false};    // the first rank's
    int64_t received_before_{-1}; // likewise: in the round before
};

} // namespace bench
