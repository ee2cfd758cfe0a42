// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "fabric.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <sys/mman.h>

namespace fabtests_ext {

// The addresses of many endpoints, where all processes that are forked later see them.
class Names {
public:
    explicit Names(int count)
        : count_{count}
        , names_{static_cast<Name*>(
              mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))} {
        if (names_ == MAP_FAILED) throw std::bad_alloc{};
    }
    ~Names() { munmap(names_, bytes()); }
    Names(const Names&) = delete;
    Names& operator=(const Names&) = delete;

    int size() const noexcept { return count_; }
    void set(int i, fid_ep* ep) const {
        size_t length = sizeof(Name);
        check(fi_getname(&ep->fid, names_[i].data(), &length), "fi_getname");
    }
    // As one of that endpoint's kind knows it.
    fi_addr_t insert_into(Endpoint& endpoint, int i) const {
        return endpoint.insert({names_[i].data(), endpoint.name().size()});
    }

private:
    using Name = std::array<char, 64>;

    size_t bytes() const noexcept {
        return static_cast<size_t>(std::max(count_, 1)) * sizeof(Name);
    }

    const int count_;
    Name* names_;
};

} // namespace fabtests_ext
