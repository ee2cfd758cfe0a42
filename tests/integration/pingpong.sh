# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Sourced: libfabric's fi_pingpong between two processes. Prints what the client prints.
# foreign_environment is set for both.
#
# shellcheck shell=bash

pingpong() { # DEVICE ITERATIONS OPTION...
    local device=$1 iterations=$2 port output server
    shift 2
    local command=(env "${foreign_environment[@]}" fi_pingpong -p odrc -d "$device" -e rdm -I "$iterations" "$@")
    port=$((20000 + RANDOM % 10000))
    output=$(mktemp)
    "${command[@]}" -B "$port" >"$output" 2>&1 &
    server=$!
    until ss -Hltn "sport = :$port" | grep -q .; do
        kill -0 $server 2>/dev/null || break
        sleep 0.1
    done
    if ! { "${command[@]}" -P "$port" 127.0.0.1 && wait $server; }; then
        kill $server 2>/dev/null
        echo "fi_pingpong failed; its server said: $(<"$output")" >&2
        rm "$output"
        return 1
    fi
    rm "$output"
}
