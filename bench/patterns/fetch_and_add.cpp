// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Each broadcast has a number, which its sender fetches from a word at member 0, and goes to all
// in a message of its own. Receivers put them in order.

#include "bench/patterns/total_order.hpp"

#include <map>
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>

namespace bench {
namespace {

using fabtests_ext::check;

class FetchAndAdd : public TotalOrder {
public:
    FetchAndAdd(Messenger& messenger, Handler handler)
        : messenger_{messenger}
        , handler_{std::move(handler)} {
        fid_mr* region = nullptr;
        check(fi_mr_reg(messenger.endpoint().domain(), &word_, sizeof word_,
                        FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &region, nullptr),
              "fi_mr_reg");
        region_.reset(region);
        const int mode = messenger.endpoint().info().domain_attr->mr_mode;
        const auto at = mode & FI_MR_VIRT_ADDR ? reinterpret_cast<uintptr_t>(&word_) : 0;
        at_ = messenger.team().numbers(at)[0];
        key_ = messenger.team().numbers(fi_mr_key(region))[0];
        messenger.on(Kind::ordered, [this](int from, Bytes body) {
            const auto number = take<uint64_t>(body);
            early_.emplace(number, Broadcast{from, {body.begin(), body.end()}});
            deliver();
        });
    }

    void broadcast(Bytes bytes) override {
        const uint64_t number = next_number();
        for (int to = 0; to < messenger_.size(); ++to)
            messenger_.send(to, Kind::ordered, {bytes_of(number), bytes});
    }

private:
    struct Broadcast {
        int from;
        std::vector<std::byte> bytes;
    };

    uint64_t next_number() {
        const uint64_t one = 1;
        uint64_t number = 0;
        Messenger::Operation operation;
        fabtests_ext::insist(messenger_.endpoint(), "fi_fetch_atomic", [&] {
            return fi_fetch_atomic(messenger_.endpoint().ep(), &one, 1, nullptr, &number, nullptr,
                                   messenger_.peer(0), at_, key_, FI_UINT64, FI_SUM,
                                   operation.context());
        });
        messenger_.wait_until([&] { return operation.done(); });
        return number;
    }

    void deliver() {
        for (auto it = early_.begin(); it != early_.end() && it->first == next_; ++next_) {
            handler_(it->second.from, it->second.bytes);
            it = early_.erase(it);
        }
    }

    Messenger& messenger_;
    Handler handler_;
    uint64_t word_{0}; // that of member 0 is used
    fabtests_ext::Owned<fid_mr> region_;
    uint64_t at_{0}, key_{0};
    uint64_t next_{0};
    std::map<uint64_t, Broadcast> early_;
};

} // namespace

std::unique_ptr<TotalOrder> order_by_fetch_and_add(Messenger& messenger,
                                                   TotalOrder::Handler handler) {
    return std::make_unique<FetchAndAdd>(messenger, std::move(handler));
}

} // namespace bench
