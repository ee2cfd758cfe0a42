# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Sourced by intranode: the table of all that was noted.
#
# shellcheck shell=bash disable=SC2154 # set by intranode: scratch

# A ratio is taken within each round, before its median: a machine whose processors are farther
# apart in one round than in another is so for both rows.
table() {
    awk -F '\t' '
        function median(list, n,    i, j, v) {
            for (i = 2; i <= n; ++i) {
                v = list[i]
                for (j = i - 1; j >= 1 && list[j] > v; --j) list[j + 1] = list[j]
                list[j + 1] = v
            }
            return list[int((n + 1) / 2)]
        }
        FILENAME ~ /absent$/ {
            if (!(($1, $2, $3) in said)) missing[++absent] = sprintf("  %s: %s: %s", $1, $2, $3)
            said[$1, $2, $3] = 1
            next
        }
        {
            if (!($2 in known)) groups[++group_count] = $2
            known[$2] = 1
            if (!(($2, $3) in unit)) row[$2, ++rows[$2]] = $3
            unit[$2, $3] = $4
            floor[$2, $3] = $6
            value[$1, $2, $3] = $5 + 0
            if ($1 > last) last = $1
        }
        END {
            for (g = 1; g <= group_count; ++g) {
                group = groups[g]
                printf "\n%-36s %10s %23s %6s %8s\n", group, "median", "least .. most", "", "x floor"
                for (r = 1; r <= rows[group]; ++r) {
                    name = row[group, r]
                    n = ratios = 0
                    for (i = 1; i <= last; ++i) {
                        if (!((i, group, name) in value)) continue
                        v[++n] = value[i, group, name]
                        if ((i, group, floor[group, name]) in value)
                            ratio[++ratios] = v[n] / value[i, group, floor[group, name]]
                    }
                    m = median(v, n)
                    printf "%-36s %10.4g %10.4g .. %9.4g %6s", name, m, v[1], v[n], unit[group, name]
                    if (ratios) printf " %8.2f", median(ratio, ratios)
                    print ""
                }
            }
            if (absent) print "\nmissing"
            for (i = 1; i <= absent; ++i) print missing[i]
        }' "$scratch/figures" "$scratch/absent"
}
