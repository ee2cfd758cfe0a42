#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# What operations take besides time is what the table says, counts/DEVICE.tsv, to its tolerance:
# instructions, lines of the cache, work requests and the calls that post them, bytes, allocations
# and system calls. Less is off, too, until it is kept: counts.sh --keep writes the table anew.
#
# Instructions and lines hold for what the first line of the table says, and are left out elsewhere.

. "$(dirname "$0")/lib.sh"

table=$here/counts/$device.tsv
[[ -e $table ]] || skip "there is no table for $device"
[[ -z $ODRC_FAULTS ]] || skip "a device that can be made to fail takes other ways"

# What the provider was compiled by says the provider; without that, nothing is known.
compiled=$(grep -aom1 'GNU C++20 [^[:cntrl:]]*' "$ODRC_BUILD/.libs/libodrc-fi.so" || true)
compiler="GNU C++20 12.2.0"
optimization=-O2
left_out=()
no_instructions=
if [[ $ODRC_SANITIZER != no ]]; then
    no_instructions="a sanitizer adds its own"
elif [[ $compiled != "$compiler "*" $optimization "* ]]; then
    no_instructions="the provider was not compiled by $compiler $optimization (-g)"
elif ! command -v valgrind >/dev/null; then
    no_instructions="valgrind is not installed"
fi
if [[ $no_instructions ]]; then
    echo "LEFT OUT: instructions and lines of the cache: $no_instructions"
    left_out+=('instructions\.[a-z_]*' lines)
fi
observing=(--observe)
if [[ $ODRC_SANITIZER != no ]]; then
    echo "LEFT OUT: allocations and system calls: a sanitizer has its own"
    left_out+=(allocations system_calls)
    observing+=(--untraced)
fi

# Lines of OPERATION, QUANTITY and how many there were of it, on the average.
count() { # OPERATIONS SUFFIX
    "$ODRC_BUILD/operation_counts" -d "$device" "${observing[@]}" -o "$1" |
        sed "s|\t|$2\t|"
    [[ $no_instructions ]] || OPERATIONS=$1 BUILD=$ODRC_BUILD "$here/../../bench/instructions" \
        "odrc $device" |
        awk -v suffix="$2" -v OFS='\t' '
            NR == 1 { columns = NF - 1; for (i = 1; i <= columns; ++i) name[i] = $(i + 1); next }
            { for (i = 1; i <= columns; ++i) {
                quantity = (name[i] == "lines" ? "" : "instructions.") name[i]
                if ($(NF - columns + i) > 0)
                    print $(NF - columns) suffix, quantity, $(NF - columns + i)
            } }'
}

with_tolerances() {
    awk -F'\t' -v OFS='\t' '
        { print $1, $2, $3, $2 ~ /^instructions/ ? 3 : $2 == "lines" ? 5 : 0 }'
}

# Says what is off. False if anything is.
compare() { # TABLE COUNTS
    awk -F'\t' '
        function off(what) { print $1 ": " $2 ": " what; failed = 1 }
        /^#/ { next }
        FNR == NR { expected[$1, $2] = $3; tolerance[$1, $2] = $4; next }
        !(($1, $2) in expected) { off($3 " found, and it is not in the table"); next }
        {
            difference = $3 - expected[$1, $2]
            size = difference < 0 ? -difference : difference
            if (size * 100 > expected[$1, $2] * tolerance[$1, $2])
                off(expected[$1, $2] " expected, " $3 " found: " size \
                    (difference < 0 ? " less: keep that (counts.sh --keep)" : " more"))
            delete expected[$1, $2]
        }
        END {
            for (key in expected) {
                split(key, part, SUBSEP)
                print part[1] ": " part[2] ": " expected[key] " expected, and it was not counted"
                failed = 1
            }
            exit failed
        }' "$1" "$2"
}

operations=tagged_inject_8,tagged_8,tagged_1k,tagged_8k,tagged_64k,tagged_1m
operations+=,inject_8,send_8,write_8,read_64k,fetch_add_8,look_in_vain
found=$scratch/found
count "$operations" "" >"$found"
FI_ODRC_EAGER=srq count tagged_inject_8,tagged_8 /srq >>"$found"

if [[ ${1-} == --keep ]]; then
    ((${#left_out[@]} == 0)) || fail "not all can be counted here"
    {
        grep '^#' "$table"
        with_tolerances <"$found"
    } >"$scratch/table"
    cp "$scratch/table" "$table"
    exit
fi

# That what is off would be seen: more and less than the table has, and what it does not have.
with_tolerances <"$found" >"$scratch/same"
compare "$scratch/same" "$found" || fail "what was found is off itself"
for change in 2 0.5 none; do
    awk -F'\t' -v OFS='\t' -v change="$change" '
        $1 == "tagged_8" && $2 == "doorbells" { if (change == "none") next; $3 *= change }
        { print }' "$scratch/same" >"$scratch/wrong"
    ! off=$(compare "$scratch/wrong" "$found") || fail "a wrong table ($change) passes"
    [[ $off == "tagged_8: doorbells: "* ]] || fail "what is off is not named: $off"
done

for quantity in "${left_out[@]}"; do
    sed -i "/\t$quantity\t/d" "$found"
done
grep -vE "$(printf '\t(%s)\t' "$(IFS='|' && echo "${left_out[*]-nothing}")")" "$table" >"$scratch/table"
compare "$scratch/table" "$found" || fail "these are off"
echo "$(wc -l <"$found") counts are as the table has them"
