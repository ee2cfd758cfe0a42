#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# MPICH's own test suite, with all ranks apart: MPICH_TESTS says where it is built, for an MPICH of
# ch4:ofi on the libfabric under test. What fails over odrc has to fail over tcp as well.
# MPICH_FOLDERS names the folders; without it, all that have to do with a network.

. "$(dirname "$0")/lib.sh"

[[ -n ${MPICH_TESTS-} ]] || skip "MPICH_TESTS does not say where MPICH's test suite is built"
[[ -x $MPICH_TESTS/runtests ]] || skip "there is no test suite of MPICH in $MPICH_TESTS"
need perl make
foreign true

read -ra folders <<<"${MPICH_FOLDERS:-attr info init topo comm pt2pt threads/pt2pt datatype coll rma}"

# Without this, ranks of one host would not use the network; and what is built stays.
export MPIR_CVAR_NOLOCAL=1 MPITEST_CLEANUP=0

# The suite may have been built outside its source.
source_of() { # FOLDER
    sed -n 's/^srcdir = //p' "$1/Makefile"
}

# Runs a list of a folder, and says what happened in MPICH's words.
run_list() { # PROVIDER FOLDER LIST RESULTS
    (
        cd "$MPICH_TESTS/$2"
        env "${foreign_environment[@]}" FI_PROVIDER="$1" perl "$MPICH_TESTS/runtests" \
            -srcdir="$(source_of .)" -tests="$3" -tapfile="$4" >"$4.log" 2>&1
    ) || true
    [[ -s $4 ]] || fail "runtests did not run: $(tail -3 "$4.log")"
    ! grep -q '^Terminating test' "$4.log" || fail "runtests gave up: $(tail -3 "$4.log")"
}

# The failed tests: name and number of ranks.
failed_of() { # RESULTS
    sed -n '/# TODO/!s/^not ok.* - \.\/\([^ ]* [0-9]*\) .*/\1/p' "$1" | sort -u
}

# The lines of a folder's list that a name and a number of ranks stand for.
lines_of() { # FOLDER TESTS
    (
        cd "$MPICH_TESTS/$1"
        list=testlist # which configure may have made
        [[ -s $list ]] || list=$(source_of .)/testlist
        awk 'NR == FNR { wanted[$0]; next } $1 " " $2 in wanted' "$2" "$list" | sort -u
    )
}

passed=0 shared=0
worse=()
for folder in "${folders[@]}"; do
    results=$scratch/${folder//\//_}
    run_list odrc "$folder" testlist "$results"
    ok=$(grep '^ok' "$results" | grep -vc '# SKIP' || true) # which is what the suite leaves out
    ((ok > 0)) || fail "$folder: no test was run: $(tail -3 "$results.log")"
    failed_of "$results" >"$results.failed"
    echo "$folder: $ok passed, $(wc -l <"$results.failed") failed"
    passed=$((passed + ok))
    [[ -s $results.failed ]] || continue
    lines_of "$folder" "$results.failed" >"$results.again"
    run_list tcp "$folder" "$results.again" "$results.tcp"
    failed_of "$results.tcp" >"$results.tcp.failed"
    shared=$((shared + $(comm -12 "$results.failed" "$results.tcp.failed" | wc -l)))
    while read -r test; do
        worse+=("$folder/$test")
        sed -n "\|^not ok.* - \./$test |,/^\(not \)\?ok/p" "$results" | head -40
    done < <(comm -23 "$results.failed" "$results.tcp.failed")
done

echo "$passed passed, $shared fail over tcp as well, ${#worse[@]} over odrc alone"
((passed > 0 && ${#worse[@]} == 0)) || fail "MPICH: ${worse[*]}"
