# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Sourced by run: plots of the medians, as parts of a page that may be light or dark.
#
# shellcheck shell=bash disable=SC2154 # of run: scratch; title of peers.sh

declare -A colour=([odrc]=d9480f [shm]=1c7ed6 [tcp]=868e96 ["tcp;ofi_rxm"]=5c940d
    ["udp;ofi_rxd"]=e64980 ["verbs;ofi_rxm"]=7048e8 [ucx]=2f9e44 [perftest]=f08c00
    [soft_verbs]=0c8599 [handover]=495057 [blocks]=adb5bd
    [odrc_mpi]=d9480f [open_mpi_odrc]=f08c00 [open_mpi]=1c7ed6)
ink=010203 # stands for the page's own

# Medians of a metric: "X MEDIAN LEAST MOST" of a contender, or what a column has of all.
points() { # MEASUREMENT METRIC CONTENDER
    awk -F '\t' -v a="$1" -v b="$2" -v c="$3" \
        '$1 == a && $2 == b && $4 == c && $5 > 0 { print $3, $5, $6, $7 }' "$scratch/medians"
}
column_of() { # MEASUREMENT METRIC COLUMN
    awk -F '\t' -v a="$1" -v b="$2" -v c="$3" \
        '$1 == a && $2 == b && !seen[$c]++ { print $c }' "$scratch/medians"
}
# Whom there are figures of, ours first.
measured() { # MEASUREMENT [METRIC]
    local one
    for one in "${everybody[@]}"; do
        ! awk -F '\t' -v a="$1" -v b="${2-}" '$1 == a && (b == "" || $2 == b) { print $4 }' \
            "$scratch/medians" | grep -Fx "$one" >"$scratch/found" || echo "$one"
    done
}
metrics_of() { # MEASUREMENT
    awk -F '\t' -v a="$1" '$1 == a && !seen[$2]++ { print $2 }' "$scratch/medians"
}

# What gnuplot draws, without what only a file of its own needs. What it does not is told of at the
# end, behind all else.
draw() {
    if {
        cat <<END
set terminal svg size 620,340 dynamic font 'sans-serif,12'
set border 3 linecolor rgb '#$ink'
set tics nomirror textcolor rgb '#$ink'
set title textcolor rgb '#$ink' noenhanced
set xlabel textcolor rgb '#$ink' noenhanced
set ylabel textcolor rgb '#$ink' noenhanced
set key outside right top Left reverse noenhanced textcolor rgb '#$ink' font ',10'
set logscale y
END
        cat
    } | gnuplot >"$scratch/drawn" 2>"$scratch/refused"; then
        sed -e '/^<?xml/d' -e 's/rgb( *1, *2, *3)/currentColor/g' -e "s/stroke='black'/stroke='currentColor'/" \
            -e 's/color="black"/color="inherit"/g' -e 's/stroke="black"/stroke="currentColor"/g' \
            -e 's/ id="gnuplot_[a-z_0-9]*"//' -e '/^<desc>/d' -e 's/<title>Gnuplot<.title>//' "$scratch/drawn"
    else
        printf 'report\tgnuplot\t%s\n' "$(awk 'NF { last = $0 } END { print last }' "$scratch/refused")" \
            >>"$scratch/failed"
    fi
}

# A line for each contender, from the least to the most of the rounds at each point.
lines() { # MEASUREMENT METRIC
    local contender file plots=() n=0
    while read -r contender; do
        file=$scratch/points.$((n++))
        points "$1" "$2" "$contender" >"$file"
        [[ ! -s $file ]] || plots+=("'$file' using 1:2:3:4 with yerrorlines linewidth 2 pointtype 7 \
pointsize 0.4 linecolor rgb '#${colour[$contender]}' title \"${title[$contender]}\"")
    done < <(measured "$1" "$2")
    ((${#plots[@]})) || return 0
    draw <<END
set title '$2'
set ylabel '$(column_of "$1" "$2" 9 | head -n 1)'
set xlabel '${of_what[$1]-bytes}'
set logscale x 2
set format x '%.0b%B'
plot $(printf '%s, ' "${plots[@]}" | sed 's/, $//')
END
}
declare -A of_what=([rate]="pairs, or messages in a window" [matching]="in the way" [peers]="peers")

# Bars, where all is at one point; those of one unit are beside each other.
bars() { # MEASUREMENT UNIT METRIC...
    local measurement=$1 unit=$2 metric contender plots=() n=0
    shift 2
    while read -r contender; do
        for metric; do
            printf '%s\t%s\n' "$metric" \
                "$(points "$measurement" "$metric" "$contender" | awk '{ print $2; exit }')"
        done | awk -F '\t' '{ print $1 FS ($2 == "" ? "?" : $2) }' >"$scratch/points.$n"
        grep -qv '?$' "$scratch/points.$n" || continue # nothing but noughts, of which there is no logarithm
        plots+=("'$scratch/points.$n' using 2:xtic(1) linecolor rgb '#${colour[$contender]}' \
title \"${title[$contender]}\"")
        n=$((n + 1))
    done < <(measured "$measurement")
    ((${#plots[@]})) || return 0
    draw <<END
set datafile separator '\t'
set datafile missing '?'
set ylabel '$unit'
set style data histograms
set style fill solid
set xtics rotate by -25 noenhanced font ',10'
plot $(printf '%s, ' "${plots[@]}" | sed 's/, $//')
END
}

plots() { # MEASUREMENT
    command -v gnuplot >/dev/null || return 0
    local metric unit single=()
    while read -r metric; do
        if (($(column_of "$1" "$metric" 3 | wc -l) > 1)); then
            lines "$1" "$metric"
        else
            single+=("$(column_of "$1" "$metric" 9 | head -n 1)"$'\t'"$metric")
        fi
    done < <(metrics_of "$1")
    ((${#single[@]})) || return 0
    while read -r unit; do
        mapfile -t metrics < <(printf '%s\n' "${single[@]}" | awk -F '\t' -v u="$unit" '$1 == u { print $2 }')
        bars "$1" "$unit" "${metrics[@]}"
    done < <(printf '%s\n' "${single[@]}" | cut -f 1 | awk '!seen[$0]++')
}
