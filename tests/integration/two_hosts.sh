#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Two emulated hosts and what is between them: first a storm of first words, and traffic, while one
# packet in ten is lost, datagrams and the connections' own; then a link that goes down for longer
# than the device tries. Every message comes once, intact and in order.

. "$(dirname "$0")/lib.sh"

if [[ ! ${RDMA_VM_PEER-} ]]; then
    [[ $device == soft0 ]] || skip "it makes its own devices"
    [[ $ODRC_SANITIZER == no ]] || skip "emulated and sanitized is too slow"
    unset FI_ODRC_DEVICE
    exec "$here/../rdma_vm/run" --pair --env ODRC_BUILD --env ODRC_SANITIZER "$here/two_hosts.sh"
fi

export FI_ODRC_DEVICE=rxe0
half=(--listen)
[[ $RDMA_VM_NODE == 1 ]] || half=(--connect "$RDMA_VM_PEER")

traffic() { # NAME [OPTION]...
    FI_ODRC_PROFILE=$scratch/$1 "$ODRC_BUILD/odrc_traffic" -d rxe0 "${half[@]}" "${@:2}"
    made=$(profile_sum "$scratch/$1" connections_made)
    replaced=$(profile_sum "$scratch/$1" connections_replaced)
    datagrams=$(profile_sum "$scratch/$1" wireup_datagrams)
    echo "$1: $made connections made, $replaced of them replaced others; $datagrams datagrams"
}

packets() {
    cat /sys/class/infiniband/rxe0/ports/1/hw_counters/rcvd_pkts
}

tc qdisc add dev eth0 root netem loss 10%
traffic storm -n 16 -m 1500 -s 20000
tc -s qdisc show dev eth0 | grep dropped
tc qdisc del dev eth0 root

# Before all that waits for a processor here: in a busy machine three seconds became fifteen, after
# which peers are given up.
flap() {
    local before down
    chrt --fifo --pid 1 "$BASHPID"
    before=$(packets)
    until (($(packets) > before + 1000)); do sleep 0.1; done
    ip link set eth0 down
    down=$SECONDS
    sleep 3
    ip link set eth0 up
    echo "the link was down for $((SECONDS - down)) s"
}

[[ $RDMA_VM_NODE != 1 ]] || flap &
traffic flap -n 8 -m 20000 -s 20000
((replaced > 0)) || fail "no connection broke"
wait
