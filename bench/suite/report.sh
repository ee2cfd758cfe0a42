# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Sourced by run: all that was found, in $out: figures.csv and ratios.csv, report.json, and the page
# report.html, which needs nothing else.
#
# shellcheck shell=bash disable=SC2154 # of run: chosen, out, scratch, suite; what, title of the others

# A table with commas, its names first. No field has a quotation mark.
csv() { # NAME...
    (IFS=, && echo "$*")
    awk -F '\t' '{
        for (i = 1; i <= NF; ++i) printf "%s%s", (i > 1 ? "," : ""), ($i ~ /,/ ? "\"" $i "\"" : $i)
        print ""
    }'
}

# A table as a list of objects. Fields that are numbers are numbers there.
json_list() { # NAME...
    awk -F '\t' -v names="$*" '
        BEGIN { n = split(names, name, " "); printf "[" }
        {
            printf "%s\n    {", (NR > 1 ? "," : "")
            for (i = 1; i <= n; ++i) printf "%s\"%s\": %s", (i > 1 ? ", " : ""), name[i], said($i)
            printf "}"
        }
        END { printf "\n  ]" }
        function said(text) {
            if (text ~ /^-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[-+]?[0-9]+)?$/) return text
            if (text == "-") return "null"
            gsub(/\\/, "\\\\", text)
            gsub(/[[:cntrl:]]/, " ", text)
            return "\"" text "\""
        }'
}

json() {
    printf '{\n  "machine": '
    json_list name is <"$scratch/machine"
    printf ',\n  "ratios": '
    json_list measurement metric x ours peer ratio least most wanted met <"$scratch/ratios"
    printf ',\n  "medians": '
    json_list measurement metric x contender median least most rounds unit <"$scratch/medians"
    printf ',\n  "figures": '
    json_list measurement metric x contender round value unit <"$scratch/figures"
    printf ',\n  "missing": '
    json_list measurement contender reason <"$scratch/missing"
    printf ',\n  "failed": '
    json_list measurement contender reason <"$scratch/failed"
    printf '\n}\n'
}

report() {
    ratios
    machine | tr '"' "'" >"$scratch/machine"
    csv measurement metric x contender round value unit <"$scratch/figures" >"$out/figures.csv"
    csv measurement metric x ours peer ratio least most wanted met <"$scratch/ratios" >"$out/ratios.csv"
    json >"$out/report.json"
    page >"$out/report.html"
    progress "written: $out/report.html, report.json, figures.csv, ratios.csv"
    summary
}

# On the terminal: what was wanted, what is missing, what failed.
summary() {
    awk -F '\t' '$9 != "-" { printf "%-10s %-20s %8s  %-14s / %-14s %7s  %-7s %s\n", $1, $2, $3, $4, $5,
        $6, $9, $10 == "yes" ? "" : "NOT MET" }' "$scratch/ratios"
    awk -F '\t' '{ print "missing: " ($1 == "-" ? "" : $1 ": ") ($2 == "-" ? "" : $2 ": ") $3 }' "$scratch/missing"
    awk -F '\t' '{ print "FAILED: " $1 ": " $2 ": " $3 }' "$scratch/failed"
}
