// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What a job takes, by the provider's own rules and sizes where it has some.

#include "tools/odrc_plan_model.hpp"

#include "ondemand/address_table.hpp"
#include "ondemand/connect_rule.hpp"
#include "ondemand/range_list.hpp"
#include "ondemand/spare_queues.hpp"
#include "ondemand/wireup.hpp"
#include "srq/memory_budget.hpp"
#include "transfer/wire.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace odrc::plan {
namespace {

using namespace ondemand;

// What a connection takes of datagrams: a request, an acceptance, a confirmation; and in the end a
// goodbye, of whoever closes first, or, where a queue pair is wanted for another, the wish that the
// peer leave, and its answer (wireup_message.hpp).
constexpr double kToConnect = 3;
constexpr double kToEnd = 1;
constexpr double kToLeave = 2;

// What each process of a job knows of each other one before it has to do with it: its number in the
// address vector and its rank in MPI_COMM_WORLD (mpi_bind/process.hpp, group.hpp).
constexpr size_t kBytesOfRank = sizeof(fi_addr_t) + sizeof(int);
// A peer in the table of peers: an entry of the map by address with its links and bucket, and its
// place among the numbers.
constexpr size_t kBytesOfPeer =
    sizeof(Peer) + sizeof(std::pair<const Address, std::unique_ptr<Peer>>) + 4 * sizeof(void*);
// A lane, with its places in a table that is at most half full.
constexpr size_t kBytesOfLane = sizeof(Lane) + 4 * sizeof(void*);

constexpr size_t kBytesOfNumber = sizeof(uint32_t);

class Model {
public:
    Model(const Costs& costs, const Parameters& parameters, const Job& job, Way way)
        : c_{costs}
        , parameters_{parameters}
        , way_{way}
        , size_{static_cast<double>(job.processes)}
        , here_{static_cast<double>(std::min(job.per_host, job.processes))}
        , workers_{std::min(here_, c_.processors)}
        , at_once_{static_cast<double>(connected_at_once(parameters.reliability))}
        , most_{most_queue_pairs(static_cast<int>(c_.max_qp), parameters.max_qp,
                                 static_cast<size_t>(here_))}
        , peers_{std::clamp(job.peers, 0.0, size_ - 1)}
        , beside_{!c_.this_host_only && parameters.intranode != Intranode::device &&
                          parameters.reliability != Reliability::host && size_ > 1
                      ? peers_ * (here_ - 1) / (size_ - 1)
                      : 0} {}

    Needs needs() const {
        Needs n{};
        n.processes = static_cast<uint64_t>(size_);
        n.way = way_;
        choose_way(n);
        const size_t published = bytes_published();
        n.published = published;
        n.held = whole((beforehand() ? size_ : peers_) * static_cast<double>(published));
        n.connections = whole(connected() + beside_);
        n.queue_pairs = whole(queue_pairs());
        n.queue_pairs_of_host = whole(queue_pairs() * here_);
        n.buffers = bytes_of_buffers();
        n.memory = n.buffers + bytes_of_peers() + whole(queue_pairs() * c_.qp_bytes);
        n.datagrams = datagrams();
        n.launch = c_.process * here_ / workers_;
        n.creation = beforehand() ? creation() : 0;
        n.exchange = exchange(published);
        n.connection =
            beforehand() ? size_ * here_ * c_.qp_connect / at_a_time(workers_) + meetings(here_ - 1)
                         : 0;
        n.first = first_words();
        return n;
    }

private:
    static uint64_t whole(double number) noexcept {
        return static_cast<uint64_t>(std::ceil(number - 1e-9));
    }
    bool beforehand() const noexcept { return way_ != Way::ondemand; }
    double others_hosts_peers() const noexcept { return peers_ - beside_; }
    double at_a_time(double workers) const noexcept { return std::min(workers, c_.qp_parallel); }

    void choose_way(Needs& n) const {
        const bool tells_size = size_ <= kMostInJob; // else launchers' words are no place in a job
        Circumstances circumstances{Connect::all,
                                    {.rank = 0,
                                     .size = tells_size ? static_cast<uint32_t>(size_) : 0,
                                     .job = 0,
                                     .endpoint = 0},
                                    most_,
                                    static_cast<size_t>(here_),
                                    parameters_.reliability == Reliability::host};
        if (const Choice all = choose(circumstances); !all.all) n.why_not = all.why;
        circumstances.wish = Connect::automatic;
        n.by_itself = choose(circumstances).all &&
                      choose(circumstances, seconds(c_.qp_create + c_.qp_connect)).all;
    }
    static std::chrono::nanoseconds seconds(double s) noexcept {
        return std::chrono::nanoseconds{static_cast<int64_t>(s * 1e9)};
    }

    // ---- what is published ----

    // The numbers that a device gives to a process whose turn it is.
    std::vector<uint32_t> numbers() const {
        const auto run = static_cast<uint32_t>(c_.qp_run);
        std::vector<uint32_t> numbers(static_cast<size_t>(size_));
        for (uint32_t i = 0; i < numbers.size(); ++i) numbers[i] = i + (run ? i / run : 0);
        return numbers;
    }
    size_t bytes_published() const {
        switch (way_) {
        case Way::ondemand:
            return sizeof(sockaddr_in);
        case Way::all:
            return NativeAddress::kBytes +
                   RangeList{.ranges = to_ranges(numbers())}.encode().size();
        default:
            return NativeAddress::kBytes + kBytesOfNumber * static_cast<size_t>(size_);
        }
    }

    // ---- queue pairs ----

    // Peers of other hosts with a connection; the others do with datagrams.
    double connected() const noexcept {
        const double peers = others_hosts_peers();
        return beforehand() ? peers : std::min({peers, at_once_, static_cast<double>(most_)});
    }
    // Made on demand, and of these, given up for others.
    double made() const noexcept {
        return beforehand() ? 0 : std::min(others_hosts_peers(), at_once_);
    }
    double left() const noexcept { return beforehand() ? 0 : made() - connected(); }
    bool takes_datagrams() const noexcept {
        // Who says in its address where it takes them opens them beforehand.
        return (beforehand() ? size_ : others_hosts_peers()) > at_once_;
    }
    double queue_pairs() const noexcept {
        const double more = beside_ + takes_datagrams();
        if (beforehand()) return size_ + more;
        const double room = static_cast<double>(most_) - connected();
        return connected() + std::min({double{SpareQueues::kMost}, connected(), room}) + more;
    }

    // ---- memory ----

    size_t bytes_of_buffers() const noexcept {
        using transfer::wire::kFrameBytes;
        const bool soft = !c_.this_host_only && parameters_.intranode != Intranode::device;
        const srq::MemoryBudget budget{parameters_.memory};
        const size_t receives = budget.receives(kFrameBytes, soft ? 2 : 1).least * kFrameBytes;
        // And, of datagrams, what ofi/devices.cpp gives them.
        const size_t datagrams =
            budget.receives_by_datagrams(kFrameBytes).least * kFrameBytes + budget.bytes / 8;
        return receives + (beside_ > 0 ? receives : 0) + (takes_datagrams() ? datagrams : 0);
    }
    size_t bytes_of_peers() const noexcept {
        const double known = beforehand() ? size_ : peers_;
        return static_cast<size_t>(size_) * kBytesOfRank +
               AddressTable::bytes_for(whole(known), beforehand()) +
               whole(known * kBytesOfPeer + (known - left()) * kBytesOfLane);
    }

    // ---- the wireup ----

    // Connections that addresses make take none; those of a host are met on soft0 by it.
    double datagrams() const noexcept {
        const double by_addresses = beforehand() ? others_hosts_peers() : 0;
        return ((peers_ - by_addresses) * kToConnect + (peers_ - left()) * kToEnd +
                left() * kToLeave) /
               2;
    }

    // ---- times ----

    // One process of a host after the other makes its own, in threads; or all at once.
    double creation() const noexcept {
        const auto threads = static_cast<double>(verbs::threads_for(
            static_cast<size_t>(size_), seconds(c_.qp_create), static_cast<size_t>(c_.processors)));
        return size_ * here_ * c_.qp_create / at_a_time(way_ == Way::all ? threads : workers_);
    }
    // On demand, processes of a host alone wait for each other (mpi_bind/launch.cpp).
    double exchange(size_t published) const noexcept {
        const double hosts = std::ceil(size_ / here_);
        const double steps = 1 + (beforehand() ? std::ceil(std::log2(hosts)) : 0);
        const double bytes = (beforehand() ? size_ : here_) * static_cast<double>(published);
        const double lookups = beforehand() ? size_ * here_ / workers_ : 0;
        return steps * c_.exchange_step + bytes * c_.exchange_byte + lookups * c_.lookup;
    }
    // Of each process of a host with so many others.
    double meetings(double others) const noexcept {
        return c_.this_host_only ? here_ * others * c_.meet / workers_ : 0;
    }
    double first_words() const noexcept {
        const double turns = here_ / workers_; // of the processors
        // Programs exchange in steps, and who waits for the other side gives way to it.
        const double word = c_.word + (turns > 1 ? c_.turn : 0);
        const double words = peers_ * turns * word + c_.round_trip / 2;
        const double wired = beforehand() ? beside_ : peers_; // by datagrams
        const double asked = beforehand() ? 0 : peers_;       // of the launcher
        return words + (wired > 0 ? c_.round_trip : 0) +
               wired * turns * (kToConnect / 2 * c_.datagram) + asked * turns * c_.lookup +
               meetings(std::min(asked, here_ - 1)) +
               made() * here_ * (c_.qp_create + c_.qp_connect) / at_a_time(workers_);
    }

    const Costs& c_;
    const Parameters& parameters_;
    const Way way_;
    const double size_;
    const double here_;    // processes of a host
    const double workers_; // of these, that work at a time
    const double at_once_;
    const uint32_t most_; // queue pairs of a process
    const double peers_;
    const double beside_; // of these, that are met on soft0 beside the device
};

} // namespace

const char* name_of(Way way) noexcept {
    switch (way) {
    case Way::ondemand:
        return "ondemand";
    case Way::all:
        return "all";
    default:
        return "numbers";
    }
}

Needs needs(const Costs& costs, const Parameters& parameters, const Job& job, Way way) {
    return Model{costs, parameters, job, way}.needs();
}

} // namespace odrc::plan
