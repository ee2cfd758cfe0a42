#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Containers that have their host's network: soft0 is for the processes of each alone, which may have
# the same numbers as those of another one, and says so where one of another is talked to.

. "$(dirname "$0")/lib.sh"
need unshare
[[ $device == soft0 ]] || skip "other devices do not know containers"
own_numbers=(unshare --pid --fork --kill-child --mount-proc)
"${own_numbers[@]}" true 2>/dev/null || skip "no right to make namespaces"

traffic=("$ODRC_BUILD/odrc_traffic" -d soft0 -n 2)
messages=1000
[[ $ODRC_SANITIZER == no ]] || messages=100

for number in 1 2 3; do
    "${own_numbers[@]}" "${traffic[@]}" -m "$messages" >"$scratch/$number" 2>&1 &
done
for _ in 1 2 3; do
    wait -n || fail "traffic within a container: $(cat "$scratch"/[123])"
done

export FI_LOG_LEVEL=warn FI_LOG_PROV=odrc
for container in "${own_numbers[*]}" "unshare --user --map-root-user"; do
    # shellcheck disable=SC2086 # they are several words
    $container true 2>/dev/null || {
        echo "not tested: $container (no right to)"
        continue
    }
    # shellcheck disable=SC2086
    $container "${traffic[@]}" --listen -m 10 >"$scratch/listener" 2>&1 &
    # shellcheck disable=SC2086
    ! $container "${traffic[@]}" --connect 127.0.0.1 -m 10 >"$scratch/out" 2>&1 ||
        fail "two of different containers meet on soft0 ($container)"
    ! wait $! || fail "one hears nothing of it ($container)"
    grep -q 'no connection to .*No route to host' "$scratch/out" ||
        fail "it is not said why ($container): $(<"$scratch/out")"
done
