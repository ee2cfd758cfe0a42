# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Sourced by intranode and run: the two processors that a pair of processes has, and programs that
# are a server and its client.
#
# shellcheck shell=bash disable=SC2154 # set by who sources it: scheduler, scratch

# The first two processors that this process may use.
mapfile -t processors < <(
    sed -n 's/^Cpus_allowed_list:\s*//p' /proc/self/status | tr , '\n' |
        while IFS=- read -r from to; do seq "$from" "${to:-$from}"; done | head -n 2
)
first=${processors[0]} second=${processors[1]:-${processors[0]}}

# A server, and once it listens its client, each on its processor. Prints what the client prints.
# The port's place in the commands is the word PORT.
served() { # SERVER-COMMAND... -- CLIENT-COMMAND...
    local port=$((20000 + SRANDOM % 10000)) server=() pid
    while [[ $1 != -- ]]; do
        server+=("${1/#PORT/$port}")
        shift
    done
    shift
    taskset -c "$first" timeout 60 "${scheduler[@]}" "${server[@]}" >>"$scratch/log" 2>&1 &
    pid=$!
    until ss -Hltn "sport = :$port" | grep -q .; do
        kill -0 $pid 2>/dev/null || return 0
        sleep 0.1
    done
    taskset -c "$second" timeout 60 "${scheduler[@]}" "${@/#PORT/$port}" 2>>"$scratch/log" || true
    kill $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
}
