#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# What operations take besides time is what the table says, counts/DEVICE.tsv, to its tolerance:
# instructions, lines of the cache, work requests and the calls that post them, bytes, allocations
# and system calls. Less is off, too, until it is kept: counts.sh --keep writes the table anew.
#
# Instructions and lines hold for what the table's head says, and are left out elsewhere.

. "$(dirname "$0")/lib.sh"

table=$here/counts/$device.tsv
[[ -e $table ]] || skip "there is no table for $device"

left_out=() # of the table: what is not counted here
leave_out() { # LINES WHY
    echo "LEFT OUT: $2"
    left_out+=("$1")
}

# What the provider was compiled by says the provider; without -g, nothing is known.
compiler="GNU C++20 12.2.0"
compiled=$(grep -aom1 'GNU C++20 [^[:cntrl:]]*' "$ODRC_BUILD/.libs/libodrc-fi.so" || true)
valgrind=
if [[ $ODRC_SANITIZER != no ]]; then
    why="a sanitizer adds its own"
elif [[ $ODRC_FAULTS ]]; then
    why="a device that can be made to fail takes longer ways"
elif [[ $compiled != "$compiler "*" -O2 "* ]]; then
    why="the provider was not compiled by $compiler -g -O2"
elif ! command -v valgrind >/dev/null; then
    why="valgrind is not installed"
else
    valgrind=yes
fi
[[ $valgrind ]] || leave_out $'\t(instructions|lines)' "instructions and lines of the cache: $why"

observing=(--observe)
if [[ $ODRC_SANITIZER != no ]]; then
    why="a sanitizer has its own"
else
    why=$("$ODRC_BUILD/operation_counts" --observe -o look_in_vain) || (($? == 77)) || fail "$why"
    [[ $why == SKIP:* ]] || why=
fi
if [[ $why ]]; then
    leave_out $'\t(allocations|system_calls)' "allocations and system calls: $why"
    observing+=(--untraced)
fi

[[ -x $ODRC_BUILD/mpi_operation_counts ]] || leave_out '^mpi' "messages of our MPI: it is not built"

# Lines of OPERATION, QUANTITY and how many there were of it, on the average.
count() { # SUFFIX CONTENDER PROGRAM ARGUMENT...
    local suffix=$1 contender=$2
    shift 2
    "$ODRC_BUILD/$1" "${observing[@]}" "${@:2}" | sed "s|\t|$suffix\t|"
    [[ ! $valgrind ]] || BUILD=$ODRC_BUILD "$here/../../bench/instructions" "$contender" |
        awk -v suffix="$suffix" -v OFS='\t' '
            NR == 1 { columns = NF - 1; for (i = 1; i <= columns; ++i) name[i] = $(i + 1); next }
            { for (i = 1; i <= columns; ++i) {
                quantity = (name[i] == "lines" ? "" : "instructions.") name[i]
                if ($(NF - columns + i) > 0)
                    print $(NF - columns) suffix, quantity, $(NF - columns + i)
            } }'
}
count_operations() { # SUFFIX OPERATIONS
    OPERATIONS=$2 count "$1" "odrc $device" operation_counts -d "$device" -o "$2"
}

# In percent. Three lines are what another place of a heap's piece may make. About one in 32 messages
# of 1 KiB finds no room in a ring: of 128 one more, or less, as the first one's place in it is.
with_tolerances() {
    awk -F'\t' -v OFS='\t' '
        function for_lines(lines) { return lines < 60 ? int(300 / lines) : 5 }
        function for_instructions(step) { return step == "tagged_1k instructions.complete" ? 5 : 3 }
        { print $1, $2, $3, $2 ~ /^instructions/ ? for_instructions($1 " " $2) : $2 == "lines" ? for_lines($3) : 0 }'
}

# Says what is off. False if anything is.
compare() { # TABLE COUNTS
    awk -F'\t' '
        function off(what) { print $1 ": " $2 ": " what; failed = 1 }
        /^#/ { next }
        FILENAME == ARGV[1] { expected[$1, $2] = $3; tolerance[$1, $2] = $4; next }
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

found=$scratch/found
operations=tagged_inject_8,tagged_8,tagged_1k,tagged_8k,tagged_64k,tagged_1m
operations+=,inject_8,send_8,write_8,read_64k,fetch_add_8,look_in_vain,look_again,look_for_answer
export FI_ODRC_CROSSOVERS=8192,0,8192 # nothing in slices: how long these take decides of the next ones
{
    count_operations "" "$operations"
    FI_ODRC_EAGER=srq count_operations /srq tagged_inject_8,tagged_8
    [[ ! -x $ODRC_BUILD/mpi_operation_counts ]] || count "" odrc_mpi mpi_operation_counts
} >"$found"

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
        $1 == "tagged_8" && $2 == "wire_bytes" { if (change == "none") next; $3 *= change }
        { print }' "$scratch/same" >"$scratch/wrong"
    ! off=$(compare "$scratch/wrong" "$found") || fail "a wrong table ($change) passes"
    [[ $off == "tagged_8: wire_bytes: "* ]] || fail "what is off is not named: $off"
done

grep -vE "$(IFS='|' && echo "${left_out[*]-^$}")" "$table" >"$scratch/table"
compare "$scratch/table" "$found" || fail "these are off"
echo "$(wc -l <"$found") counts are as the table has them"
