#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Programs that were built against libibverbs, on soft0 through the preload library: the examples
# of rdma-core, perftest and qperf.

. "$(dirname "$0")/lib.sh"
[[ $device == soft0 ]] || skip "the preload library offers soft0 alone"
need ss ibv_{devices,devinfo,asyncwatch} ibv_{rc,srq,ud,uc,xsrq}_pingpong \
    ib_{send,write,read,atomic}_{lat,bw} qperf
foreign true

# The sanitizers' libraries, where there are any, come first.
libraries=$ODRC_BUILD/.libs/libodrc-verbs.so
for setting in "${foreign_environment[@]}"; do
    [[ $setting != LD_PRELOAD=* ]] || libraries="${setting#LD_PRELOAD=} $libraries"
done
preloaded=(env "${foreign_environment[@]}" LD_PRELOAD="$libraries" timeout 30)

# Until a server has its port, or has ended.
await() { # PID PORT
    until ss -Hltn "sport = :$2" | grep -q .; do
        kill -0 "$1" 2>/dev/null || break
        sleep 0.05
    done
}

# A program as server, and once more as its client.
pair() { # PROGRAM OPTION...
    local port=$((20000 + RANDOM % 10000)) server
    echo "$*"
    "${preloaded[@]}" "$@" -p $port >"$scratch/server" 2>&1 &
    server=$!
    await $server $port
    if ! { "${preloaded[@]}" "$@" -p $port 127.0.0.1 >"$scratch/client" 2>&1 && wait $server; }; then
        kill $server 2>/dev/null || true
        fail "$*: server: $(<"$scratch/server"); client: $(<"$scratch/client")"
    fi
}

# Of qperf: one server for all, which a last client ends. Each takes a second, the least there is.
perform() { # TEST...
    local port=$((20000 + RANDOM % 10000)) server
    echo "qperf $*"
    "${preloaded[@]}" qperf -lp $port >"$scratch/server" 2>&1 &
    server=$!
    await $server $port
    if ! { "${preloaded[@]}" qperf -lp $port -t 1 127.0.0.1 "$@" quit >"$scratch/client" 2>&1 &&
        wait $server; }; then
        kill $server 2>/dev/null || true
        fail "qperf: server: $(<"$scratch/server"); client: $(<"$scratch/client")"
    fi
}

refused() { # PROGRAM MESSAGE
    echo "$1: $2"
    ! "${preloaded[@]}" "$1" >"$scratch/out" 2>&1 || fail "$1 runs"
    grep -q "$2" "$scratch/out" || fail "$1: $(<"$scratch/out")"
}

# What there is.
list=$("${preloaded[@]}" ibv_devices)
[[ $(sed 1,2d <<<"$list" | awk '{ print $1 }') == soft0 ]] || fail "other than soft0: $list"
"${preloaded[@]}" ibv_devinfo >"$scratch/info"
grep -q 'PORT_ACTIVE' "$scratch/info" || fail "not active: $(<"$scratch/info")"
"${preloaded[@]}" ibv_devinfo -v >"$scratch/info"
grep -q 'GID\[  0\]' "$scratch/info" || fail "no GID: $(<"$scratch/info")"

"${preloaded[@]}" ibv_asyncwatch >"$scratch/watch" 2>&1 &
watch=$!
until grep -q 'async event FD' "$scratch/watch"; do
    kill -0 $watch 2>/dev/null || fail "ibv_asyncwatch: $(<"$scratch/watch")"
    sleep 0.05
done
kill $watch

# The examples check the data (-c). By LID and by GID, with and without events, old calls and new.
pair ibv_rc_pingpong -c -n 100
pair ibv_rc_pingpong -c -n 100 -e -g 0
pair ibv_rc_pingpong -c -n 100 -N
pair ibv_rc_pingpong -c -n 100 -o
pair ibv_srq_pingpong -c -n 100 -q 16
pair ibv_srq_pingpong -c -n 100 -q 16 -e
pair ibv_ud_pingpong -c -n 100
pair ibv_ud_pingpong -c -n 100 -e -g 0

# Two processes that poll share what processors there are: few iterations.
for verb in send write read atomic; do
    pair ib_${verb}_lat -F -n 50
    pair ib_${verb}_bw -F -n 200
done
pair ib_send_lat -F -n 50 --use-srq
pair ib_send_bw -F -n 200 --use-srq -b
pair ib_send_lat -F -n 50 -c UD -x 0
pair ib_send_bw -F -n 200 -q 4 -e

# Who polls the memory that is written to, and who looks whether atomics have done what they should.
perform rc_bi_bw rc_rdma_write_poll_lat ver_rc_compare_swap ver_rc_fetch_add ud_bi_bw

# What soft0 has not got.
refused ibv_uc_pingpong "Couldn't create QP"
refused ibv_xsrq_pingpong "Couldn't Open the XRC Domain"
