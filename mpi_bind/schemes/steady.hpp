// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "schemes/experience.hpp"
#include "schemes/message_kind.hpp"
#include "schemes/same_data.hpp"

#include <utility>

namespace odrc::mpi {

// Messages that go as they are, one at a time, and all like one that has been looked at: of them
// nothing is to be learned, and what they take is no more than finding that out.
class Steady {
public:
    // So many that follow may be like that one, of this kind.
    void allow(const Data& one, const MessageKind& kind, uint32_t messages) noexcept {
        data_ = SameData{one};
        kind_ = kind;
        allowed_ = messages;
    }
    // True: it is one of them. No other one is until it ends.
    bool begin(const Data& data) noexcept {
        if (allowed_ == 0 || is_under_way_ || !data_.is(data)) return false;
        --allowed_;
        ++gone_;
        return is_under_way_ = true;
    }
    static constexpr Experience::Ticket ticket() noexcept { return {kPlace, 0, 0}; }
    // True: the ticket was one of theirs.
    bool end(const Experience::Ticket& ticket) noexcept {
        if (ticket.place != kPlace) return false;
        is_under_way_ = false;
        return true;
    }

    struct Gone {
        MessageKind kind;
        uint32_t messages;
    };
    // Those that have gone, of which nobody else knows. There will be no more.
    Gone stop() noexcept {
        allowed_ = 0;
        return {kind_, std::exchange(gone_, 0)};
    }

private:
    static constexpr uint32_t kPlace = MessageKind::kPlaces; // where no kind is

    SameData data_;
    MessageKind kind_{};
    uint32_t allowed_{0}, gone_{0};
    bool is_under_way_{false};
};

} // namespace odrc::mpi
