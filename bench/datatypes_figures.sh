# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Sourced by datatypes: the tables and plots of what was measured.
#
# shellcheck shell=bash disable=SC2154 # set by datatypes: contenders, out, ranks, schemes, scratch

# What was measured, read into value[POINT, CONTENDER, ROUND], and how rounds are compared: ratios are
# taken within one, and are above 1 where the first is the better one.
# shellcheck disable=SC2016 # awk's
rounds_in_awk='
    function sort(list, n,    i, j, v) {
        for (i = 2; i <= n; ++i) {
            v = list[i]
            for (j = i - 1; j >= 1 && list[j] > v; --j) list[j + 1] = list[j]
            list[j + 1] = v
        }
    }
    function median(list, n) {
        sort(list, n)
        return list[int((n + 1) / 2)]
    }
    # 0, if one of them was not measured then.
    function ratio(point, who, than, i,    r) {
        if (!((point, who, i) in value) || !((point, than, i) in value)) return 0
        r = value[point, who, i] / value[point, than, i]
        return point ~ /bandwidth/ ? r : 1 / r
    }
    # Of each so many rounds, from the first on. 0, if there is none.
    function better(point, who, than, first, step,    i, n, r, list) {
        for (i = first; i < rounds; i += step)
            if ((r = ratio(point, who, than, i))) list[++n] = r
        return n ? median(list, n) : 0
    }
    BEGIN { FS = OFS = "\t" }
    {
        point = $2 OFS $3 OFS $4
        if (!((point, $1) in seen)) { keys[++count] = point SUBSEP $1; seen[point, $1] = 1 }
        value[point, $1, $6] = $5 + 0
        if ($6 >= rounds) rounds = $6 + 1
    }'

# Of each contender at each point: "NAME X BYTES CONTENDER MEDIAN IMPROVEMENT". The last is how many
# times as good as generic it is: the median of ratios. Others than ours run in processes of their own,
# whose memory may lie better or worse in the caches: they are compared with what is packed by hand
# there, and that with generic here.
medians() {
    awk "$rounds_in_awk"'
        function typical(point, who,    i, n, list) {
            for (i = 0; i < rounds; ++i)
                if ((point, who, i) in value) list[++n] = value[point, who, i]
            return median(list, n)
        }
        END {
            for (k = 1; k <= count; ++k) {
                split(keys[k], key, SUBSEP)
                if (key[2] ~ /:manual$/) continue
                by_hand = key[2] ":manual"
                improvement = better(key[1], key[2], "generic", 0, 1)
                if ((key[1], by_hand) in seen) {
                    improvement = better(key[1], key[2], by_hand, 0, 1)
                    improvement *= better(key[1], "manual", "generic", 0, 1)
                }
                print key[1], key[2], typical(key[1], key[2]), improvement ? improvement : "-"
            }
        }' "$scratch/figures" >"$scratch/medians"
}

# How many times as good as another a scheme is, by the geometric mean of all points and at most,
# and what Wu, Wyckoff and Panda (2003) have for it.
improvements() {
    awk -F '\t' '
        function compare(what, name, one, other, paper,    p, n, sum, most, at, r) {
            for (p = 1; p <= points[name]; ++p) {
                if (!((name, p, one) in value) || !((name, p, other) in value)) continue
                if (other == "generic") r = better[name, p, one]
                else r = value[name, p, one] / value[name, p, other]
                if (r + 0 == 0) continue
                ++n
                sum += log(r)
                if (r > most) { most = r; at = x[name, p] }
            }
            if (!n) return
            if (!lines++)
                printf "%-14s %-10s %8s %8s %8s   %s\n", "improvement", "of", "mean", "most",
                    "at", "paper"
            printf "%-14s %-10s %8.2f %8.2f %8s   %s\n", what, one, exp(sum / n), most, at, paper
        }
        {
            if (!(($1, $2) in place)) { place[$1, $2] = ++points[$1]; x[$1, points[$1]] = $2 }
            value[$1, place[$1, $2], $4] = $5
            better[$1, place[$1, $2], $4] = $6
        }
        END {
            compare("latency", "latency", "bc-spup", "generic", "1.5 at most")
            compare("latency", "latency", "rwg-up", "generic", "1.8 at most")
            compare("latency", "latency", "multi-w", "generic", "3.4 at most")
            compare("bandwidth", "bandwidth", "bc-spup", "generic", "2.0 at most")
            compare("bandwidth", "bandwidth", "rwg-up", "generic", "2.0 at most")
            compare("bandwidth", "bandwidth", "multi-w", "generic", "3.6 at most")
            compare("all to all", "alltoall", "bc-spup", "generic", "1.3 in the mean")
            compare("all to all", "alltoall", "rwg-up", "generic", "1.3 in the mean")
            compare("all to all", "alltoall", "multi-w", "generic", "2.0 in the mean")
            compare("segment unpack", "bandwidth", "rwg-up", "rwg-up:whole", "1.3 at most")
            compare("list post", "bandwidth", "multi-w", "multi-w:single", "1.6 in the mean")
        }' "$scratch/medians"
}

# What is in the medians, in the order in which it was measured.
names() { cut -f 1 "$scratch/medians" | awk '!seen[$0]++'; }
contenders_of() { # NAME
    local contender
    for contender in "${contenders[@]}" rwg-up:whole multi-w:single manual contiguous multiple; do
        if cut -f 1,4 "$scratch/medians" | grep -Fx "$1"$'\t'"$contender" >"$scratch/found"; then
            echo "$contender"
        fi
    done
}

# Improvements over generic, what generic takes, and how good auto's choice is.
table() { # NAME
    awk -F '\t' -v name="$1" -v contenders="$(contenders_of "$1" | tr '\n' ' ')" '
        function wide(text) { return length(text) < 8 ? 8 : length(text) }
        function show(text, column) { printf " %" wide(column) "s", text }
        $1 != name { next }
        FILENAME ~ /choices$/ {
            if ($3 == "best") { best[$2] = $4; nearness[$2] = $5; from[$2] = $6; to[$2] = $7 }
            next
        }
        {
            if (!($2 in bytes)) x[++points] = $2
            bytes[$2] = $3
            value[$2, $4] = $5
            better[$2, $4] = $6
        }
        END {
            n = split(contenders, contender, " ")
            printf "\n%s: times as good as generic\n%-22s %8s", name, "", "bytes"
            for (i = 1; i <= n; ++i) if (contender[i] != "generic") show(contender[i], contender[i])
            printf "   %13s   %-8s %9s\n", (name ~ /bandwidth/ ? "generic, MB/s" : "generic, us"),
                "best", "auto/best"
            for (p = 1; p <= points; ++p) {
                printf "%-22s %8d", x[p], bytes[x[p]]
                for (i = 1; i <= n; ++i) {
                    if (contender[i] == "generic") continue
                    r = better[x[p], contender[i]]
                    show(r + 0 ? sprintf("%.2f", r) : "-", contender[i])
                }
                printf "   %13.4g", value[x[p], "generic"]
                if (x[p] in best) {
                    r = nearness[x[p]]
                    printf "   %-8s %9.2f (%.2f to %.2f)", best[x[p]], r, from[x[p]], to[x[p]]
                    sum += log(r)
                    ++counted
                    if (counted == 1 || r < least) { least = r; at = x[p] }
                }
                print ""
            }
            if (counted)
                printf "auto: %.2f of the best scheme of each point in the mean, least %.2f (%s)\n",
                    exp(sum / counted), least, at
        }' "$scratch/choices" "$scratch/medians"
}

tables() {
    local name
    improvements
    for name in $(names); do table "$name"; done
    behind
}

# A file for each of the names, a column for each contender.
leave_figures() {
    local name
    for name in $(names); do
        awk -F '\t' -v name="$name" -v contenders="$(contenders_of "$name" | tr '\n' ' ')" '
            BEGIN { OFS = "\t"; n = split(contenders, contender, " ") }
            $1 == name {
                if (!($2 in bytes)) x[++points] = $2
                bytes[$2] = $3
                value[$2, $4] = $5
            }
            END {
                line = "x" OFS "bytes"
                for (i = 1; i <= n; ++i) line = line OFS contender[i]
                print line
                for (p = 1; p <= points; ++p) {
                    line = x[p] OFS bytes[x[p]]
                    for (i = 1; i <= n; ++i) {
                        there = (x[p], contender[i]) in value
                        line = line OFS (there ? value[x[p], contender[i]] : "-")
                    }
                    print line
                }
            }' "$scratch/medians" >"$out/datatypes.$FI_ODRC_DEVICE.$name.tsv"
    done
}

# A plot of those of the contenders that a name has.
plot() { # FIGURE NAME TITLE XLABEL YLABEL CONTENDER...
    local file=$out/datatypes.$FI_ODRC_DEVICE.$2.tsv plotted
    names | grep -qx "$2" || return 0
    plotted=$(contenders_of "$2" | grep -Fx "$(printf '%s\n' "${@:6}")" | tr '\n' ' ')
    gnuplot -e "
        set terminal png size 800,600;
        set output '$out/datatypes.$FI_ODRC_DEVICE.$1.png';
        set datafile separator '\t'; set datafile missing '-';
        set title '$3'; set xlabel '$4'; set ylabel '$5';
        set logscale x 2; set logscale y; set key left top noenhanced;
        plot for [who in '$plotted'] '$file' using (column('x')):(column(who)) \
            with linespoints title who"
}

draw() {
    local side all=("${contenders[@]}" manual contiguous) mb=MB/s us=microseconds
    local ints='columns of 128 x 4096 ints' file
    plot figure8 latency "Latency on $FI_ODRC_DEVICE" "$ints" $us "${all[@]}" multiple
    plot figure9 bandwidth "Bandwidth on $FI_ODRC_DEVICE" "$ints" $mb "${all[@]}" multiple
    plot figure11 alltoall "MPI\\_Alltoall on $FI_ODRC_DEVICE, $ranks ranks" \
        "ints of the last block" $us "${all[@]}"
    plot figure12 bandwidth "Segment unpack on $FI_ODRC_DEVICE" "$ints" $mb rwg-up rwg-up:whole
    plot figure13 bandwidth "List post on $FI_ODRC_DEVICE" "$ints" $mb multi-w multi-w:single
    plot figure14 fresh "Latency, always other memory, on $FI_ODRC_DEVICE" "$ints" $us "${all[@]}"
    for side in sender receiver; do
        plot $side-only $side-only_latency \
            "Latency, columns at the $side only, on $FI_ODRC_DEVICE" "$ints" $us "${all[@]}"
    done
    file=$out/datatypes.$FI_ODRC_DEVICE.layouts.tsv
    names | grep -qx layouts || return 0
    gnuplot -e "
        set terminal png size 1200,600;
        set output '$out/datatypes.$FI_ODRC_DEVICE.layouts.png';
        set datafile separator '\t'; set datafile missing '-';
        set title 'Messages of applications on $FI_ODRC_DEVICE, name/blocks';
        set ylabel 'improvement over generic'; set yrange [0:*]; set grid y;
        set style data histograms; set style fill solid;
        set xtics rotate by -35 noenhanced; set rmargin 14;
        set key left top noenhanced;
        plot for [who in '${contenders[*]:1} manual'] '$file' \
            using (column('generic') / column(who)):xtic(1) title who"
}
