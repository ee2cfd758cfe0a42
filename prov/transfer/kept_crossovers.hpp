// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "transfer/crossovers.hpp"

#include <optional>
#include <string_view>

namespace odrc::transfer {

// All that the crossovers of a device depend on, in one line.
std::string key_of(const verbs::Adapter& adapter);

// What is said of a device in a file, and what a file says, if it speaks of that device and can be
// right.
std::string text_of(std::string_view key, const Crossovers& crossovers);
std::optional<Crossovers> read_text(std::string_view text, std::string_view key,
                                    const CrossoverRange& range) noexcept;

// The crossovers of a device from one process to the next, in a small file of the user's cache
// ($XDG_CACHE_HOME or ~/.cache): so that they are measured once, and are the same in all processes
// and from run to run. What is not there, or cannot be there, is measured again.
class KeptCrossovers {
public:
    explicit KeptCrossovers(std::string key);

    const std::string& path() const noexcept { return path_; } // empty: there is no such place
    // A file that others could have written counts as none.
    std::optional<Crossovers> find(const CrossoverRange& range) const noexcept;
    void keep(const Crossovers& crossovers) const noexcept;

private:
    const std::string key_;
    std::string folder_;
    std::string path_;
};

} // namespace odrc::transfer
