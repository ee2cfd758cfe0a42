// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Distributed shared memory in regions of one size, with copies at those who use them: many may
// have one to read, or one alone to write, as in CRL. Each region has a home, which knows who has a
// copy, and everything about it goes by its home.

#include "bench/patterns/messenger.hpp"

#include <vector>

namespace bench {

class Regions {
public:
    using Id = uint32_t;
    struct Counts {
        uint64_t read_misses, write_misses, upgrades, recalls;
    };

    // All zero in the beginning; home says who is the home of each: everybody has the same answer.
    Regions(Messenger& messenger, Id count, size_t bytes, std::function<int(Id)> home);

    // The region as it is, until the next call of anything that handles messages.
    Bytes read(Id id) {
        if (copies_[id] == Copy::none) miss(id, false);
        return at(cached_, id);
    }
    // The same, to be changed.
    std::span<std::byte> write(Id id) {
        if (copies_[id] != Copy::exclusive) miss(id, true);
        return at(cached_, id);
    }
    template <class T>
    const T& read_as(Id id) {
        return *reinterpret_cast<const T*>(read(id).data());
    }
    template <class T>
    T& write_as(Id id) {
        return *reinterpret_cast<T*>(write(id).data());
    }

    const Counts& counts() const noexcept { return counts_; }

private:
    enum class Copy : uint8_t { none, shared, exclusive };
    static constexpr int kNobody = -1;
    struct Miss {
        int from;
        bool writes;
    };
    // What a home knows. While copies are on their way back for one miss, others wait.
    struct Directory {
        uint64_t sharers{0};
        int writer{kNobody};
        int missing{0}; // copies that are to come back
        std::deque<Miss> misses;
    };

    std::span<std::byte> at(std::vector<std::byte>& memory, Id id) noexcept {
        return {memory.data() + size_t(id) * bytes_, bytes_};
    }

    void miss(Id id, bool writes);
    // At the region's home.
    void missed(Id id, Miss miss);
    void begin(Id id);
    void recall(Id id, int from, bool keeps);
    void returned(Id id, Bytes data);
    void grant(Id id);
    // At who has a copy.
    void give_back(Id id, bool keeps);
    void granted(Id id, bool writes, Bytes data);

    Messenger& messenger_;
    size_t bytes_;
    std::function<int(Id)> home_;
    std::vector<std::byte> cached_, kept_; // here, and of those whose home this is
    std::vector<Copy> copies_;
    std::vector<Directory> directories_;
    Counts counts_{};
};

} // namespace bench
