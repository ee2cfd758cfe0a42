// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "names.hpp"

#include <array>

namespace fabtests_ext {

// Endpoints of one process that another one's endpoint is connected to, and that do nothing more.
class Crowd {
public:
    Crowd(const Choice& choice, uint32_t address_format, const Names& names)
        : base_{choice, {.caps = FI_TAGGED, .address_format = address_format}} {
        for (int i = 0; i < names.size(); ++i) {
            fid_ep* ep = endpoints_.emplace_back(base_.open_another()).get();
            names.set(i, ep);
            insist(base_, "fi_trecv", [&] {
                return fi_trecv(ep, &in_, sizeof in_, nullptr, FI_ADDR_UNSPEC, 0, 0, ep);
            });
        }
    }
    // Returns when each has been spoken to.
    void listen() {
        fi_cq_tagged_entry entry;
        for (size_t left = endpoints_.size(); left > 0;)
            if (base_.poll(entry))
                --left;
            else
                sched_yield();
    }

private:
    Endpoint base_;
    std::vector<Owned<fid_ep>> endpoints_;
    std::array<char, 8> in_{};
};

} // namespace fabtests_ext
