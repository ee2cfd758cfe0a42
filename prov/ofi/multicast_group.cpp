// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/multicast_group.hpp"

#include "base/log.hpp"
#include "ofi/av_set.hpp"
#include "ofi/calls.hpp"
#include "ofi/event_queue.hpp"

namespace odrc::ofi {
namespace {

fi_ops group_fid_ops = plain_ops<MulticastGroup>();

} // namespace

MulticastGroup::MulticastGroup(Endpoint& endpoint, EventQueue& events, const AvSet& members,
                               void* context)
    : fid_mc{}
    , on_endpoint_{endpoint.leaning}
    , endpoint_{endpoint}
    , events_{events} {
    fid = {.fclass = FI_CLASS_MC, .context = context, .ops = &group_fid_ops};
    const auto numbers = members.numbers();
    const Entry entry{endpoint_.gate()};
    const int error = endpoint_.collectives().join(numbers, *this, fi_addr);
    if (!error) return;
    ODRC_WARN(FI_LOG_EP_CTRL, "a set of {} addresses cannot be joined: {}", numbers.size(),
              fi_strerror(-error));
    throw Error{-error};
}

MulticastGroup::~MulticastGroup() {
    const Entry entry{endpoint_.gate()};
    endpoint_.collectives().leave(fi_addr);
}

void MulticastGroup::joined(int error) noexcept {
    const int told = guarded([&] {
        if (error) {
            fi_eq_err_entry entry{};
            entry.fid = &fid;
            entry.context = fid.context;
            entry.err = error;
            entry.prov_errno = error;
            events_.push_error(entry);
        } else {
            events_.push(FI_JOIN_COMPLETE, {.fid = &fid, .context = fid.context, .data = 0});
        }
        return 0;
    });
    if (told) ODRC_WARN(FI_LOG_EQ, "no memory for the event of a join");
}

// addr is a fi_collective_addr: groups that are not for collectives there are none.
int join_group(fid_ep* f, const void* addr, uint64_t flags, fid_mc** group, void* context) {
    if (!(flags & FI_COLLECTIVE)) return -FI_ENOSYS;
    if (flags != FI_COLLECTIVE) return -FI_EINVAL;
    Endpoint& ep = endpoint(f);
    if (!ep.offers(FI_COLLECTIVE)) return -FI_EOPNOTSUPP;
    if (!ep.enabled()) return -FI_EOPBADSTATE;
    if (!ep.events()) return -FI_ENOEQ;
    const auto* asked = static_cast<const fi_collective_addr*>(addr);
    if (!asked || !asked->set) return -FI_EINVAL;
    // The application would be in charge of the group, by a key that means nothing here.
    if (asked->coll_addr == FI_ADDR_NOTAVAIL) return -FI_ENOSYS;
    const auto& members = static_cast<const AvSet&>(*asked->set);
    if (&members.addresses() != ep.addresses()) return -FI_EINVAL;
    if (asked->coll_addr != members.address()) {
        const Entry entry{ep.gate()};
        if (!ep.collectives().has_group(asked->coll_addr)) return -FI_EINVAL;
    }
    return create<MulticastGroup>(group, ep, *ep.events(), members, context);
}

} // namespace odrc::ofi
