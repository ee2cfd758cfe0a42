#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Connections are made where there is talk, and nowhere else.

. "$(dirname "$0")/lib.sh"

ranks=16 doublings=4
[[ $device == soft0 ]] || ranks=8 doublings=3 # it may be an emulated one

# All processes together make that many, each counted at both ends.
expect_in_all() { # PATTERN CONNECTIONS [PROCESSES]
    local profile=$scratch/$1 made
    FI_ODRC_PROFILE=$profile "$ODRC_BUILD/odrc_patterns" -d "$device" -n "${3-$ranks}" "$1"
    made=$(profile_sum "$profile" connections_made)
    [[ $made == "$2" ]] || fail "$1: $made connections, not $2"
    echo "$1: $2 connections in all"
}

# Each of all processes makes that many.
expect() { # PATTERN CONNECTIONS
    local profile=$scratch/$1 file
    FI_ODRC_PROFILE=$profile "$ODRC_BUILD/odrc_patterns" -d "$device" -n "$ranks" "$1"
    [[ $(cat "$profile".* | wc -l) == "$ranks" ]] || fail "$1: not $ranks profiles"
    for file in "$profile".*; do
        grep -q "\"connections_made\":$2," "$file" || fail "$1: not $2 connections: $(<"$file")"
    done
    echo "$1: $2 connections each"
}

expect idle 0
expect ring 2
expect barrier $doublings
expect alltoall $((ranks - 1))
expect_in_all bcast $((2 * ranks - 2))

[[ $device == soft0 ]] || exit 0 # what follows differs in the pattern alone
expect allreduce 4
expect allgather 4
expect is 15
expect_in_all cg 76
expect_in_all mg 80
expect bt 8
[[ $ODRC_SANITIZER == no ]] || exit 0
expect_in_all gather 126 64 # all first talk to the same one
