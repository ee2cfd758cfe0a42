#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# libfabric's own fi_pingpong between two processes, with its check of the data.

. "$(dirname "$0")/lib.sh"
. "$here/pingpong.sh"
need fi_pingpong ss
foreign true

checked() { # ITERATIONS OPTION...
    pingpong "$device" "$@" | tee "$scratch/client"
    # A line for each size, the last of them a megabyte.
    tail -n 1 "$scratch/client" | grep -q '^1m ' || fail "not all sizes were run"
}

export FI_ODRC_PROFILE=$scratch/profile
checked 200
checked 20 -v
checked 20 -v -m tagged
[[ $(profile_sum "$scratch/profile" messages_sent) -gt 2400 ]] || fail "the profile counts less"
