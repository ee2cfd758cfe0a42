#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# With fewer queue pairs than peers nothing is lost or overtaken, and as few connections are given
# up as may be; also when the network loses, doubles and delays what makes and ends them.

. "$(dirname "$0")/lib.sh"

# The least and the most of a counter in the profiles written below a path.
range() { # PATH COUNTER
    cat "$1".* | sed -n "s/.*\"$2\":\([0-9]*\).*/\1/p" | sort -n | sed -n '1p;$p' | tr '\n' ' '
}

# All of 16 processes have so many connections at a time, and give up none, or some.
expect() { # PATTERN QUEUE-PAIRS CONNECTIONS none|some
    local profile=$scratch/$1-$2 evicted
    FI_ODRC_PROFILE=$profile FI_ODRC_MAX_QP=$2 \
        "$ODRC_BUILD/odrc_patterns" -d "$device" -n 16 "$1"
    [[ $(range "$profile" connections_peak) == "$3 $3 " ]] ||
        fail "$1: not $3 connections at a time, but $(range "$profile" connections_peak)"
    evicted=$(profile_sum "$profile" connections_evicted)
    [[ $4 == none && $evicted == 0 || $4 == some && $evicted != 0 ]] ||
        fail "$1 with $2 queue pairs: $evicted connections were given up"
    echo "$1 with $2 queue pairs: $evicted of $(profile_sum "$profile" connections_made) given up"
}

expect ring 2 2 none
expect barrier 4 4 none
expect alltoall 4 4 some

scale=1
[[ $ODRC_SANITIZER == no ]] || scale=5
[[ $device == soft0 ]] || scale=20

FI_ODRC_MAX_QP=1 ODRC_TEST_DOMAIN=$device "$ODRC_BUILD/contract_tests" \
    -tc='what was injected arrives*though the program does not come back,what a program waits*'

FI_ODRC_PROFILE=$scratch/peers FI_ODRC_MAX_QP=16 \
    "$ODRC_BUILD/odrc_peers" -d "$device" -n $((600 / scale)) -r 3
most=$(range "$scratch/peers" connections_peak)
[[ $most == *' 16 ' ]] || fail "with 16 queue pairs: $most connections at a time"

for most in 1 2 3; do
    export FI_ODRC_MAX_QP=$most
    "$ODRC_BUILD/odrc_mixture" -d "$device" -o $((1000 / scale)) --seed $RANDOM
    "$ODRC_BUILD/odrc_traffic" -d "$device" -m $((10000 / scale)) -s 20000 --seed $RANDOM
done

[[ $ODRC_SANITIZER == no ]] || exit 0 # it wants to be preloaded first itself
for most in 1 3 100; do
    LD_PRELOAD=$ODRC_BUILD/.libs/lossy_network.so FI_ODRC_MAX_QP=$most \
        "$ODRC_BUILD/odrc_traffic" -d "$device" -n 6 -m $((2000 / scale)) -s 5000 --seed $RANDOM
done
