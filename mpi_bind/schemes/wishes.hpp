// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "fabric.hpp"

#include <bit>
#include <unordered_set>

namespace odrc::mpi {

// Who sends data in one piece does not know whether its receiver has it in many, and offers
// nothing. The receiver says once that it would gain by offers, and messages with that tag and of
// about that size are offered from then on.
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
    bool heard(fi_addr_t to, uint64_t tag, uint64_t bytes) const noexcept {
        return find(heard_, to, tag, bytes);
    }
    bool told(fi_addr_t sender, uint64_t tag, uint64_t bytes) const noexcept {
        return find(told_, sender, tag, bytes);
    }
    // To the sender of such a message, which has not been told.
    void tell(fi_addr_t sender, uint64_t tag, uint64_t bytes) noexcept;

private:
    struct What {
        fi_addr_t peer;
        uint64_t tag;
        int log2; // of the bytes

        bool operator==(const What&) const = default;
    };
    struct Hash {
        size_t operator()(const What& what) const noexcept {
            return std::hash<uint64_t>{}((what.tag * 31 + what.peer) * 64 +
                                         static_cast<uint64_t>(what.log2));
        }
    };
    using Wished = std::unordered_set<What, Hash>;
    struct Word {
        uint64_t tag;
        int rank; // in the world, of who wishes
        int log2;
    };

    static int log2(uint64_t bytes) noexcept { return static_cast<int>(std::bit_width(bytes)); }
    static bool find(const Wished& wished, fi_addr_t peer, uint64_t tag, uint64_t bytes) noexcept {
        return !wished.empty() && wished.contains({peer, tag, log2(bytes)});
    }
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
    Wished heard_;
    Wished told_;
};

} // namespace odrc::mpi
