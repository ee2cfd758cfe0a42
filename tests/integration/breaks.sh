#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Connections that break at random, before or after what goes over them has come: nothing is lost,
# doubled or overtaken.

. "$(dirname "$0")/lib.sh"

[[ $device == soft0 && -n $ODRC_FAULTS ]] || skip "the device cannot be made to fail"

scale=1
[[ $ODRC_SANITIZER == no ]] || scale=5

for fault in LOST UNACKNOWLEDGED; do
    export ODRC_FAULT_$fault=200
    for kind in ondemand/0 ondemand/2 all/0; do
        export FI_ODRC_CONNECT=${kind%/*} FI_ODRC_MAX_QP=${kind#*/}
        export FI_ODRC_PROFILE=$scratch/$fault-${kind%/*}-${kind#*/}
        "$ODRC_BUILD/odrc_traffic" -d "$device" -m $((10000 / scale)) -s 20000 --seed $RANDOM
        "$ODRC_BUILD/odrc_mixture" -d "$device" -o $((1000 / scale)) --seed $RANDOM
        replaced=$(profile_sum "$FI_ODRC_PROFILE" connections_replaced)
        dropped=$(profile_sum "$FI_ODRC_PROFILE" repeats_dropped)
        ((replaced > 0)) || fail "no connection broke"
        echo "$replaced connections replaced, $dropped frames came twice"
    done
    unset ODRC_FAULT_$fault
done
