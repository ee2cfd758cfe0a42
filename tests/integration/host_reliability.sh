#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Connections that the processes keep themselves, over the device's datagrams: what libfabric's man
# pages promise, random traffic, the same where datagrams are lost and come twice, and that there
# are none between one that has such and one that has not.

. "$(dirname "$0")/lib.sh"

scale=1
[[ $ODRC_SANITIZER == no ]] || scale=10
[[ $device == soft0 ]] || scale=40
export FI_ODRC_RELIABILITY=host FI_ODRC_PROFILE=$scratch/profile

traffic() { # OPTION...
    rm -f "$scratch"/profile.*
    "$ODRC_BUILD/odrc_traffic" -d "$device" --seed $RANDOM "$@"
    "$ODRC_BUILD/odrc_mixture" -d "$device" --seed $RANDOM -o $((1000 / scale))
    for count in packets_{sent,received,repeated,doubled,kept,early,stray,malformed} acknowledgements; do
        echo "  $count: $(profile_sum "$scratch/profile" "$count")"
    done
}
traffic -m $((5000 / scale))
(($(profile_sum "$scratch/profile" acknowledgements) > 0)) || fail "no packet was acknowledged"

if [[ $ODRC_FAULTS ]]; then
    for one_in in 500 20; do
        ODRC_FAULT_LOST=$one_in ODRC_FAULT_UNACKNOWLEDGED=$one_in traffic -m 300
        for count in repeated doubled kept; do
            (($(profile_sum "$scratch/profile" packets_$count) > 0)) || fail "none was $count"
        done
    done
fi

# So much data has a packet: the same data takes more of them.
packets() { # MTU
    rm -f "$scratch"/profile.*
    FI_ODRC_MTU=$1 "$ODRC_BUILD/odrc_latency" -d "$device" -s 65536 -b 1 -i 10 >"$scratch/latency"
    profile_sum "$scratch/profile" packets_sent
}
large=$(packets 4096)
small=$(packets 256)
echo "packets: $large of 4096 bytes, $small of 256"
((small > 8 * large)) || fail "FI_ODRC_MTU does not make them smaller"

# One has packets of another size, or what the other has not.
export ODRC_TEST_DOMAIN=$device
unset FI_ODRC_PROFILE
port=$((20000 + RANDOM % 10000))
pingpong=(env "${foreign_environment[@]}" fi_pingpong -p odrc -e rdm -d "$device" -I 10)
serve() { # VARIABLE=VALUE...
    env "$@" "${pingpong[@]}" -B $port >"$scratch/server" 2>&1 &
    server=$!
    until ss -Hltn "sport = :$port" | grep -q .; do
        kill -0 $server || fail "no server: $(cat "$scratch/server")"
        sleep 0.1
    done
}
serve FI_ODRC_MTU=256
FI_ODRC_MTU=2048 timeout 60 "${pingpong[@]}" -P $port 127.0.0.1 >"$scratch/client" 2>&1 ||
    fail "no messages between those of different MTUs: $(cat "$scratch/client")"
wait $server
((++port))
serve
ends_saying 'it has another FI_ODRC_RELIABILITY' "$scratch/client" \
    env FI_ODRC_RELIABILITY=nic FI_LOG_LEVEL=warn "${pingpong[@]}" -P $port 127.0.0.1 ||
    fail "two that do not keep it alike connect, or do not say why not: $(cat "$scratch/client")"
kill "$server" 2>"$scratch/kill" || true
wait "$server" || true

# What rests on connections; and neither what waits for the dead, which takes seconds each time, nor
# what counts on processes that make no progress, or mutexes: the provider's thread sleeps while it
# is not needed, and whoever wakes it by what he sends locks one of soft0's, as often as the machine's
# load has it.
# Emulated or sanitized, these take minutes.
[[ -x $ODRC_BUILD/contract_tests && $device == soft0 && $ODRC_SANITIZER == no ]] || exit 0
files=
for name in messages more orders multi_receive registrations collectives atomics atomic_order \
    device_atomics rma rma_errors rma_order rma_random closing auto_progress counters depths \
    waiting threading; do
    files+="*test_$name.cpp,"
done
"$ODRC_BUILD/contract_tests" --test-suite-exclude=silence \
    --test-case-exclude='*killed*,*put off*,*no mutex*' --source-file="${files%,}"
