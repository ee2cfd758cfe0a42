#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Programs whose processes all connect by their addresses, as tests/integration/test_all_to_all.cpp
# has it for endpoints: what they do is right, and where nobody leaves no datagram is sent.

. "$(dirname "$0")/lib.sh"
. "$here/hpcc.sh"
. "$here/mpirun.sh"
export FI_ODRC_CONNECT=all

# The counters of connections are those of who talks to whom, as on demand.
expect() { # PATTERN CONNECTIONS
    local profile=$scratch/$1 file
    FI_ODRC_PROFILE=$profile "$ODRC_BUILD/odrc_patterns" -d "$device" -n 16 "$1"
    for file in "$profile".*; do
        grep -q "\"connections_made\":$2," "$file" || fail "$1: not $2 connections: $(<"$file")"
        grep -q '"published_bytes":64,' "$file" || fail "$1: its address is not of our format"
    done
    # A goodbye to each is all that there is to say.
    (($(profile_sum "$profile" wireup_datagrams) <= 16 * $2)) ||
        fail "$1: $(profile_sum "$profile" wireup_datagrams) datagrams"
    echo "$1: $2 connections each"
}

expect idle 0
expect ring 2
expect alltoall 15

scale=1
[[ $ODRC_SANITIZER == no ]] || scale=5
[[ $device == soft0 ]] || scale=20

# With room for all, for just as many as there are processes, and for none but those who talk.
for most in 100 8 3; do
    export FI_ODRC_MAX_QP=$most
    "$ODRC_BUILD/odrc_mixture" -d "$device" -o $((1000 / scale)) --seed $RANDOM
    "$ODRC_BUILD/odrc_traffic" -d "$device" -m $((10000 / scale)) -s 20000 --seed $RANDOM
done
unset FI_ODRC_MAX_QP

command -v mpirun NPopenmpi hpcc >/dev/null || exit 0
[[ ${foreign_environment[*]} != impossible ]] || exit 0
run=$scratch/run
mkdir "$run"
cd "$run"
ranks=2
[[ $device != soft0 ]] || ranks=4
hpcc_input "$ranks" 100 >hpccinf.txt
FI_ODRC_PROFILE=$scratch/hpcc on_one_host "$ranks" "${over_mtl[@]}" \
    env "${foreign_environment[@]}" hpcc
hpcc_passed hpccoutf.txt || fail "hpcc did not pass: $(tail -n 100 hpccoutf.txt)"
went_through_us "$scratch/hpcc" "$ranks" messages_sent
[[ $(profile_sum "$scratch/hpcc" published_bytes) == $((64 * ranks)) ]] ||
    fail "Open MPI has not published addresses of our format"
