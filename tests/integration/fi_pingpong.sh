#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# libfabric's own fi_pingpong between two processes, with its check of the data.

. "$(dirname "$0")/lib.sh"
need fi_pingpong ss

port=$((20000 + RANDOM % 10000))
iterations=200
pingpong() { # OPTION...
    local options=(-p odrc -d "$device" -e rdm -I "$iterations" "$@")
    port=$((port + 1))
    foreign fi_pingpong "${options[@]}" -B "$port" >"$scratch/server" 2>&1 &
    local server=$!
    until ss -Hltn "sport = :$port" | grep -q .; do
        kill -0 $server 2>/dev/null || fail "the server ended: $(<"$scratch/server")"
        sleep 0.1
    done
    foreign fi_pingpong "${options[@]}" -P "$port" 127.0.0.1 | tee "$scratch/client"
    wait $server || fail "the server failed: $(<"$scratch/server")"
    # A line for each size, the last of them a megabyte.
    tail -n 1 "$scratch/client" | grep -q '^1m ' || fail "not all sizes were run"
}

export FI_ODRC_PROFILE=$scratch/profile
pingpong
iterations=20
pingpong -v
pingpong -v -m tagged
[[ $(profile_sum "$scratch/profile" messages_sent) -gt 2400 ]] || fail "the profile counts less"
