// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "schemes/costs.hpp"

#include <string>
#include <utility>

namespace odrc::mpi {

// What was measured is kept for later runs, in a file of the user's: $XDG_CACHE_HOME/odrc or
// ~/.cache/odrc. That is no more than a saving of time: whoever cannot read it, or finds anything
// else in it, measures again.
class KeptCosts {
public:
    // key: what else the costs depend on: a line of text.
    explicit KeptCosts(std::string key);

    std::optional<SchemeCosts> find() const noexcept;
    void keep(const SchemeCosts& costs) const noexcept;

    // The turn to measure, for as long as it is held.
    class Turn {
    public:
        explicit Turn(int file) noexcept
            : file_{file} {}
        ~Turn();
        Turn(Turn&& other) noexcept
            : file_{std::exchange(other.file_, -1)} {}
        Turn& operator=(Turn&&) = delete;

    private:
        int file_;
    };
    // None while another process of the user's has it: measured at the same time, each would find
    // what the others leave it of the memory and its locks. Where files cannot tell, all may.
    std::optional<Turn> take_turn() const noexcept;

private:
    void make_folder() const noexcept;

    std::string key_;
    std::string folder_; // empty: there is none
    std::string path_;
};

} // namespace odrc::mpi
