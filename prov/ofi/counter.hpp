// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "ofi/progress.hpp"
#include "ofi/wait_object.hpp"
#include "transfer/tally.hpp"

namespace odrc::ofi {

// fi_cntr(3): how many operations of any number of endpoints have ended. Reading it makes their
// progress.
class Counter : public fid_cntr {
public:
    using Fid = fid_cntr;
    using Numbers = transfer::Tally::Numbers;
    Counter(Domain& domain, const fi_cntr_attr* attr, void* context); // throws Error
    ~Counter() { progress_.domain().region_counters().remove(*this); }

    const Domain& domain() const noexcept { return progress_.domain(); }
    transfer::Tally& tally() noexcept { return tally_; }
    bool waitable() const noexcept { return wait_.by_descriptor(); }

    // The endpoints whose progress reading makes. Throws Error.
    void attach(Endpoint& endpoint) { progress_.attach(endpoint, wait_); }
    void detach(Endpoint& endpoint) noexcept { progress_.detach(endpoint); }

    void progress() noexcept { numbers(); }
    uint64_t read() noexcept;
    uint64_t read_errors() noexcept;
    void add(const Numbers& more) noexcept;
    void set_successes(uint64_t value) noexcept;
    void set_errors(uint64_t value) noexcept;
    int wait(uint64_t threshold, int timeout) noexcept;
    int trywait() noexcept;
    bool has_news() noexcept;
    int control(int command, void* argument) noexcept { return wait_.control(command, argument); }

    std::atomic<int> leaning{0};

private:
    Numbers numbers() noexcept;
    void arm() noexcept;

    Leaning on_domain_;
    WaitObject wait_;
    transfer::Tally tally_;
    Progress progress_;
    // What the application was told last: it may go to sleep while nothing is new.
    std::atomic<uint64_t> told_successes_{0};
    std::atomic<uint64_t> told_errors_{0};
};

} // namespace odrc::ofi
