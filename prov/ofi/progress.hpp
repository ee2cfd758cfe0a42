// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/crowd.hpp"
#include "base/host.hpp"
#include "ofi/domain.hpp"

#include <mutex>
#include <sched.h>
#include <vector>

namespace odrc::ofi {

class Endpoint;
class WaitObject;

// The endpoints whose progress is made by whoever reads a completion queue or a counter.
class Progress {
public:
    explicit Progress(Domain& domain) noexcept
        : domain_{domain} {}

    Domain& domain() const noexcept { return domain_; }

    // Whoever sleeps on the wait object is woken by the endpoint's device, too. Throws Error.
    void attach(Endpoint& endpoint, WaitObject& wait);
    void detach(Endpoint& endpoint) noexcept;

    // Calls f inside the domain's gate, if the domain has one. What else is called here, and what
    // its endpoints write to, is called inside it.
    template <class F>
    [[gnu::always_inline]] decltype(auto) inside(F&& f) noexcept {
        const Entry entry{domain_.one_thread() ? &domain_.gate() : nullptr};
        return f();
    }
    void make() noexcept;
    // For who has looked in vain, and left the gate: where more may do so than there are
    // processors, another may be what it waits for, and gets the processor.
    void give_way() noexcept {
        if (crowded_host_ || Looker::all() > processors_)
            sched_yield();
        else
            crowd_.in_vain();
    }
    void found() noexcept { crowd_.found(); } // it was not in vain
    void arm() noexcept;                      // the devices, to wake sleepers

private:
    template <class Visit>
    void visit(const Visit& visit) noexcept;

    Domain& domain_;
    const size_t processors_{processors_of_this_host()};
    const bool crowded_host_{processes_of_this_host() > processors_};
    Crowd crowd_;
    std::mutex mutex_; // guards the endpoints, where threads come many at a time
    std::vector<Endpoint*> endpoints_;
};

} // namespace odrc::ofi
