// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "bench/patterns/group.hpp"

namespace bench {
namespace {

using fabtests_ext::check;

// Null: the provider has none.
fi_odrc_multicast_ops* operations_of(Messenger& messenger) {
    void* ops = nullptr;
    fid_ep* const ep = messenger.endpoint().ep();
    if (fi_open_ops(&ep->fid, FI_ODRC_MULTICAST_OPS, 0, &ops, nullptr) != 0) return nullptr;
    return static_cast<fi_odrc_multicast_ops*>(ops);
}

} // namespace

bool Group::carries(Messenger& messenger, size_t bytes) {
    return bytes <= FI_ODRC_MULTICAST_MAX && operations_of(messenger);
}

Group::Group(Messenger& messenger, Handler handler)
    : messenger_{messenger}
    , handler_{std::move(handler)}
    , ops_{operations_of(messenger)} {
    const fabtests_ext::Endpoint& endpoint = messenger.endpoint();
    fi_av_set_attr attr{};
    attr.start_addr = attr.end_addr = FI_ADDR_NOTAVAIL;
    fid_av_set* set = nullptr;
    check(fi_av_set(endpoint.av(), &attr, &set, nullptr), "fi_av_set");
    set_.reset(set);
    for (int rank = 0; rank < messenger.size(); ++rank)
        check(fi_av_set_insert(set, messenger.peer(rank)), "fi_av_set_insert");
    fi_addr_t address = FI_ADDR_NOTAVAIL;
    check(fi_av_set_addr(set, &address), "fi_av_set_addr");
    fid_mc* group = nullptr;
    check(fi_join_collective(endpoint.ep(), address, set, 0, &group, nullptr),
          "fi_join_collective");
    group_.reset(group);
    messenger.wait_until([&] {
        fi_eq_entry entry{};
        uint32_t event = 0;
        const ssize_t n = fi_eq_read(endpoint.eq(), &event, &entry, sizeof entry, 0);
        if (n != -FI_EAGAIN) check(n, "fi_eq_read");
        return n > 0;
    });
    messenger.look_also([this] { return handle_one(); });
}

Group::~Group() { messenger_.look_also({}); }

void Group::send(Bytes bytes, uint64_t flags) {
    messenger_.send_by(
        [&](Bytes copy, void* context) {
            return ops_->send(messenger_.endpoint().ep(), group_.get(), copy.data(), copy.size(),
                              flags | FI_COMPLETION, context);
        },
        bytes);
}

// A message of the provider's, which has it again when it is handled.
struct Group::Lent {
    explicit Lent(Group& from)
        : group{from} {}
    ~Lent() {
        if (come) group.ops_->release(group.messenger_.endpoint().ep(), group.group_.get(), &it);
    }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;

    Group& group;
    fi_odrc_multicast it{};
    bool come{false};
};

bool Group::handle_one() {
    Lent message{*this};
    const ssize_t n = ops_->receive(messenger_.endpoint().ep(), group_.get(), &message.it);
    check(n, "a group's receive");
    message.come = n == 1;
    if (!message.come) return false;
    handler_(rank_of(message.it.source),
             {static_cast<const std::byte*>(message.it.data), message.it.length});
    return true;
}

int Group::rank_of(fi_addr_t source) const {
    int rank = 0;
    while (messenger_.peer(rank) != source) ++rank;
    return rank;
}

} // namespace bench
