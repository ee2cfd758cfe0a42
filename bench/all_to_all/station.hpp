// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/watchdog.hpp"
#include "ondemand/native_address.hpp"
#include "softrc/device.hpp"
#include "verbs_rc/creation.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace bench {

// The queue pairs of one endpoint, made as the provider makes them.
class Station {
public:
    Station()
        : device_{odrc::soft::make_soft_device()}
        , adapter_{*device_, odrc::Gate::Kind::many_threads, watchdog_}
        , cq_{adapter_.context(), adapter_.context().create_cq(2304, nullptr, nullptr)} {
        ibv_srq_init_attr init{};
        init.attr = {.max_wr = 256, .max_sge = 1, .srq_limit = 0};
        srq_ = {adapter_.context(), adapter_.context().create_srq(adapter_.pd(), &init)};
        if (!cq_ || !srq_) throw std::bad_alloc{};
    }
    Station(const Station&) = delete;
    Station& operator=(const Station&) = delete;

    const odrc::verbs::Port& port() const { return adapter_.port(); }
    void create(size_t count, size_t threads) {
        odrc::verbs::create({adapter_, cq_.get(), srq_.get(), {128, 4}, kAccess}, count, threads,
                            made_);
        order_.resize(made_.size());
        std::iota(order_.begin(), order_.end(), size_t{0});
        std::ranges::sort(order_, {}, [&](size_t i) { return made_[i].number(); });
    }
    // In order.
    std::vector<uint32_t> numbers() const {
        std::vector<uint32_t> numbers;
        for (const auto& qp : made_) numbers.push_back(qp.number());
        std::ranges::sort(numbers);
        return numbers;
    }
    // Connects the one at that place, in the order of their numbers.
    void connect(size_t place, uint32_t remote) {
        auto address = odrc::verbs::local_address(port());
        address.qpn = remote;
        if (made_[order_[place]].connect(address)) throw std::runtime_error{"no connection"};
    }
    odrc::ondemand::NativeAddress address() const {
        const auto local = odrc::verbs::local_address(port());
        sockaddr_in any{};
        any.sin_family = AF_INET;
        return {.socket = *odrc::ondemand::Address::from(&any, sizeof any),
                .lid = local.lid,
                .mtu = local.mtu,
                .rd_atomic = local.rd_atomic,
                .gid = local.gid};
    }
    void clear() { made_.clear(); }

private:
    static constexpr int kAccess = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;

    odrc::Watchdog watchdog_;
    std::unique_ptr<odrc::verbs::Device> device_;
    odrc::verbs::Adapter adapter_;
    odrc::verbs::Cq cq_;
    odrc::verbs::Srq srq_;
    std::vector<odrc::verbs::QueuePair> made_;
    std::vector<size_t> order_;
};

} // namespace bench
