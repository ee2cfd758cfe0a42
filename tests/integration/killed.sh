#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Queue pairs that are killed at random, from outside and under load: nothing is lost, doubled or
# overtaken.

. "$(dirname "$0")/lib.sh"

[[ $device != soft0 ]] || skip "libibverbs does not know its queue pairs; see breaks.sh"

killed() { # PROGRAM OPTION...
    LD_PRELOAD=$ODRC_BUILD/.libs/dying_queues.so KILL_EVERY=250 FI_ODRC_PROFILE=$scratch/$1 \
        "$ODRC_BUILD/$1" -d "$device" --seed $RANDOM "${@:2}"
    replaced=$(profile_sum "$scratch/$1" connections_replaced)
    ((replaced > 0)) || fail "no connection broke"
    dropped=$(profile_sum "$scratch/$1" repeats_dropped)
    echo "$replaced connections replaced, $dropped frames came twice"
}

killed odrc_traffic -m 2000 -s 5000
killed odrc_mixture -o 300
