#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Messages, writes and reads in random mixture and random pieces, from different seeds.

. "$(dirname "$0")/lib.sh"

scale=1
[[ $ODRC_SANITIZER == no ]] || scale=10
[[ $device == soft0 ]] || scale=20
"$ODRC_BUILD/odrc_mixture" -d "$device" -o $((2000 / scale)) --seed $RANDOM
"$ODRC_BUILD/odrc_mixture" -d "$device" -o $((4000 / scale)) -s 12000 --seed $RANDOM
