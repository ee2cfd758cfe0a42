#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Connections are made where there is talk, and nowhere else.

. "$(dirname "$0")/lib.sh"

# Each of 16 processes makes that many.
expect() { # PATTERN CONNECTIONS
    local profile=$scratch/$1 file
    FI_ODRC_PROFILE=$profile "$ODRC_BUILD/odrc_patterns" -d "$device" -n 16 "$1"
    [[ $(cat "$profile".* | wc -l) == 16 ]] || fail "$1: not 16 profiles"
    for file in "$profile".*; do
        grep -q "\"connections_made\":$2," "$file" || fail "$1: not $2 connections: $(<"$file")"
    done
    echo "$1: $2 connections each"
}

expect idle 0
expect ring 2
expect barrier 4
expect alltoall 15
