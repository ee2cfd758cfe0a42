// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "datatype.hpp"

#include <unordered_map>
#include <unordered_set>

// Layouts go to each peer once (Träff et al. 1999; Wu et al. 2003, 5.4.2): later messages name them
// by number. A type that is freed leaves its number to another one, with the next version.
namespace odrc::mpi {

// Numbers of this process's types, and who has been told what they stand for. It may last longer
// than types that have one, and shorter.
class TypeNumbers {
public:
    static constexpr uint32_t kMost = 4096;
    static constexpr uint32_t kNone = UINT32_MAX;

    struct Number {
        uint32_t index; // kNone: all are in use, and nobody can keep this type
        uint32_t version;
    };

    explicit TypeNumbers(uint32_t most = kMost, uint32_t first_version = 0);
    ~TypeNumbers();
    TypeNumbers(const TypeNumbers&) = delete;
    TypeNumbers& operator=(const TypeNumbers&) = delete;

    // The same each time, as long as the type is there.
    Number of(const Datatype& type);
    // Whether the peer knows the version that the index has now.
    bool is_told(uint32_t index, uint64_t peer) const noexcept;
    void tell(uint32_t index, uint64_t peer);

private:
    friend class Datatype;

    struct Slot {
        const Datatype* type; // null: it is free
        uint32_t version;
        std::unordered_set<uint64_t> told;
    };

    void give_back(uint32_t index) noexcept;

    const uint32_t most_;
    const uint32_t first_version_;
    std::vector<Slot> slots_;
    std::vector<uint32_t> free_; // has room for all slots
};

// What peers have told of their types.
class KnownLayouts {
public:
    // Null: it is not known, or of another version.
    LayoutRef find(uint64_t peer, uint32_t index, uint32_t version) const noexcept;
    // In place of an earlier version. What has no number is not kept.
    void keep(uint64_t peer, uint32_t index, uint32_t version, LayoutRef layout);

private:
    struct Known {
        uint32_t version;
        LayoutRef layout;
    };

    std::unordered_map<uint64_t, std::unordered_map<uint32_t, Known>> peers_;
};

} // namespace odrc::mpi
