#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# odrc_logp has a row for each way of transfer and size that there is, whose parts add up.

. "$(dirname "$0")/lib.sh"

sizes=(1 16 1024 9000 70000)
"$ODRC_BUILD/odrc_logp" -d "$device" -b 2 -i 64 -s "${sizes[@]}" --copy --csv >"$scratch/figures"
# Of 1024 bytes, which is what odrc injects, there is one inline; of the larger ones, none.
rows="inline,1 inline,16 inline,1024"
for way in gathered remote; do
    for size in "${sizes[@]}"; do rows+=" $way,$size"; done
done
rows+=" fetch-add,8"
[[ $(tail -n +2 "$scratch/figures" | cut -d, -f 1,2 | paste -sd ' ') == "$rows" ]] ||
    fail "other rows than there should be: $(cat "$scratch/figures")"
# The parts may be far greater than what they add up to, which six digits of each say no better.
awk -F, '
    function size(a) { return a < 0 ? -a : a }
    function near(a, b, greatest) { return size(a - b) <= 1e-5 * greatest }
    NR == 1 { next }
    $1 == "fetch-add" { if ($7 <= 0) exit 1; next }
    $6 <= 0 || $7 <= 0 || !near($3 + $4 + $5, $7, $3 + $4 + size($5) + $7) ||
        !near($6 * $8, $2, $2) { print; exit 1 }' "$scratch/figures" ||
    fail "figures that do not belong together"
