// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "process.hpp"

#include "collectives.hpp"
#include "tag.hpp"

#include <cstdlib>
#include <numeric>
#include <sched.h>
#include <thread>

namespace odrc::mpi {
namespace {

constexpr uint32_t kWorldContext = 0;
constexpr uint32_t kSelfContext = 2;

std::string provider() {
    const char* name = std::getenv("ODRC_MPI_PROVIDER");
    return name && *name ? name : "odrc";
}

// Processes that have fewer processors than they are; 0: each has one of its own.
size_t sharing(size_t processes) {
    return processes <= std::thread::hardware_concurrency() ? 0 : processes;
}

// Who has a processor to itself looks a good deal before it gives way; who has not, hardly.
int patience_of(size_t neighbours) {
    constexpr int kAlone = 10'000, kShared = 4;
    return sharing(neighbours) == 0 ? kAlone : kShared;
}

Ref<Group> first_ranks(int count, int from) {
    std::vector<int> ranks(static_cast<size_t>(count));
    std::iota(ranks.begin(), ranks.end(), from);
    return Group::make(std::move(ranks));
}

} // namespace

Process* Process::instance_ = nullptr;
bool Process::is_over_ = false;

Process::Process()
    : fabric_{provider()}
    , transfers_{fabric_, sharing(launch_.neighbours().size())}
    , addresses_(static_cast<size_t>(launch_.size()), FI_ADDR_NOTAVAIL)
    , patience_{patience_of(launch_.neighbours().size())} {
    if (launch_.size() > kMostRanks) throw StartError{"a job of more than a million processes"};
    const bool all = fabric_.connects_all();
    launch_.publish(fabric_.contact(), all ? Launch::Exchange::all : Launch::Exchange::none);
    world_ = new Communicator{first_ranks(launch_.size(), 0), launch_.rank(), kWorldContext,
                              MPI_COMM_WORLD};
    self_ = new Communicator{first_ranks(1, launch_.rank()), 0, kSelfContext, MPI_COMM_SELF};
    world_->name = "MPI_COMM_WORLD";
    self_->name = "MPI_COMM_SELF";
    // The provider connects nobody who has not been told of the other.
    for (int rank = 0; all && rank < launch_.size(); ++rank) address_of(rank);
}

Process::~Process() {
    self_->release();
    world_->release();
}

void Process::begin() { instance_ = new Process; }

// Whatever was sent has to arrive: those to whom it goes are in here, too, until all are through.
void Process::end() noexcept {
    Process& process = *instance_;
    process.self().delete_attributes();
    process.advance_until([&] { return process.alone_ == 0 && process.owed_.empty(); });
    barrier(process.world());
    process.launch_.meet();
    process.transfers_.profile().report(process.launch_.rank());
    delete instance_;
    instance_ = nullptr;
    is_over_ = true;
}

fi_addr_t Process::ask_for_address(int rank) noexcept {
    fi_addr_t& address = addresses_[static_cast<size_t>(rank)];
    try {
        address = fabric_.introduce(launch_.contact_of(rank));
    } catch (const StartError& error) {
        fatal("{}", error.what());
    }
    return address;
}

void Process::advance() noexcept {
    const bool found = fabric_.progress();
    transfers_.go_on();
    if (!owed_.empty() && send_acknowledgements()) return;
    if (found)
        idle_ = 0;
    else
        give_way_after(idle_);
}

void Process::give_way_after(int& looks) noexcept {
    if (++looks < patience_) return;
    looks = 0;
    sched_yield();
}

void Process::acknowledge(fi_addr_t to, uint64_t number) noexcept {
    if (owed_.empty() && fabric_.inject(to, kAcknowledgements | number, nullptr, 0)) return;
    owed_.push_back({to, number});
}

bool Process::send_acknowledgements() noexcept {
    size_t sent = 0;
    while (sent < owed_.size() &&
           fabric_.inject(owed_[sent].to, kAcknowledgements | owed_[sent].number, nullptr, 0))
        ++sent;
    owed_.erase(owed_.begin(), owed_.begin() + static_cast<ptrdiff_t>(sent));
    return sent > 0;
}

} // namespace odrc::mpi
