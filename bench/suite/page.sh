# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Sourced by run: the page. Ratios first, then each measurement, then the machine.
#
# shellcheck shell=bash disable=SC2154 # of run: chosen, scratch; what, title of the others

escaped() { sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g'; }

# A table of fields between tabs, its names first.
table() { # NAME...
    printf '<div class="wide"><table><thead><tr>'
    printf '<th>%s</th>' "$@"
    printf '</tr></thead><tbody>\n'
    escaped | awk -F '\t' '{
        printf "<tr>"
        for (i = 1; i <= NF; ++i) {
            class = $i == "yes" || $i == "no" ? $i : $i ~ /^-?[0-9.]+(e[-+]?[0-9]+)?( [(.].*)?$/ ? "number" : ""
            printf "<td%s>%s</td>", (class == "" ? "" : " class=\"" class "\""), $i
        }
        print "</tr>"
    }'
    printf '</tbody></table></div>\n'
}

style() {
    cat <<'END'
<style>
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --faint: #59636e; --line: #d1d9e0;
  --good: #1a7f37; --bad: #cf222e; --card: #f6f8fa; }
@media (prefers-color-scheme: dark) { :root { --paper: #0d1117; --ink: #e6edf3; --faint: #9198a1;
  --line: #3d444d; --good: #3fb950; --bad: #f85149; --card: #151b23; } }
body { margin: 2em auto; max-width: 76em; padding: 0 1em; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.2em; border-bottom: 1px solid var(--line); }
p, caption { color: var(--faint); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 1em 0; font-size: 14px; }
th, td { padding: .2em .8em; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
td.yes { color: var(--good); font-weight: 600; } td.no { color: var(--bad); font-weight: 600; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(28em, 1fr)); gap: 1em; }
.plots svg { width: 100%; height: auto; background: var(--card); color: var(--ink); border-radius: 6px; }
.failed { color: var(--bad); }
</style>
END
}

# All ratios of a measurement, or of all those that something was wanted of.
ratio_rows() { # MEASUREMENT
    awk -F '\t' -v a="$1" 'BEGIN { OFS = FS } $1 == a { print $2, $3, $4, $5, $6, $7 " .. " $8, $9, $10 }' \
        "$scratch/ratios"
}

# Medians, a row for each point and a column for each contender.
median_table() { # MEASUREMENT
    local columns=()
    mapfile -t columns < <(measured "$1")
    awk -F '\t' -v a="$1" -v columns="$(IFS=$'\t'; echo "${columns[*]}")" '
        $1 == a {
            row = $2 FS $3
            if (!(row in unit)) rows[++count] = row
            unit[row] = $9
            value[row, $4] = $5 ($8 > 1 ? " (" $6 " .. " $7 ")" : "")
        }
        END {
            n = split(columns, column, FS)
            for (r = 1; r <= count; ++r) {
                printf "%s\t%s", rows[r], unit[rows[r]]
                for (c = 1; c <= n; ++c)
                    printf "\t%s", (((rows[r], column[c]) in value) ? value[rows[r], column[c]] : "")
                print ""
            }
        }' "$scratch/medians" | table metric x unit "${columns[@]}"
}

section() { # MEASUREMENT
    printf '<h2 id="%s">%s</h2>\n<p>%s</p>\n' "$1" "$1" "$(escaped <<<"${what[$1]}")"
    if ! cut -f 1 "$scratch/medians" | grep -qx "$1"; then
        echo "<p>Nothing was measured.</p>"
        return
    fi
    echo '<div class="plots">'
    plots "$1"
    echo '</div>'
    median_table "$1"
    [[ ! $(ratio_rows "$1") ]] || ratio_rows "$1" |
        table metric x ours theirs "ours / theirs" "least .. most" wanted met
}

page() {
    local one
    printf '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    printf '<meta name="viewport" content="width=device-width">\n<title>odrc side by side</title>\n'
    style
    printf '</head>\n<body>\n<h1>odrc side by side</h1>\n'
    echo '<p>Ratios are ours over theirs, taken within each round, then the median and the least'
    echo 'and the most of the rounds. Of times, less is better; of rates and bytes a second, more.'
    echo 'Peers have had their turns between ours, another one first in each round.</p>'
    if [[ -s $scratch/failed ]]; then
        echo '<h2 class="failed">Failed</h2>'
        table measurement contender why <"$scratch/failed"
    fi
    echo '<h2>What is wanted</h2>'
    awk -F '\t' '$9 != "-"' "$scratch/ratios" | awk -F '\t' 'BEGIN { OFS = FS }
        { print $1, $2, $3, $4, $5, $6, $7 " .. " $8, $9, $10 }' |
        table measurement metric x ours theirs "ours / theirs" "least .. most" wanted met
    echo '<h2>All ratios, in short</h2>'
    echo '<p>The geometric mean of the points of each metric.</p>'
    means | table measurement metric ours theirs "ours / theirs" least most points
    for one in "${chosen[@]}"; do section "$one"; done
    echo '<h2>Missing</h2>'
    table measurement contender why <"$scratch/missing"
    echo '<h2>The machine</h2>'
    table "" "" <"$scratch/machine"
    printf '</body>\n</html>\n'
}

means() {
    awk -F '\t' '
        BEGIN { OFS = FS }
        $6 > 0 {
            row = $1 FS $2 FS $4 FS $5
            if (!(row in n)) rows[++count] = row
            ++n[row]
            sum[row] += log($6)
            if (n[row] == 1 || $6 + 0 < least[row] + 0) least[row] = $6
            if (n[row] == 1 || $6 + 0 > most[row] + 0) most[row] = $6
        }
        END {
            for (r = 1; r <= count; ++r)
                print rows[r], sprintf("%.3g", exp(sum[rows[r]] / n[rows[r]])), least[rows[r]],
                    most[rows[r]], n[rows[r]]
        }' "$scratch/ratios"
}
