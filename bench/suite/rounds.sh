# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Sourced by run: everything in turns, and what becomes of it. Below $scratch are then, as lines of
# fields between tabs,
#   figures  MEASUREMENT METRIC X CONTENDER ROUND VALUE UNIT
#   missing  MEASUREMENT CONTENDER REASON   (- is all of them)
#   failed   MEASUREMENT CONTENDER REASON
#
# shellcheck shell=bash disable=SC2154 # of run: chosen, rounds, scratch, seed; title of peers.sh

declare -A absent=() # contenders of which nothing is measured
declare -A hung=()   # and "MEASUREMENT CONTENDER" of those that would only keep all others waiting

progress() { printf '%s\n' "$*" >&2; }

# A line is kept once: another round says the same.
note() { # FILE FIELD...
    local line
    printf -v line '%s\t' "${@:2}"
    grep -Fxqs -- "${line%$'\t'}" "$scratch/$1" || echo "${line%$'\t'}" >>"$scratch/$1"
}

# Those of a measurement that are there.
present() { # MEASUREMENT
    local contender reason
    while read -r contender; do
        [[ ! ${absent[$contender]-} ]] || continue
        reason=$(why_not "$1" "$contender")
        if [[ $reason ]]; then note missing "$1" "$contender" "$reason"; else echo "$contender"; fi
    done < <(contenders_of "$1")
}

look_around() {
    local measurement contender reason
    local -A seen=()
    for measurement in "${chosen[@]}"; do
        while read -r contender; do
            [[ ! ${seen[$contender]-} ]] || continue
            seen[$contender]=yes
            reason=$(why_missing "$contender") || true
            [[ $reason ]] || continue
            absent[$contender]=yes
            progress "not here: ${title[$contender]}: $reason"
            note missing - "$contender" "$reason"
        done < <(contenders_of "$measurement")
    done
}

# Why a contender gave no figures, by the last that was said.
last_words() { # STATUS
    local said
    # That a process ended says less than why.
    said=$(grep -v -e '^ *$' -e 'failed with status' -e ': line [0-9]*: ' "$scratch/log" |
        tail -n 1 | tr '\t"' " '")
    if (($1 == 124)); then
        echo "did not end in time"
    elif (($1)); then
        echo "status $1: $said"
    else
        echo "${said:-nothing said}"
    fi
}

take() { # MEASUREMENT CONTENDER ROUND
    local function=measure_$1 status=0 metric x value unit
    ! declare -F "measure_$1_$2" >/dev/null || function=measure_$1_$2
    : >"$scratch/log"
    "$function" "$2" >"$scratch/out" 2>>"$scratch/log" || status=$?
    # What was measured before something failed is good.
    while read -r metric x value unit; do
        if [[ $value == - ]]; then
            note missing "$1" "$2" "$metric $x: $unit"
        elif [[ $value =~ ^-?[0-9.]+(e[-+]?[0-9]+)?$ ]]; then
            unit=${unit%% *}
            printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$metric" "$x" "$2" "$3" "$value" "$unit" \
                >>"$scratch/figures"
        else
            note failed "$1" "$2" "$metric $x: no figure: $(last_words $status)"
        fi
    done <"$scratch/out"
    if ((status == 0)) && [[ -s $scratch/out ]]; then return; fi
    ((status != 124)) || hung[$1 $2]=yes
    if grep -q 'fi_getinfo: No data' "$scratch/log"; then
        note missing "$1" "$2" "the provider offers nothing for it"
    else
        progress "failed: ${title[$2]}: $(last_words $status)"
        note failed "$1" "$2" "$(last_words $status)"
    fi
}

# In an order that the seed says, and another one first in each round.
measure() { # MEASUREMENT
    local there=() i j swap round times=$rounds reason
    reason=$(why_nothing "$1") || true
    if [[ $reason ]]; then
        progress "not here: $1: $reason"
        note missing "$1" - "$reason"
        return
    fi
    mapfile -t there < <(present "$1")
    RANDOM=$seed
    for ((i = ${#there[@]} - 1; i > 0; --i)); do
        j=$((RANDOM % (i + 1)))
        swap=${there[i]} there[i]=${there[j]} there[j]=$swap
    done
    ! is_counted "$1" || times=1
    for ((round = 1; round <= times; ++round)); do
        for i in "${!there[@]}"; do
            j=${there[(round + i) % ${#there[@]}]}
            [[ ! ${hung[$1 $j]-} ]] || continue
            progress "$(printf '%4d s  %s, round %d of %d: %s' "$SECONDS" "$1" "$round" "$times" \
                "${title[$j]}")"
            take "$1" "$j" "$round"
        done
    done
}
