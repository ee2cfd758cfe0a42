// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "schemes/transfer.hpp"

#include <vector>

namespace odrc::mpi {

// A message that is offered: its sender's side.
class Outgoing final : public Transfer {
public:
    // The request is told by Request::transferred() that it is over.
    static void begin(Transfers& transfers, const Data& data, fi_addr_t to, uint64_t tag,
                      bool is_trial, Request& request);
    ~Outgoing() override;

    // Segments that the receiver has room for, or P-RRS: that it has read.
    uint64_t granted() const noexcept { return granted_; }
    // Multi-W: where the receiver's data lies.
    const LayoutRef& receiver_layout() const noexcept { return layout_; }

private:
    Outgoing(Transfers& transfers, const Data& data, fi_addr_t to, Request& request);

    Next go_on() noexcept override;
    void on_heard() noexcept override;
    void take_answer() noexcept;
    void take_layout() noexcept;
    bool knows_layout() noexcept;
    bool expects_words() const noexcept;
    std::unique_ptr<Way> make_way();

    const uint32_t number_;
    Offer offer_{};
    uint64_t granted_{0};
    double begin_{0}; // by the clock of what is learned
    bool answered_{false};
    LayoutRef layout_;
    std::vector<std::byte> layout_bytes_; // as it comes
    std::array<std::byte, sizeof(Answer)> word_;
};

} // namespace odrc::mpi
