#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# bench/run measures, and says so: each figure is in all that it writes, a peer that is not there is
# named, and one that fails is named and remembered in the exit status.

. "$(dirname "$0")/lib.sh"

[[ $ODRC_SANITIZER == no ]] || skip "what is measured is not what sanitizers make of it"
for program in odrc_latency odrc_rma odrc_stream odrc_matching; do
    [[ -x $ODRC_BUILD/$program ]] || skip "$program is not built"
done
need perl

# Programs of peers, found before those of the machine.
mkdir "$scratch/bin"
pretend() { # PROGRAM BODY
    printf '#!/bin/sh\n%s\n' "$2" >"$scratch/bin/$1"
    chmod +x "$scratch/bin/$1"
}

suite() { # OUT OPTION...
    local status=0
    PATH=$scratch/bin:$PATH "$here/../../bench/run" --build "$ODRC_BUILD" --device "$device" \
        --rounds 1 --out "$scratch/$1" "${@:2}" >"$scratch/$1.log" 2>&1 || status=$?
    return $status
}

# JSON as lines of "LIST FIELD...", in this order of fields.
lines_of() { # OUT LIST FIELD...
    perl -MJSON::PP -0777 -e '
        my ($list, @fields) = @ARGV;
        my $report = decode_json(<STDIN>);
        for my $one (@{$report->{$list}}) {
            print join(",", map { defined $one->{$_} ? $one->{$_} : "-" } @fields), "\n";
        }' "${@:2}" <"$scratch/$1/report.json"
}

# All that a run wrote agrees. The page has medians, which are the figures of the one round.
agree() { # OUT
    local fields=(measurement metric x contender round value unit) value
    lines_of "$1" figures "${fields[@]}" | sed 's/\(.*\),.*,\(.*\)/\1,\2/' >"$scratch/of_json"
    tail -n +2 "$scratch/$1/figures.csv" | sed 's/\(.*\),.*,\(.*\)/\1,\2/' >"$scratch/of_csv"
    cmp "$scratch/of_json" "$scratch/of_csv" || fail "figures differ"
    [[ -s $scratch/of_csv ]] || fail "there are none"
    while read -r value; do
        grep -Fq "<td class=\"number\">$value</td>" "$scratch/$1/report.html" ||
            fail "$value is not on the page"
    done < <(lines_of "$1" medians median)
    [[ $(lines_of "$1" figures value | wc -l) == $(lines_of "$1" medians median | wc -l) ]] ||
        fail "there are other medians than figures"
    [[ $(lines_of "$1" ratios ratio) == $(tail -n +2 "$scratch/$1/ratios.csv" | cut -d , -f 6) ]] ||
        fail "ratios differ"
    while read -r value; do
        grep -Fq ">$value</td>" "$scratch/$1/report.html" || fail "$value is not on the page"
    done < <(lines_of "$1" missing contender && lines_of "$1" failed contender)
}

pretend ucx_perftest "echo it is broken >&2; exit 3"
! suite broken --only latency --sizes 8 --peers "shm,ucx,verbs;ofi_rxm" || fail "a peer that fails is no failure"
cat "$scratch/broken.log"
agree broken
lines_of broken failed contender | grep -qx ucx || fail "who failed is not named"
lines_of broken figures contender | grep -qx odrc || fail "there is none of ours"
lines_of broken ratios peer | grep -qx shm || fail "nobody is compared"
# No machine has both kinds of device.
[[ $device != soft0 ]] || lines_of broken missing contender | grep -qx "verbs;ofi_rxm" ||
    fail "who is missing is not named"

# And where all goes well, programs with more than one kind of figure, some of nothing but noughts, and
# a peer with an apostrophe in its name.
suite whole --only latency,atomics,matching,calls --sizes 8,64 --peers shm,soft_verbs ||
    { cat "$scratch/whole.log"; fail "something failed"; }
agree whole
for one in latency atomics matching calls; do
    lines_of whole figures measurement contender | grep -qx "$one,odrc" || fail "there is no $one"
done
if command -v gnuplot >/dev/null; then
    grep -q "<svg" "$scratch/whole/report.html" || fail "nothing is drawn"
else
    echo "without gnuplot nothing is drawn, and that is not tested"
fi

# What cannot be drawn costs the report that plot, and nothing else.
pretend gnuplot "cat >/dev/null; echo no ink >&2; exit 1"
! suite undrawn --only latency --sizes 8,64 --peers shm || fail "a plot that is missing is no failure"
agree undrawn
grep -q "^FAILED: report: gnuplot: no ink" "$scratch/undrawn.log" || fail "nobody hears of the plot"
