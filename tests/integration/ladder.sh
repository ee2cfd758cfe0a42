#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Peers begin by datagrams, and earn connections: random traffic with as many queue pairs as are
# wanted, with fewer, so that they are given up again, and where both datagrams and connections
# fail; who has no datagrams is met all the same; and a few words make no connection.

. "$(dirname "$0")/lib.sh"

scale=1
[[ $ODRC_SANITIZER == no ]] || scale=10
[[ $device == soft0 ]] || scale=40
export FI_ODRC_RELIABILITY=ladder FI_ODRC_PROFILE=$scratch/profile

count() { profile_sum "$scratch/profile" "$1"; }
traffic() { # OPTION...
    rm -f "$scratch"/profile.*
    "$ODRC_BUILD/odrc_traffic" -d "$device" --seed $RANDOM "$@"
    "$ODRC_BUILD/odrc_mixture" -d "$device" --seed $RANDOM -o $((1000 / scale))
    for name in promotions demotions connections_replaced packets_repeated; do
        echo "  $name: $(count "$name")"
    done
}

traffic -m $((5000 / scale))
(($(count promotions) > 0)) || fail "nobody was promoted"
FI_ODRC_MAX_QP=2 traffic -m $((2000 / scale))
(($(count demotions) > 0)) || fail "no queue pair was for another"

if [[ $ODRC_FAULTS ]]; then
    for one_in in 500 50; do
        ODRC_FAULT_LOST=$one_in ODRC_FAULT_UNACKNOWLEDGED=$one_in traffic -m 300
    done
    (($(count connections_replaced) > 0)) || fail "no lane broke"
fi

# A few words to each: none is worth a queue pair, and who has datagrams only is in no one's way.
rm -f "$scratch"/profile.*
"$ODRC_BUILD/odrc_patterns" -d "$device" -n 8 alltoall
(($(count connections_made) == 0)) || fail "$(count connections_made) connections for a few words"
(($(count peers) == 8 * 7)) || fail "$(count peers) peers, not all of all"

# One has datagrams, the other has not.
export ODRC_TEST_DOMAIN=$device
unset FI_ODRC_PROFILE
for both in "ladder nic" "nic ladder"; do
    read -r here there <<<"$both"
    port=$((20000 + RANDOM % 10000))
    pingpong=(env "${foreign_environment[@]}" fi_pingpong -p odrc -e rdm -d "$device" -I 10)
    FI_ODRC_RELIABILITY=$here "${pingpong[@]}" -B $port >"$scratch/server" 2>&1 &
    server=$!
    until ss -Hltn "sport = :$port" | grep -q .; do
        kill -0 $server || fail "no server: $(cat "$scratch/server")"
        sleep 0.1
    done
    FI_ODRC_RELIABILITY=$there timeout 60 "${pingpong[@]}" -P $port 127.0.0.1 >"$scratch/client" 2>&1 ||
        fail "$here and $there do not connect: $(cat "$scratch/client")"
    wait "$server"
done
[[ -x $ODRC_BUILD/contract_tests && $device == soft0 && $ODRC_SANITIZER == no ]] || exit 0
"$ODRC_BUILD/contract_tests" --test-suite-exclude=silence --test-case-exclude='*put off*' \
    --source-file='*test_messages.cpp,*test_orders.cpp,*test_rma*.cpp,*test_flow_control.cpp,*test_peers.cpp,*test_collectives.cpp'
