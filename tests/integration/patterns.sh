#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Small runs of the programs of bench/patterns: distributed shared memory, calls, updates in total
# order, and one-way jobs. Each compares its result with that of one process.

. "$(dirname "$0")/lib.sh"

for processes in 2 4; do
    while read -r program options; do
        # shellcheck disable=SC2086 # they are several words
        "$ODRC_BUILD/$program" -d "$device" -n "$processes" $options
    done <<END
barnes -b 128 -s 2
radix -k 2000
awari --positions 5000 -u 16
leq -e 64
puzzle -m 40 -j 4
puzzle -m 40 -j 64
END
done
