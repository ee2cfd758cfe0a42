// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Messages to all of a team at once, by groups of the odrc provider (rdma/fi_odrc.h), which are a
// messenger's other way in.

#include "bench/patterns/messenger.hpp"
#include "prov/ofi/fi_odrc.h"

#include <rdma/fi_collective.h>

namespace bench {

class Group {
public:
    // May send, but not wait.
    using Handler = std::function<void(int from, Bytes)>;

    // Whether the messenger's endpoint has groups, for messages of so many bytes.
    static bool carries(Messenger& messenger, size_t bytes);

    // All of the team make it, and handle all messages before they end it.
    Group(Messenger& messenger, Handler handler);
    ~Group();
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    // flags: FI_ODRC_ORDERED, or 0. Does not wait until it has come anywhere.
    void send(Bytes bytes, uint64_t flags);

private:
    struct Lent;

    bool handle_one();
    int rank_of(fi_addr_t source) const;

    Messenger& messenger_;
    Handler handler_;
    fi_odrc_multicast_ops* ops_;
    fabtests_ext::Owned<fid_av_set> set_;
    fabtests_ext::Owned<fid_mc> group_;
};

} // namespace bench
