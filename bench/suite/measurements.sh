# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Sourced by run: what is measured. For each measurement a function that prints, for one contender,
# lines of "METRIC X VALUE UNIT"; what it does not print there is none of. Peers with programs of
# their own have a function of their own, measure_MEASUREMENT_PEER.
#
# shellcheck shell=bash disable=SC2154,SC2034 # of run: build, full, here, peers, scratch, seed, sizes; for the others

measurements=(latency untagged bandwidth bidirectional rate rma atomics matching first_word peers
    registration logp mpi instructions cycles calls)
declare -A what=(
    [latency]="Tagged messages to and fro: one way"
    [untagged]="Messages without tags to and fro: one way"
    [bandwidth]="Tagged messages one way, 16 under way: bytes"
    [bidirectional]="Tagged messages both ways at once, 16 under way each: bytes"
    [rate]="Tagged messages of 8 bytes one way: how many, by pairs of processes and by window"
    [rma]="Writes (one way, as the target sees them) and reads (there and back); 64 under way"
    [atomics]="Atomic operations on 8 bytes: one at a time, and 64 under way"
    [matching]="8 bytes, one way, where many receives are posted or many messages are unexpected"
    [first_word]="The first word between new endpoints, there and back"
    [peers]="One endpoint that speaks to many: connections made, memory"
    [registration]="Messages from and into memory that was used before (kept) and never (fresh): one way"
    [logp]="LogP by size and way of transfer: os, or, L, g, end to end"
    [mpi]="MPI messages: one way to and fro; bytes and messages with 64 under way"
    [instructions]="Instructions of each step of a message of 8 bytes (callgrind; the kernel's not)"
    [cycles]="Processor cycles of a message of 8 bytes, both sides, the kernel's too (perf)"
    [calls]="Allocations and system calls of a message of 8 bytes, sent and received"
)
declare -A contenders=([latency]="ucx perftest soft_verbs handover blocks"
    [bandwidth]="ucx perftest soft_verbs" [rate]="ucx"
    [bidirectional]="perftest" [rma]="perftest" [atomics]="perftest")

# Those of a measurement, in the order in which they are shown.
contenders_of() { # MEASUREMENT
    local one all=("${mpis[@]}")
    # shellcheck disable=SC2206 # they are words
    [[ $1 == mpi ]] || all=("${providers[@]}" ${contenders[$1]-})
    for one in "${all[@]}"; do
        if is_ours "$one" || [[ ! $peers || ,$peers, == *",$one,"* ]]; then echo "$one"; fi
    done
}

# What is counted is the same each time.
is_counted() { [[ $1 == instructions || $1 == calls ]]; } # MEASUREMENT

# Arguments of quick and full runs; those sizes that were asked for, where some were.
if [[ $full ]]; then
    short_sizes=(1 8 64 256 1024 4096 16384 65536 262144 1048576)
    long_sizes=(1024 4096 16384 65536 262144 1048576 4194304)
    rma_sizes=("${short_sizes[@]}")
    mpi_sizes=(8 64 512 4096 32768 262144 1048576 4194304)
    entries=(1 10 100 1000 10000) pairs=(1 2 4 8) windows=(1 4 16 64 256) many=(16 64 192)
    effort=(-b 20 -T 0.5)
else
    short_sizes=(8 64 4096 65536)
    long_sizes=(65536 262144 1048576 4194304)
    rma_sizes=(8 65536)
    mpi_sizes=(8 4096 65536 1048576)
    entries=(1 100 1000) pairs=(1 2) windows=(1 64) many=(16 64)
    effort=(-b 10 -T 0.2)
fi
if ((${#sizes[@]})); then
    short_sizes=("${sizes[@]}") long_sizes=("${sizes[@]}")
    rma_sizes=("${sizes[@]}") mpi_sizes=("${sizes[@]}")
fi

measure_latency() { over "$1" odrc_latency -i 500 "${effort[@]}" -s "${short_sizes[@]}" | split_names; }
measure_latency_ucx() {
    local size
    for size in "${short_sizes[@]}"; do
        echo latency "$size" "$(ucx 2 -t tag_lat -s "$size" -n $((size > 65536 ? 500 : 10000)))" us
    done
}
measure_latency_soft_verbs() {
    "$build/soft_verbs" -b 10 send | awk '$1 ~ /send$/ { print "latency 8", $2 / 1000, "us" }'
}
measure_latency_handover() { "$build/handover" -b 10 | awk '{ print "latency 8", $2 / 1000, "us" }'; }
measure_latency_blocks() {
    local size sizes=()
    for size in "${short_sizes[@]}"; do ((size > 65536)) || sizes+=("$size"); done
    ((${#sizes[@]})) || { echo "latency 65536 - the longest that it copies"; return; }
    "$build/handover" -b 10 -i 1000 -s "${sizes[@]}" |
        sed -n 's/^blocks\./latency /p' | awk '{ print $1, $2, $3 / 1000, "us" }'
}
measure_latency_perftest() {
    local size
    for size in "${short_sizes[@]}"; do
        echo latency "$size" "$(perftest 5 "$size" ib_send_lat -n 1000)" us
    done
}

measure_untagged() {
    over "$1" odrc_latency -u -i 500 "${effort[@]}" -s "${short_sizes[@]}" | split_names
}

only() { split_names | awk -v metric="$1" '$1 == metric'; } # METRIC
measure_bandwidth() { over "$1" odrc_stream -w 16 "${effort[@]}" -s "${long_sizes[@]}" | only bandwidth; }
measure_bandwidth_ucx() {
    local size
    for size in "${long_sizes[@]}"; do
        echo bandwidth "$size" "$(ucx 6 -t tag_bw -s "$size" -n $((size > 65536 ? 500 : 5000)) -w 50 |
            awk '{ print $1 * 1048576 / 1e9 }')" GB/s
    done
}
gigabytes() { awk '{ print $1 * 1048576 / 1e9 }'; }
measure_bandwidth_perftest() {
    local size
    for size in "${long_sizes[@]}"; do
        echo bandwidth "$size" "$(perftest 4 "$size" ib_send_bw -n 500 | gigabytes)" GB/s
    done
}
# From private memory to private memory, as programs over libfabric have it.
measure_bandwidth_soft_verbs() {
    "$build/soft_verbs" -b 10 bw | sed -n 's/^soft_verbs.write\(\.[0-9]\)/bandwidth\1/p' | split_names
}
measure_bidirectional() {
    over "$1" odrc_stream -w 16 --both-ways "${effort[@]}" -s "${long_sizes[@]}" | only bandwidth
}
measure_bidirectional_perftest() {
    local size
    for size in "${long_sizes[@]}"; do
        echo bandwidth "$size" "$(perftest 4 "$size" ib_send_bw -b -n 500 | gigabytes)" GB/s
    done
}

measure_rate() {
    local n
    for n in "${pairs[@]}"; do
        over "$1" odrc_stream "${effort[@]}" -n "$n" | awk -v x="$n" '/^rate/ { print "pairs", x, $2, $3 }' ||
            return
    done
    for n in "${windows[@]}"; do
        over "$1" odrc_stream "${effort[@]}" -w "$n" | awk -v x="$n" '/^rate/ { print "window", x, $2, $3 }' ||
            return
    done
}
measure_rate_ucx() {
    echo pairs 1 "$(ucx 8 -t tag_bw -s 8 -n 200000 | awk '{ print $1 / 1e6 }')" M/s
}

measure_rma() {
    over "$1" odrc_rma -t write read "${effort[@]}" -i 500 -s "${rma_sizes[@]}" | split_names |
        awk '$1 !~ /^rate/'
}
measure_rma_perftest() {
    local size
    for size in "${rma_sizes[@]}"; do
        echo latency.write "$size" "$(perftest 5 "$size" ib_write_lat -n 1000)" us
        echo latency.read "$size" "$(perftest 5 "$size" ib_read_lat -n 1000)" us
        echo bandwidth.write "$size" "$(perftest 4 "$size" ib_write_bw -n 500 | gigabytes)" GB/s
        echo bandwidth.read "$size" "$(perftest 4 "$size" ib_read_bw -n 500 | gigabytes)" GB/s
    done
}
measure_atomics() {
    over "$1" odrc_rma -t add fetch-add compare-swap "${effort[@]}" -i 500 | split_names
}
measure_atomics_perftest() {
    echo latency.fetch-add 8 "$(perftest 5 8 ib_atomic_lat -n 1000)" us
    echo latency.compare-swap 8 "$(perftest 5 8 ib_atomic_lat -n 1000 -A CMP_AND_SWAP)" us
}

measure_matching() {
    over "$1" odrc_matching "${effort[@]}" -i 200 --seed "$seed" -n "${entries[@]}" | split_names
}
measure_first_word() { over "$1" odrc_latency -f -b 20 | split_names; }
measure_peers() {
    local n
    for n in "${many[@]}"; do
        over "$1" odrc_peers -n "$n" -H 2 | awk '{
            if ($7 > 0) print "connections", $1, $1 / $7, "/s"
            print "memory", $1, $9, "kB"
            print "more_memory", $1, $13, "kB"
        }' || return
    done
}
measure_registration() {
    local how
    for how in kept fresh; do
        over "$1" odrc_latency -m $how "${effort[@]}" -i 32 -s 65536 1048576 | split_names |
            awk -v how=$how '{ $1 = how; print }' || return
    done
}
measure_logp() {
    over "$1" odrc_logp --csv -b "$([[ $full ]] && echo 10 || echo 4)" -t inline gathered remote -s 8 1024 16384 |
        awk -F , '
            NR == 1 { for (i = 3; i <= 7; ++i) name[i] = $i; next }
            { for (i = 3; i <= 7; ++i) print $1 "." name[i], $2, $i, "us" }'
}
measure_mpi() {
    mpi "$1" mpi_sizes -t "$([[ $full ]] && echo 0.1 || echo 0.02)" \
        -s "$(IFS=,; echo "${mpi_sizes[*]}")" | split_names
}

measure_instructions() {
    BUILD=$build timeout 90 "$here/instructions" "$1 $(domain_of "$1")" | awk '
        NR == 1 { for (i = 2; i <= NF; ++i) name[i - 1] = $i; n = NF - 1; next }
        {
            for (i = 1; i <= n; ++i)
                print $(NF - n) "." name[i], 8, $(NF - n + i),
                    name[i] == "lines" ? "lines" : "instructions"
        }'
}
# What more messages take more, so that the beginning and the end are not in it.
measure_cycles() {
    local short long domain operation=tagged_8
    domain=$(domain_of "$1")
    local program=("$build/operation_counts" -o $operation -p "$1" ${domain:+-d "$domain"})
    short=$(cycles_of "${program[@]}" -n 2000) || return
    long=$(cycles_of "${program[@]}" -n 22000) || return
    echo $operation 8 $(((long - short) / 20000)) cycles
}
cycles_of() { # COMMAND...
    perf stat -x , -e cycles -o "$scratch/perf" timeout 60 "$@" >&2 || return
    sed -n 's/^\([0-9][0-9]*\),.*/\1/p' "$scratch/perf"
}
# The program ends with 1 where there are some.
measure_calls() {
    local status=0
    timeout 120 "$build/steady_path" "$(domain_of "$1")" "$1" >"$scratch/calls" || status=$?
    ((status < 2)) || { sed 's/^SKIP: /calls 8 - /' "$scratch/calls"; return; }
    awk -F '[ ,:]+' '$2 == 0 && !seen[$3]++ {
        print $3 ".allocations", 8, $4 / 1000, "calls"
        print $3 ".system_calls", 8, $6 / 1000, "calls"
    }' "$scratch/calls"
}
