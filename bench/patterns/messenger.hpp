// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Messages between the processes of a team, each of which is handled where it comes: what the
// runtime of a parallel-programming system needs of a network, over plain libfabric calls.

#include "fabtests_ext/support/fabric.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <sched.h>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace bench {

using Bytes = std::span<const std::byte>;

// What something is in memory.
template <class T>
Bytes bytes_of(const T& object) noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    return std::as_bytes(std::span{&object, 1});
}

// Takes the first of a message's bytes for what they are.
template <class T>
T take(Bytes& bytes) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (bytes.size() < sizeof(T)) throw std::length_error{"a message is too short"};
    T object;
    std::memcpy(&object, bytes.data(), sizeof object);
    bytes = bytes.subspan(sizeof object);
    return object;
}

// Of each part of a runtime those that it handles.
enum class Kind : uint32_t {
    contribution, // agreement.hpp
    agreed,
    token, // termination.hpp
    ended,
    miss, // regions.hpp
    recall,
    given_back,
    grant,
    call, // calls.hpp
    answer,
    ordered, // total_order.hpp
    jobs,    // puzzle.cpp
    count,
};

class Messenger {
public:
    // Of a message, which the handler has until it returns. It may send, but not wait.
    using Handler = std::function<void(int from, Bytes)>;

    enum class Groups : uint8_t { none, if_offered };

    // most_bytes: of the pieces of a message. groups: whether the endpoint is to have them
    // (FI_COLLECTIVE), which not every provider offers.
    Messenger(fabtests_ext::Team& team, const fabtests_ext::Choice& choice, size_t most_bytes,
              Groups groups = Groups::none);
    ~Messenger();
    Messenger(const Messenger&) = delete;
    Messenger& operator=(const Messenger&) = delete;

    int rank() const noexcept { return team_.rank(); }
    int size() const noexcept { return team_.size(); }
    fabtests_ext::Team& team() noexcept { return team_; }
    fabtests_ext::Endpoint& endpoint() noexcept { return endpoint_; }
    fi_addr_t peer(int rank) const { return peers_[static_cast<size_t>(rank)]; }

    void on(Kind kind, Handler handler) {
        handlers_[static_cast<size_t>(kind)] = std::move(handler);
    }

    // Takes a copy of the pieces and does not wait: what the provider has no room for goes out as
    // others are polled. Two from one process to another, or to itself, are handled in order.
    void send(int to, Kind kind, std::initializer_list<Bytes> pieces);

    // The same by a libfabric call of the caller's, which is given the copy and an operation's
    // context, and may be made again and again. Returns when it was taken; meanwhile messages are
    // handled.
    using Call = std::function<ssize_t(Bytes, void* context)>;
    void send_by(const Call& call, Bytes bytes);

    // What other way messages come in, if there is any: called when none has come this way, handles
    // one and says so.
    using OtherWay = std::function<bool()>;
    void look_also(OtherWay other_way) { other_way_ = std::move(other_way); }

    // Handles one message, if there is any: nothing happens between what it changes and the
    // caller's next look.
    bool poll();

    // The same for who has nothing else to do: others, of whom there may be more than processors,
    // have their turn.
    void poll_or_yield() {
        if (poll())
            in_vain_ = 0;
        else if (++in_vain_ % patience_ == 0)
            sched_yield();
    }

    template <class Condition>
    void wait_until(Condition&& holds) {
        while (!holds()) poll_or_yield();
    }

    // What the context of a libfabric operation points to: this is a caller's own.
    class Operation;

    // Returns when all have come, and nothing is left to be sent. Nobody sends afterwards.
    void leave();

    uint64_t sent() const noexcept { return sent_; }
    uint64_t sent_bytes() const noexcept { return sent_bytes_; }

private:
    struct Header {
        int32_t from;
        Kind kind;
    };
    struct Buffer;
    static constexpr size_t kReceives = 64;
    // Looks in vain before others have their turn. Where each process has a processor of its own,
    // far more than an answer takes; else about as many.
    static constexpr unsigned kPatience = 4096, kPatienceOfMany = 32;

    Buffer& empty_buffer();
    void post_receive(Buffer& buffer);
    bool post_send(Buffer& buffer); // false: the provider has no room
    void push();                    // sends what had to wait
    bool progress();                // reads one completion
    void handle(Bytes message);

    fabtests_ext::Team& team_;
    fabtests_ext::Endpoint endpoint_;
    std::vector<fi_addr_t> peers_;
    size_t most_bytes_;
    std::array<Handler, static_cast<size_t>(Kind::count)> handlers_{};
    // Receives are matched in the order in which they are posted, and handled in that order: so
    // that of two messages the longer one, which completes later, is not overtaken.
    std::vector<std::unique_ptr<Buffer>> receives_;
    size_t next_{0};
    std::vector<std::unique_ptr<Buffer>> sends_; // all there are
    std::vector<Buffer*> free_;
    std::deque<Buffer*> waiting_; // for room in the provider
    std::deque<Buffer*> own_;     // to this process itself
    OtherWay other_way_;
    unsigned patience_, in_vain_{0};
    uint64_t sent_{0}, sent_bytes_{0};
};

class Messenger::Operation {
public:
    bool done() const noexcept { return done_; }
    void* context() noexcept { return &context_; }

private:
    friend Messenger;
    fi_context2 context_{}; // at the beginning: it is the address that comes back
    bool done_{false};
    size_t length_{0};          // of what was received
    Buffer* released_{nullptr}; // by its completion
};

} // namespace bench
