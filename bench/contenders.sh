# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Sourced by intranode: a function for each contender, which notes what it measured.
#
# shellcheck shell=bash disable=SC2154 # set by intranode: build, scheduler, scratch, round

blocks=(65536 524288 4194304)
contenders=(
    hand_over single_copies
    soft_latency soft_bandwidth
    perftest_write perftest_send perftest_shared_send
    tagged_odrc tagged_odrc_queue tagged_shm
    ucx_posix ucx_sysv ucx_cma
)

# Keeps a figure; floor is the row it is compared with, or nothing.
note() { # GROUP ROW UNIT VALUE FLOOR
    if [[ $4 =~ ^[0-9.e+-]+$ ]]; then
        printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$round" "$@" >>"$scratch/figures"
    else
        absent "$1" "$2" "gave no figure: $(tail -n 1 "$scratch/log")"
    fi
}

absent() { # GROUP ROW REASON
    printf '%s\t%s\t%s\n' "$@" >>"$scratch/absent"
}

# Whether all of these are there; else notes the row as absent.
have() { # GROUP ROW FILE...
    local group=$1 row=$2 file
    shift 2
    for file; do
        command -v "$file" >/dev/null || [[ -r $file ]] || {
            absent "$group" "$row" "$(basename "$file") is missing"
            return 1
        }
    done
}

# A program of ours, whose lines are "name median unit ..."; one that does not end is ended.
ours() { # PROGRAM ARGUMENT...
    local program=$build/$1
    shift
    FI_PROVIDER_PATH=$build/.libs timeout 120 "${scheduler[@]}" "$program" "$@" 2>>"$scratch/log"
}

# The median of a line of such a program, from its output on stdin.
median_of() { awk -v name="$1" '$1 == name { print $2 }'; }

hand_over() {
    have latency "hand-over of a cache line" "$build/handover" || return 0
    note latency "hand-over of a cache line" ns "$(ours handover -b 20 | median_of handover)" ""
}

single_copies() {
    local row="process_vm_writev loop" size
    have bandwidth "$row" "$build/handover" || return 0
    ours handover --copy -b 20 >"$scratch/out" || true
    for size in "${blocks[@]}"; do
        note "bandwidth, $size bytes" "$row" GB/s \
            "$(median_of "process_vm_writev.$size" <"$scratch/out")" ""
        note "bandwidth, $size bytes" "process_vm_readv loop" GB/s \
            "$(median_of "process_vm_readv.$size" <"$scratch/out")" "$row"
        note "bandwidth, $size bytes" "memcpy into shared memory" GB/s \
            "$(median_of "memcpy.$size" <"$scratch/out")" "$row"
    done
}

soft_latency() {
    have latency "soft0 write" "$build/soft_verbs" || return 0
    ours soft_verbs write send rate -b 20 >"$scratch/out" || true
    local name
    for name in write send send_private; do
        note latency "soft0 $name" ns "$(median_of "soft_verbs.$name" <"$scratch/out")" \
            "hand-over of a cache line"
    done
    note "messages" "soft0 send" M/s "$(median_of soft_verbs.send_rate <"$scratch/out")" ""
}

soft_bandwidth() {
    have bandwidth "soft0" "$build/soft_verbs" || return 0
    ours soft_verbs bw -b 20 >"$scratch/out" || true
    local name size
    for size in "${blocks[@]}"; do
        for name in write read write_device read_device; do
            note "bandwidth, $size bytes" "soft0 $name" GB/s \
                "$(median_of "soft_verbs.$name.$size" <"$scratch/out")" "process_vm_writev loop"
        done
    done
}

# Typical latency, in column 5, in microseconds.
perftest() { # ROW PROGRAM OPTION...
    local row=$1 preload=$build/.libs/libodrc-verbs.so command
    have latency "$row" "$preload" "$2" || return 0
    command=(env LD_PRELOAD="$preload" "${@:2}" -d soft0 -s 8 -n 20000 -F -p PORT)
    note latency "$row" ns \
        "$(served "${command[@]}" -- "${command[@]}" localhost | awk '$1 == 8 { print $5 * 1e3 }')" \
        "hand-over of a cache line"
}
perftest_write() { perftest "ib_write_lat over soft0" ib_write_lat; }
perftest_send() { perftest "ib_send_lat over soft0" ib_send_lat; }
perftest_shared_send() { perftest "ib_send_lat --use-srq over soft0" ib_send_lat --use-srq; }

tagged_short() { # NAME PROVIDER-OPTION...
    local row="libfabric $1, tagged"
    shift
    have latency "$row" "$build/odrc_latency" || return 0
    note latency "$row" ns \
        "$(ours odrc_latency "$@" -b 20 | awk '$1 == "latency.8" { print $2 * 1e3 }')" \
        "hand-over of a cache line"
    ours odrc_stream "$@" -b 20 >"$scratch/out" || true
    note messages "$row" M/s "$(median_of rate.8 <"$scratch/out")" ""
}
tagged() { # NAME PROVIDER-OPTION...
    local row="libfabric $1, tagged" size
    tagged_short "$@"
    shift
    have bandwidth "$row" "$build/odrc_latency" || return 0
    ours odrc_stream "$@" -w 16 -s "${blocks[@]}" -b 10 >"$scratch/out" || true
    for size in "${blocks[@]}"; do
        note "bandwidth, $size bytes" "$row" GB/s \
            "$(median_of "bandwidth.$size" <"$scratch/out")" "process_vm_writev loop"
    done
}
tagged_odrc() { tagged odrc -p odrc -d soft0; }
tagged_odrc_queue() { FI_ODRC_EAGER=srq tagged_short "odrc without rings" -p odrc -d soft0; }
tagged_shm() { tagged shm -p shm; }

# A column of the last line: 2 the median latency in us, 6 MiB/s, 8 messages/s.
ucx_column() { # COLUMN TRANSPORTS OPTION...
    local column=$1 transports=$2 command
    shift 2
    command=(env UCX_TLS="$transports" ucx_perftest -p PORT)
    served "${command[@]}" -- "${command[@]}" localhost "$@" -f |
        awk -v column="$column" '$1 ~ /^[0-9]+$/ { print $column }'
}
ucx() { # NAME TRANSPORTS
    local row="UCX $1" size times
    have latency "$row" ucx_perftest || return 0
    local test
    for test in tag_lat ucp_put_lat; do
        note latency "$row, $test" ns \
            "$(ucx_column 2 "$2" -t $test -s 8 -n 100000 | awk '{ print $1 * 1e3 }')" \
            "hand-over of a cache line"
    done
    note messages "$row, tag_bw" M/s \
        "$(ucx_column 8 "$2" -t tag_bw -s 8 -n 500000 | awk '{ print $1 / 1e6 }')" ""
    for size in "${blocks[@]}"; do
        times=$(((1 << 30) / size))
        note "bandwidth, $size bytes" "$row, tag_bw" GB/s \
            "$(ucx_column 6 "$2" -t tag_bw -s "$size" -n $times -w 100 |
                awk '{ print $1 * 1048576 / 1e9 }')" "process_vm_writev loop"
    done
}
ucx_posix() { ucx posix posix,self; }
ucx_sysv() { ucx sysv sysv,self; }
ucx_cma() { ucx posix+cma posix,cma,self; }
