// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "fabric.hpp"

#include <unordered_set>

namespace odrc::mpi {

// Who sends data in one piece does not know whether its receiver has it in many, and offers
// nothing. The receiver says once that it would gain by offers, and messages with that tag are
// offered from then on.
class Wishes {
public:
    explicit Wishes(Fabric& fabric) noexcept
        : fabric_{fabric}
        , listening_{*this}
        , is_deaf_{fabric.reaches_memory()} {}
    ~Wishes() { fabric_.cancel(listening_); }
    Wishes(const Wishes&) = delete;
    Wishes& operator=(const Wishes&) = delete;

    // Listens to others, unless it does. Part of the process's progress.
    void listen() noexcept {
        if (is_deaf_) is_deaf_ = !post();
    }
    bool is_wished(fi_addr_t to, uint64_t tag) const noexcept {
        return !heard_.empty() && heard_.contains({to, tag});
    }
    bool is_told(fi_addr_t sender, uint64_t tag) const noexcept {
        return !told_.empty() && told_.contains({sender, tag});
    }
    // To the sender of a message with that tag, which has not been told.
    void tell(fi_addr_t sender, uint64_t tag) noexcept;

private:
    struct Wish {
        fi_addr_t peer;
        uint64_t tag;

        bool operator==(const Wish&) const = default;
    };
    struct Hash {
        size_t operator()(const Wish& wish) const noexcept {
            return std::hash<uint64_t>{}(wish.tag * 31 + wish.peer);
        }
    };
    struct Word {
        uint64_t tag;
        int rank; // in the world, of who wishes
    };
    struct Listening : Operation {
        explicit Listening(Wishes& w) noexcept
            : Operation{&Wishes::on_heard}
            , wishes{&w} {}
        Wishes* wishes;
    };

    bool post() noexcept;
    static void on_heard(Operation& op, const Outcome& outcome) noexcept;

    Fabric& fabric_;
    Listening listening_;
    Word word_{};
    bool is_deaf_; // and should listen
    std::unordered_set<Wish, Hash> heard_;
    std::unordered_set<Wish, Hash> told_;
};

} // namespace odrc::mpi
