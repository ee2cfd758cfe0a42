# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Sourced by datatypes: how good auto's choice is.
#
# shellcheck shell=bash disable=SC2154 # set by datatypes: mpis, schemes, scratch

# How many times as good as others auto is, at each point: "NAME X OTHER SCHEME RATIO LOW HIGH". The
# ratio is the median of the rounds', and what it would be of ever more of them lies between the last
# two, with a probability of 95 %: these are order statistics, whatever the rounds are spread like.
# OTHER is "best", generic, manual, or another MPI.
#
# The best scheme of a point is not the one with the best figure there: of five that are equally good
# one is always measured as a few per cent better. It is found in the even rounds and compared with in
# the odd ones, and the other way round.
choices() {
    awk -v schemes="${schemes[*]}" -v mpis="${mpis[*]:1}" "$rounds_in_awk"'
        function best_of(point, first, step,    i, r, most, best) {
            for (i = 1; i <= schemes_count; ++i) {
                r = better(point, scheme[i], "generic", first, step)
                if (r > most) { most = r; best = scheme[i] }
            }
            return best
        }
        # Into typical, low and high. 0, if there is nothing.
        function spread(list, n,    away) {
            if (!n) return 0
            typical = median(list, n)
            away = int(n / 2 - 0.98 * sqrt(n))
            if (away < 1) away = 1
            low = list[away]
            high = list[n + 1 - away]
            return 1
        }
        function compare(point, who, than,    i, n, r, list) {
            for (i = 0; i < rounds; ++i)
                if ((r = ratio(point, who, than, i))) list[++n] = r
            return spread(list, n)
        }
        function with_best(point,    i, n, r, list, best) {
            best[0] = best_of(point, 0, 2)
            best[1] = best_of(point, 1, 2)
            for (i = 0; i < rounds; ++i)
                if ((r = ratio(point, "auto", best[1 - i % 2], i))) list[++n] = r
            return spread(list, n)
        }
        # By what both are beside what is packed by hand in the same process.
        function with_mpi(point, other,    ours, ours_low, ours_high, lowest) {
            if (!compare(point, "auto", "manual")) return 0
            ours = typical
            ours_low = low
            ours_high = high
            if (!compare(point, other, other ":manual")) return 0
            typical = ours / typical
            lowest = ours_low / high
            high = ours_high / low
            low = lowest
            return 1
        }
        function tell(point, other, scheme,    part) {
            split(point, part, OFS)
            printf "%s\t%s\t%s\t%s\t%.3f\t%.3f\t%.3f\n", part[1], part[2], other, scheme, typical,
                low, high
        }
        END {
            schemes_count = split(schemes, scheme, " ")
            mpis_count = split(mpis, mpi, " ")
            for (k = 1; k <= count; ++k) {
                split(keys[k], key, SUBSEP)
                if (key[2] != "auto") continue
                point = key[1]
                if (with_best(point)) tell(point, "best", best_of(point, 0, 1))
                if (compare(point, "auto", "generic")) tell(point, "generic", "-")
                if (compare(point, "auto", "manual")) tell(point, "manual", "-")
                for (i = 1; i <= mpis_count; ++i)
                    if (with_mpi(point, mpi[i])) tell(point, mpi[i], "-")
            }
        }' "$scratch/figures" >"$scratch/choices"
}

# Where auto is behind: a twentieth of the best scheme, or anything of the others, as far as that can
# be told from nothing.
behind() {
    local other
    for other in best generic manual "${mpis[@]:1}"; do
        awk -F '\t' -v other="$other" '
            $3 == other {
                ++points
                if ($7 >= (other == "best" ? 0.95 : 1)) next
                list = list sprintf("\n    %-22s %-14s %.2f (%.2f to %.2f)", $1, $2, $5, $6, $7)
                ++behind
            }
            END {
                if (!points) exit
                printf "\nauto, beside %s: ", other == "best" ? "the best scheme" : other
                printf "behind%s at %d of %d points%s\n", other == "best" ? " by a twentieth" : "",
                    behind, points, list
            }' "$scratch/choices"
    done
}
