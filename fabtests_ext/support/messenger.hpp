// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "fabric.hpp"
#include "names.hpp"
#include "samples.hpp"
#include "spin.hpp"

namespace fabtests_ext {

// One of two processes between which messages are timed: its endpoint, its peer, and how many of
// the operations that it has posted are left.
class Messenger {
public:
    enum class Kind { tagged, untagged };

    // most: how many operations are under way at a time.
    Messenger(Team& team, int peer, const Choice& choice, Kind kind, size_t most,
              const Wishes& wishes = {})
        : kind_{kind}
        , endpoint_{choice, with_caps(wishes, kind)}
        , peer_{endpoint_.introduce(team)[static_cast<size_t>(peer)]}
        , contexts_(most) {}

    const fi_info& info() const noexcept { return endpoint_.info(); }
    fi_addr_t peer() const noexcept { return peer_; }

    void post_receive(char* memory, size_t size) { post_receive(memory, size, peer_, 0, 0); }
    void post_receive(char* memory, size_t size, fi_addr_t from, uint64_t tag, uint64_t ignore) {
        void* context = next_context();
        retry("fi_trecv or fi_recv", [&] {
            return kind_ == Kind::tagged
                       ? fi_trecv(endpoint_.ep(), memory, size, nullptr, from, tag, ignore, context)
                       : fi_recv(endpoint_.ep(), memory, size, nullptr, from, context);
        });
        ++pending_;
    }

    void post_send(const char* memory, size_t size, uint64_t tag = 0) {
        void* context = next_context();
        retry("fi_tsend or fi_send", [&] {
            return kind_ == Kind::tagged
                       ? fi_tsend(endpoint_.ep(), memory, size, nullptr, peer_, tag, context)
                       : fi_send(endpoint_.ep(), memory, size, nullptr, peer_, context);
        });
        ++pending_;
    }
    // The call takes it with it where it can.
    void send(const char* memory, size_t size, uint64_t tag = 0) {
        if (size > info().tx_attr->inject_size) return post_send(memory, size, tag);
        retry("fi_tinject or fi_inject", [&] {
            return kind_ == Kind::tagged ? fi_tinject(endpoint_.ep(), memory, size, peer_, tag)
                                         : fi_inject(endpoint_.ep(), memory, size, peer_);
        });
    }

    // A tagged word to one that is no part of the team.
    void greet(const Names& names, int i) {
        const fi_addr_t other = names.insert_into(endpoint_, i);
        const uint64_t word = 0;
        retry("fi_tinject",
              [&] { return fi_tinject(endpoint_.ep(), &word, sizeof word, other, 0); });
    }

    // The call takes it with it. False where it would not, for so many seconds in which progress
    // was made.
    bool inject_within(double seconds, const char* memory, size_t size, uint64_t tag) {
        const Stopwatch watch;
        ssize_t result;
        spin_until([&] {
            result = fi_tinject(endpoint_.ep(), memory, size, peer_, tag);
            if (result == -FI_EAGAIN) reap();
            return result != -FI_EAGAIN || watch.nanoseconds() > seconds * 1e9;
        });
        if (result != -FI_EAGAIN) check(result, "fi_tinject");
        return result == 0;
    }

    int pending() const noexcept { return pending_; }
    // Until all that was posted has completed, or all but so many.
    void drain(int left = 0) {
        spin_until([&] {
            if (pending_ > left) reap();
            return pending_ <= left;
        });
    }
    // Until the peer has all, too: what is over here may have to be sent again.
    void meet(Team& team) {
        team.barrier([this] { reap(); });
    }
    // Takes what has completed; progress is made by it.
    void reap() {
        fi_cq_tagged_entry entries[16];
        const ssize_t n = fi_cq_read(endpoint_.cq(), entries, std::size(entries));
        if (n > 0)
            pending_ -= static_cast<int>(n);
        else if (n != -FI_EAGAIN)
            endpoint_.poll(entries[0]); // says what the error is
    }

private:
    static Wishes with_caps(Wishes wishes, Kind kind) {
        wishes.caps = (kind == Kind::tagged ? FI_TAGGED : FI_MSG) | FI_DIRECTED_RECV;
        return wishes;
    }

    template <class Call>
    void retry(const char* what, Call&& call) {
        ssize_t result;
        spin_until([&] {
            result = call();
            if (result == -FI_EAGAIN) reap();
            return result != -FI_EAGAIN;
        });
        check(result, what);
    }

    // A provider may use a context until its operation completes.
    void* next_context() noexcept { return &contexts_[next_++ % contexts_.size()]; }

    const Kind kind_;
    Endpoint endpoint_;
    fi_addr_t peer_;
    std::vector<fi_context2> contexts_;
    size_t next_{0};
    int pending_{0};
};

} // namespace fabtests_ext
