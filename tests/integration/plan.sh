#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# What odrc-plan counts beforehand, jobs count: connections, queue pairs, bytes that are published
# and buffers, exactly; and of datagrams at least as many, and at most twice as many, which is what
# there are where both sides of each connection begin and end it at once, and a few for those that
# are said again. (Times are for bench/plan.)

. "$(dirname "$0")/lib.sh"
[[ $device == soft0 ]] || skip "the costs of soft0 are built in"
[[ -x $ODRC_BUILD/odrc-plan ]] || skip "odrc-plan was not built"

plan() { # PROCESSES WAY PEERS FIELD
    "$ODRC_BUILD/odrc-plan" -j -n "$1" -f "$1" -p "$1" -t "$3" |
        sed -n "s/.*\"connect\":\"$2\".*\"$4\":\([0-9.]*\).*/\1/p"
}

same() { # WHAT COUNTED PLANNED
    [[ $2 == "$3" ]] || fail "$1: $2, not $3"
}

few_more() { # WHAT COUNTED PLANNED REPEATS
    (($2 >= $3 && $2 <= 2 * $3 + ($3 > 0 ? $4 : 0))) || fail "$1: $2, not about $3"
}

# A pattern in which each process has so many peers.
check() { # PATTERN PROCESSES WAY PEERS
    local what="$1 of $2, $3" profile=$scratch/$1-$2-$3 datagrams
    FI_ODRC_CONNECT=$3 FI_ODRC_PROFILE=$profile FI_LOG_LEVEL=info FI_LOG_PROV=odrc \
        "$ODRC_BUILD/odrc_patterns" -d "$device" -n "$2" -r 1 "$1" >/dev/null 2>"$scratch/log"
    same "$what: connections" "$(profile_sum "$profile" connections_made)" \
        $(($2 * $(plan "$2" "$3" "$4" connections)))
    datagrams=$(profile_sum "$profile" wireup_datagrams)
    few_more "$what: datagrams" "$datagrams" "$(plan "$2" "$3" "$4" wireup_datagrams_job)" \
        16
    if ((datagrams > 0)); then
        same "$what: bytes of a datagram" \
            $(($(profile_sum "$profile" wireup_bytes) / datagrams)) \
            "$(plan 2 ondemand 1 wireup_bytes | awk '{ print $1 / 2 }')"
    fi
    if [[ $3 == all ]]; then
        same "$what: processes with that many queue pairs" \
            "$(grep -c "has queue pairs for $(plan "$2" all "$4" queue_pairs) of $2 processes" "$scratch/log")" "$2"
    else
        same "$what: published" "$(profile_sum "$profile" published_bytes)" \
            "$(plan "$2" ondemand "$4" published_bytes_job)"
    fi
    echo "$what: $datagrams datagrams, of which $(plan "$2" "$3" "$4" wireup_datagrams_job) were planned"
}

for way in ondemand all; do
    check idle 4 $way 0
    check ring 4 $way 2
    check alltoall 4 $way 3
    check alltoall 16 $way 15
done
same "buffers" "$(profile_sum "$scratch/idle-4-ondemand" memory_bytes_peak)" \
    $((4 * $(plan 4 ondemand 0 buffer_bytes)))

# Costs that are measured are read again; what is counted does not depend on them.
"$ODRC_BUILD/odrc-plan" -m "$device" >"$scratch/costs"
grep -q '^qp_create *[0-9.e-]*[1-9]' "$scratch/costs" || fail "no costs: $(<"$scratch/costs")"
for costs in "$scratch/costs" /dev/null; do
    "$ODRC_BUILD/odrc-plan" -C "$costs" -j -n 256 | sed 's/"[a-z_]*_s":[^,]*,//g; s/"memory_bytes[^,]*,//; s/"by_itself[^,]*,//'
done >"$scratch/counts"
[[ $(sort -u "$scratch/counts" | wc -l) == 8 && $(wc -l <"$scratch/counts") == 16 ]] ||
    fail "costs change counts: $(<"$scratch/counts")"

# What our MPI publishes, with the list of ranges. Where others of this user make queue pairs at the
# same time there are more of these.
command -v mpirun >/dev/null && [[ -x $ODRC_BUILD/our_mpi_traffic ]] || exit 0
. "$here/mpirun.sh"
FI_ODRC_CONNECT=all FI_ODRC_PROFILE=$scratch/mpi \
    on_one_host 4 "$ODRC_BUILD/our_mpi_traffic" --rounds 1 >/dev/null
few_more "MPI: published" "$(profile_sum "$scratch/mpi" published_bytes)" \
    "$(plan 4 all 3 published_bytes_job)" 0
