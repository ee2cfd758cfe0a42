// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "softrc/peer_process.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace odrc::soft {

// Processes that no queue pair of this one is connected to any more. Many are again at once, as
// where a deeper connection takes the place of another: those left last stay as they are, for
// whatever of a peer's memory this process has used it would find page by page again, at some
// microseconds each.
class LeftProcesses {
public:
    static constexpr size_t kMost = 8;

    // Those left earliest go, and who has died: whose death is heard of later is still found.
    void keep(uint64_t key, std::unique_ptr<PeerProcess> peer) noexcept {
        std::unique_ptr<PeerProcess> gone; // behind the lock: that takes long
        const std::lock_guard lock{mutex_};
        if (peer->check_dead()) return;
        Left& place = left_[next_++ % kMost];
        gone = std::exchange(place.peer, std::move(peer));
        place.key = key;
    }
    // Null: it is not there.
    std::unique_ptr<PeerProcess> take(uint64_t key) noexcept {
        return take_if([key](const Left& left) { return left.key == key; });
    }
    std::unique_ptr<PeerProcess> take_by_pidfd(int pidfd) noexcept {
        return take_if([pidfd](const Left& left) { return left.peer->pidfd() == pidfd; });
    }
    // Gives up all, as where descriptors or addresses are out. False: there were none.
    bool drop() noexcept {
        bool any = false;
        while (take_if([](const Left&) { return true; })) any = true;
        return any;
    }

private:
    struct Left {
        uint64_t key{0};
        std::unique_ptr<PeerProcess> peer;
    };
    template <class Which>
    std::unique_ptr<PeerProcess> take_if(Which&& which) noexcept {
        const std::lock_guard lock{mutex_};
        const auto found =
            std::ranges::find_if(left_, [&](const Left& left) { return left.peer && which(left); });
        return found == left_.end() ? nullptr : std::move(found->peer);
    }

    std::mutex mutex_;
    std::array<Left, kMost> left_;
    size_t next_{0};
};

} // namespace odrc::soft
