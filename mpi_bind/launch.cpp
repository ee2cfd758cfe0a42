// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "launch.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <pmix.h>
#include <string_view>
#include <unistd.h>

namespace odrc::mpi {
namespace {

constexpr const char* kContact = "odrc.mpi.contact";

[[noreturn]] void fail(const char* what, pmix_status_t status) {
    throw StartError{std::string{what} + ": " + PMIx_Error_string(status)};
}

struct FreeValue {
    void operator()(pmix_value_t* value) const noexcept { PMIX_VALUE_RELEASE(value); }
};
using Value = std::unique_ptr<pmix_value_t, FreeValue>;

// Ranks as the server lists them: "0,1,5".
std::vector<int> ranks_in(const char* text) {
    std::vector<int> ranks;
    const char* const end = text + std::strlen(text);
    for (int rank = 0; text < end; ++text) { // behind the comma
        const auto [next, error] = std::from_chars(text, end, rank);
        if (error != std::errc{}) break;
        ranks.push_back(rank);
        text = next;
    }
    return ranks;
}

// Called by a thread of PMIx's: the server is gone, and nobody would end us if we waited for a
// process that it took with it.
void on_server_lost(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t*, size_t, pmix_info_t*,
                    size_t, pmix_event_notification_cbfunc_fn_t, void*) {
    constexpr std::string_view kText = "odrc-mpi: the launcher is gone\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText.data(), kText.size());
    _exit(1);
}

void end_with_server() {
    pmix_status_t lost = PMIX_ERR_LOST_CONNECTION;
    const pmix_status_t status =
        PMIx_Register_event_handler(&lost, 1, nullptr, 0, on_server_lost, nullptr, nullptr);
    if (status < 0) fail("PMIx_Register_event_handler", status);
}

} // namespace

struct Launch::Server {
    pmix_proc_t self{};

    // Of a process of the job, or of the job. Null: the server does not know.
    Value get(pmix_rank_t rank, const char* key) const noexcept {
        pmix_proc_t whose = self;
        whose.rank = rank;
        pmix_value_t* value = nullptr;
        const pmix_status_t status = PMIx_Get(&whose, key, nullptr, 0, &value);
        return Value{status == PMIX_SUCCESS ? value : nullptr};
    }
    std::optional<int> number(pmix_rank_t rank, const char* key) const noexcept {
        const Value value = get(rank, key);
        if (!value || value->type != PMIX_UINT32) return std::nullopt;
        return static_cast<int>(value->data.uint32);
    }
};

Launch::Launch() {
    auto server = std::make_unique<Server>();
    const pmix_status_t status = PMIx_Init(&server->self, nullptr, 0);
    if (status == PMIX_ERR_UNREACH) { // the library stands alone, which we had better do ourselves
        PMIx_Finalize(nullptr, 0);
        return;
    }
    if (status != PMIX_SUCCESS) fail("PMIx_Init", status);
    server_ = std::move(server);
    end_with_server();
    const auto size = server_->number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
    if (!size) throw StartError{"the PMIx server does not tell the size of the job"};
    rank_ = static_cast<int>(server_->self.rank);
    size_ = *size;
    universe_size_ = server_->number(PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE).value_or(size_);
    program_ = server_->number(server_->self.rank, PMIX_APPNUM).value_or(0);
    neighbours_ = {rank_};
    const Value local = server_->get(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS);
    if (local && local->type == PMIX_STRING) {
        auto ranks = ranks_in(local->data.string);
        std::ranges::sort(ranks);
        if (std::ranges::binary_search(ranks, rank_)) neighbours_ = std::move(ranks);
    }
}

Launch::~Launch() {
    if (server_) PMIx_Finalize(nullptr, 0);
}

// The processes of a host meet in any case: what they say is in memory that they share with the
// server. Those of others may be asked before they have said anything, and then the answer waits.
void Launch::publish(std::span<const std::byte> contact, Exchange exchange) {
    own_.assign(contact.begin(), contact.end());
    if (!server_) return;
    pmix_value_t value{};
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo = {reinterpret_cast<char*>(own_.data()), own_.size()};
    if (const auto status = PMIx_Put(PMIX_GLOBAL, kContact, &value)) fail("PMIx_Put", status);
    if (const auto status = PMIx_Commit()) fail("PMIx_Commit", status);
    if (exchange == Exchange::all) {
        pmix_info_t collect{};
        bool yes = true;
        PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
        if (const auto status = PMIx_Fence(nullptr, 0, &collect, 1)) fail("PMIx_Fence", status);
        return;
    }
    std::vector<pmix_proc_t> here(neighbours_.size(), server_->self);
    for (size_t i = 0; i < here.size(); ++i)
        here[i].rank = static_cast<pmix_rank_t>(neighbours_[i]);
    if (const auto status = PMIx_Fence(here.data(), here.size(), nullptr, 0))
        fail("PMIx_Fence", status);
}

std::vector<std::byte> Launch::contact_of(int rank) const {
    if (!server_ || rank == rank_) return own_;
    const Value value = server_->get(static_cast<pmix_rank_t>(rank), kContact);
    if (!value || value->type != PMIX_BYTE_OBJECT)
        throw StartError{"the PMIx server does not tell how to speak to rank " +
                         std::to_string(rank)};
    const auto* bytes = reinterpret_cast<const std::byte*>(value->data.bo.bytes);
    return {bytes, bytes + value->data.bo.size};
}

void Launch::meet() const noexcept {
    if (server_) PMIx_Fence(nullptr, 0, nullptr, 0);
}

void Launch::abort(int code, const char* text) const noexcept {
    if (server_) PMIx_Abort(code, text, nullptr, 0);
    _exit(code & 0xff ? code & 0xff : 1);
}

} // namespace odrc::mpi
