// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "schemes/choice.hpp"
#include "schemes/experience.hpp"
#include "schemes/staging.hpp"
#include "schemes/transfer.hpp"

#include <optional>
#include <vector>

namespace odrc::mpi {

// A message that was offered and has met its receive: the receiver's side, which chooses the
// scheme.
class Incoming final : public Transfer {
public:
    // As many bytes are taken as there is room for in the data; none, and the sender is done.
    static void begin(Transfers& transfers, const Data& data, fi_addr_t from, const Offer& offer,
                      Request& request);
    ~Incoming() override;

    void on_written(uint64_t segment) noexcept;

    // BC-SPUP, RWG-UP: the segments, `room` of them one behind the other.
    std::byte* segment(uint64_t number) const noexcept {
        return staging_.address + number % answer_.room * answer_.segment;
    }
    // P-RRS: what may be read.
    const Ready& ready() const noexcept { return ready_; }
    uint64_t granted() const noexcept { return granted_; }
    // Tells the sender, unless it knows already. False: there is no room for that now.
    bool grant(uint64_t segments) noexcept;

private:
    Incoming(Transfers& transfers, const Data& data, fi_addr_t from, const Offer& offer,
             Request& request);

    Next go_on() noexcept override;
    void on_heard() noexcept override;
    void choose();
    Plan choose_with(const Shape& shape, bool exposes);
    std::optional<Experience::News> leaders_way() const noexcept;
    void learn(uint64_t bytes) noexcept;
    bool is_staged() const noexcept; // in memory of the receiver's
    bool take_staging();
    bool expose_data();
    bool name_layout();
    bool tell_sender() noexcept;
    std::unique_ptr<Way> make_way();

    const uint32_t number_;
    const Offer offer_;
    std::optional<Plan> plan_;
    std::optional<Experience::Ticket> ticket_; // by which something is learned of it
    Staging::Stretch staging_;
    std::unique_ptr<Fabric::Region> region_; // Multi-W: of the data
    std::vector<std::byte> layout_;          // that is to follow the answer
    bool answer_said_{false};
    bool layout_said_{false};
    Ready ready_{};
    Ready heard_{};
    uint64_t granted_{0};
};

} // namespace odrc::mpi
