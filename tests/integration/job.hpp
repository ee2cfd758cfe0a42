// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Endpoints that are those of one job, and connect by their addresses alone.

#include "statistics.hpp"

namespace duo {

// Whether an endpoint may have queue pairs for so many processes, and may choose to.
inline bool room_for(uint32_t size) {
    const char* most = std::getenv("FI_ODRC_MAX_QP");
    const char* connect = std::getenv("FI_ODRC_CONNECT");
    return (!most || std::strtoul(most, nullptr, 10) >= size) &&
           (!connect || std::string_view{connect} != "ondemand");
}

inline Wishes place(uint32_t rank, uint32_t size, Wishes wishes, uint64_t job = 1,
                    uint32_t endpoint = 0) {
    wishes.address_format = FI_ODRC_ADDRESS;
    wishes.prepare = [=](fid_ep* ep) {
        const fi_odrc_place place{.rank = rank, .size = size, .job = job, .endpoint = endpoint};
        check(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_ODRC_OPT_PLACE, &place, sizeof place),
              "fi_setopt of the place in the job");
    };
    return wishes;
}
inline Wishes place(uint32_t rank, uint32_t size, uint64_t job = 1, uint32_t endpoint = 0) {
    return place(rank, size, kRmaWishes, job, endpoint);
}

// The endpoints of a job, in one process.
class Company {
public:
    explicit Company(uint32_t size) {
        for (uint32_t rank = 0; rank < size; ++rank) add(place(rank, size));
    }
    void add(const Wishes& wishes) {
        members.push_back(std::make_unique<Watched>(wishes));
        numbers.resize(members.size());
        for (auto& row : numbers) row.resize(members.size(), FI_ADDR_NOTAVAIL);
    }
    Watched& operator[](size_t i) { return *members[i]; }
    void introduce(size_t to, size_t who) {
        numbers[to][who] = members[to]->endpoint.insert(members[who]->endpoint.name());
    }
    void introduce_all() {
        for (size_t to = 0; to < members.size(); ++to)
            for (size_t who = 0; who < members.size(); ++who) introduce(to, who);
    }
    void poll() {
        for (auto& member : members) member->poll();
    }

    // Sends from one to another, and has it arrive.
    void talk(size_t from, size_t to) {
        const auto out = pattern(100, static_cast<char>(from * 16 + to));
        std::vector<char> in(100);
        int sending = 0, receiving = 0;
        const uint64_t tag = from * 1000 + to;
        REQUIRE(fi_trecv(members[to]->ep(), in.data(), in.size(), nullptr, FI_ADDR_UNSPEC, tag, 0,
                         &receiving) == 0);
        poll_until(*this, [&] {
            return fi_tsend(members[from]->ep(), out.data(), out.size(), nullptr, numbers[from][to],
                            tag, &sending) == 0;
        });
        std::optional<Outcome> sent, received;
        poll_until(*this, [&] {
            if (!sent) sent = members[from]->take(&sending);
            if (!received) received = members[to]->take(&receiving);
            return sent && received;
        });
        CHECK_FALSE(sent->error);
        CHECK_FALSE(received->error);
        CHECK(in == out);
    }
    void all_talk() {
        for (size_t from = 0; from < members.size(); ++from)
            for (size_t to = 0; to < members.size(); ++to) talk(from, to);
    }
    uint64_t datagrams() {
        uint64_t sum = 0;
        for (auto& member : members) sum += statistics_of(*member).wireup_datagrams;
        return sum;
    }

    std::vector<std::unique_ptr<Watched>> members;
    std::vector<std::vector<fi_addr_t>> numbers; // by who names, and who is named
};

} // namespace duo
