// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "transfer/atomic_operation.hpp"
#include "verbs_rc/own_words.hpp"

#include <optional>

namespace odrc::transfer {

// Words of our memory that peers have the device change by itself, at any time. Whatever else is
// asked of us is done to them by the device as well, so that all of it has one order.
class SharedWords {
public:
    SharedWords(verbs::Adapter& adapter, ibv_srq* srq) noexcept
        : adapter_{adapter}
        , srq_{srq} {}

    // Elements of is_word() in a region of that rkey. 0, or a fi_errno value; then some of them
    // may have been changed.
    int change(const AtomicOperation& operation, const AtomicElements& elements,
               uint32_t rkey) noexcept;

private:
    static constexpr size_t kAtOnce = verbs::OwnWords::kAtOnce;

    int make() noexcept;
    int change_some(const AtomicOperation& operation, const AtomicElements& some,
                    uint32_t rkey) noexcept;

    verbs::Adapter& adapter_;
    ibv_srq* const srq_;
    std::optional<verbs::OwnWords> words_; // from the first change on: few endpoints come to that
};

} // namespace odrc::transfer
