#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Small runs of the programs of bench/patterns: distributed shared memory, calls, updates in total
# order, and one-way jobs. Each compares its result with that of one process. Which way updates go,
# the number of messages tells: one each to a group, or one each to every other process.

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
pattern_steps -i 20 -s 4096
pattern_steps -i 20 -s 4096 --order fetch-add
puzzle -m 40 -j 4
puzzle -m 40 -j 64
END
done

figure() { # NAME
    awk -v name="$1" '$1 == name { print $2 }' "$scratch/out"
}

updates() { # ORDER PROCESSES MESSAGES: of each update
    "$ODRC_BUILD/leq" -d "$device" -n "$2" -e 64 --order "$1" >"$scratch/out"
    local expected=$(($(figure iterations) * 2 * $2 * $3))
    (($(figure messages) == expected)) ||
        fail "$1, $2 processes: $(figure messages) messages in place of $expected"
}

for processes in 3 4; do
    updates auto $processes 1
    updates multicast $processes 1
    updates fetch-add $processes $((processes - 1))
done

# Longer than a group takes: messages of their own, if that is what the program asks for.
"$ODRC_BUILD/pattern_steps" -d "$device" -i 20 -s 65536
! "$ODRC_BUILD/pattern_steps" -d "$device" -i 20 -s 65536 --order multicast 2>"$scratch/refused" ||
    fail "there is an order of longer messages than groups take"
grep -q "no groups" "$scratch/refused"
