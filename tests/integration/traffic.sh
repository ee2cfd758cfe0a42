#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Random traffic of eight processes, from different seeds: as much as fits into a test's time.

. "$(dirname "$0")/lib.sh"

scale=1
[[ $ODRC_SANITIZER == no ]] || scale=10
if [[ $device == soft0 ]]; then
    "$ODRC_BUILD/odrc_traffic" -d "$device" -m $((20000 / scale)) --seed $RANDOM
    "$ODRC_BUILD/odrc_traffic" -d "$device" -m $((100000 / scale)) -s 20000 --seed $RANDOM
else
    "$ODRC_BUILD/odrc_traffic" -d "$device" -m 1000 -s 200000 --seed $RANDOM
    "$ODRC_BUILD/odrc_traffic" -d "$device" -m 5000 -s 2000 --seed $RANDOM
fi
