#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# The tests of Sandia OpenSHMEM (its modules/tests-sos/test): OPENSHMEM_TESTS says where they are
# built, for one that is configured --with-ofi --enable-ofi-mr=basic, and OPENSHMEM_RUN what starts
# its processes, with their number behind it (without it: mpiexec -n). OPENSHMEM_FOLDERS names the
# folders. Each program runs twice: with one endpoint for what a process does and what is done to
# it, as programs have it by themselves, and with one for each.

. "$(dirname "$0")/lib.sh"

[[ -n ${OPENSHMEM_TESTS-} ]] || skip "OPENSHMEM_TESTS does not say where OpenSHMEM's tests are built"
[[ -d $OPENSHMEM_TESTS/unit ]] || skip "there are no tests of OpenSHMEM in $OPENSHMEM_TESTS"
read -ra run <<<"${OPENSHMEM_RUN:-mpiexec -n}"
need "${run[0]}"
foreign true

read -ra folders <<<"${OPENSHMEM_FOLDERS:-unit shmemx spec-example}"
export SHMEM_OFI_PROVIDER=odrc
export SHMEM_SYMMETRIC_SIZE=134217728 # bytes that each process registers

passed=0
failed=()
try() { # FOLDER PROGRAM APART
    local output=$scratch/output
    if (
        cd "$OPENSHMEM_TESTS/$1"
        export SHMEM_OFI_DISABLE_SINGLE_EP=$3
        foreign timeout 120 "${run[@]}" 2 "./$2" >"$output" 2>&1
    ); then
        passed=$((passed + 1))
    else
        failed+=("$1/$2")
        echo "failed: $1/$2, endpoints apart: $3"
        tail -5 "$output"
    fi
}

for folder in "${folders[@]}"; do
    mapfile -t programs < <(find "$OPENSHMEM_TESTS/$folder" -maxdepth 1 -type f -perm -u+x \
        -printf '%f\n' | sort)
    for program in "${programs[@]}"; do
        try "$folder" "$program" 0
        try "$folder" "$program" 1
    done
done

echo "$passed passed, ${#failed[@]} failed"
((passed > 0 && ${#failed[@]} == 0)) || fail "OpenSHMEM: ${failed[*]}"
