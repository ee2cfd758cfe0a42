// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ondemand/station.hpp"

#include "base/error.hpp"
#include "base/log.hpp"

#include <algorithm>
#include <fcntl.h>

namespace odrc::ondemand {
namespace {

// Of receives that are not shared there are as many as lanes: some thousand have room.
constexpr uint32_t kOwnReceives = 1024 * verbs::kOwnReceives;

uint32_t receives_of(const verbs::Port& port, const Station::Sizes& sizes) noexcept {
    if (sizes.common) return sizes.receives.most;
    return std::min(kOwnReceives, static_cast<uint32_t>(port.device_attr.max_cqe) / 2);
}

uint32_t completions_of(const verbs::Port& port, const Station::Sizes& sizes) noexcept {
    return std::min(receives_of(port, sizes) + sizes.work_requests,
                    static_cast<uint32_t>(port.device_attr.max_cqe));
}

verbs::Channel make_channel(verbs::Adapter& adapter, bool needed) {
    if (!needed) return {};
    verbs::Channel channel{adapter.context(), adapter.context().create_comp_channel()};
    if (!channel || fcntl(channel->fd, F_SETFL, O_NONBLOCK)) {
        ODRC_WARN(FI_LOG_EP_CTRL, "{}: no completion channel: {}", adapter.port().name(),
                  fi_strerror(errno));
        throw Error{errno};
    }
    return channel;
}

verbs::Cq make_cq(verbs::Adapter& adapter, uint32_t entries, ibv_comp_channel* channel) {
    verbs::Cq cq{adapter.context(),
                 adapter.context().create_cq(static_cast<int>(entries), nullptr, channel)};
    if (!cq) {
        ODRC_WARN(FI_LOG_EP_CTRL, "{}: no completion queue of {}: {}", adapter.port().name(),
                  entries, fi_strerror(errno));
        throw Error{errno};
    }
    return cq;
}

} // namespace

Station::Station(verbs::Adapter& adapter, verbs::Adapter& memory, Counters& counters,
                 const Sizes& sizes, RingLanes& rings, bool waitable, Place place)
    : adapter_{adapter}
    , memory_{memory}
    , counters_{counters}
    , rings_{rings}
    , place_{place}
    , rnr_before_{adapter.context().rnr_naks()}
    , work_requests_{completions_of(adapter.port(), sizes) - receives_of(adapter.port(), sizes)}
    , channel_{make_channel(adapter, waitable)}
    , cq_{make_cq(adapter, work_requests_ + receives_of(adapter.port(), sizes), channel_.get())}
    , for_datagrams_{counters, adapter.context().bytes_for_datagrams(*cq_.get())}
    , called_{adapter.context().called(*cq_.get())}
    , shares_{sizes.common ? sizes.receives.least : verbs::kOwnReceives, sizes.common} {
    adapter.context().count_packets(*cq_.get(), counters);
    if (sizes.common)
        receives_.emplace(adapter, counters, sizes.frame_bytes, sizes.receives);
    else
        own_.emplace(adapter, counters, sizes.frame_bytes, size_t{verbs::kOwnReceives});
}

void Station::arm() noexcept {
    ibv_cq* cq = nullptr;
    void* context = nullptr;
    while (adapter_.context().get_cq_event(channel_.get(), &cq, &context) == 0)
        adapter_.context().ack_cq_events(cq, 1);
    ibv_req_notify_cq(cq_.get(), 0);
}

} // namespace odrc::ondemand
