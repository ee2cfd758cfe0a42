# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Sourced by logp: what figures 5 to 8 are drawn from, and how.
#
# shellcheck shell=bash disable=SC2154 # set by logp: scratch, device, series

# The stream by how much data a packet has, copied by its receiver.
by_packet_size() { # ROUND
    local bytes reliability
    for bytes in 1024 2048 4096; do
        for reliability in nic host; do
            FI_ODRC_MTU=$bytes FI_ODRC_RELIABILITY=$reliability \
                logp "$1" "$reliability-$bytes" -d "$device" --copy -t inline gathered \
                -s 64 256 1024 4096 16384 65536 262144
        done
    done
}

# The points of one line.
points() { # SERIES TRANSFER COLUMN
    awk -v series="$1" -v transfer="$2" -v column="$3" \
        '$1 == series && $2 == transfer { print $3, $column }' "$scratch/medians" | sort -n
}

# One panel, whose lines are SERIES.TRANSFER; those without a point are left out. Column 4 of the
# medians is os, 8 end-to-end, 9 the throughput.
panel() { # TITLE COLUMN YLABEL LINE...
    local line file plots=()
    for line in "${@:4}"; do
        file=$scratch/$2.$line
        points "${line%.*}" "${line##*.}" "$2" >"$file"
        [[ ! -s $file ]] || plots+=("'$file' with linespoints title '$line'")
    done
    ((${#plots[@]})) || return 0
    printf "set title '%s'\nset ylabel '%s'\nplot %s\n" "$1" "$3" \
        "$(printf '%s, ' "${plots[@]}" | sed 's/, $//')"
}

figure() { # FILE; the panels on stdin
    {
        echo "set terminal svg size 1000,460 background 'white'"
        echo "set output '$1'"
        echo "set logscale x 2"
        echo "set logscale y"
        echo "set format x '%.0b%B'"
        echo "set xlabel 'message, bytes'"
        echo "set key bottom right font ',9' spacing 0.8"
        echo "set multiplot layout 1,2"
        cat
        echo "unset multiplot"
    } | gnuplot
}

draw() { # DIRECTORY
    local rate='10^6 bytes a second' time=us
    mkdir -p "$1"
    {
        panel "$device: who keeps the connections" 9 "$rate" {nic,host}.gathered
        panel "beside other providers" 9 "$rate" "${series[@]/%/.gathered}"
    } | figure "$1/figure5.svg"
    {
        panel "$device, kept by the device" 9 "$rate" nic.{inline,gathered,remote}
        panel "kept by the host" 9 "$rate" host.{inline,gathered,remote}
    } | figure "$1/figure6.svg"
    {
        panel "$device: send overhead" 4 "$time" {nic,host}.{inline,gathered,remote}
        panel "end-to-end latency" 8 "$time" {nic,host}.{inline,gathered,remote}
    } | figure "$1/figure7.svg"
    {
        panel "$device: packets of the device, copied at the end" 9 "$rate" \
            nic-{1024,2048,4096}.{inline,gathered}
        panel "packets of the host, copied at the end" 9 "$rate" \
            host-{1024,2048,4096}.{inline,gathered}
    } | figure "$1/figure8.svg"
}
