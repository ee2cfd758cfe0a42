#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# What libfabric's man pages promise, on the device under test.

. "$(dirname "$0")/lib.sh"

[[ -x $ODRC_BUILD/contract_tests ]] || skip "the contract tests were not built (no doctest)"
export ODRC_TEST_DOMAIN=$device
failed=0
contract() { # OPTION...
    "$ODRC_BUILD/contract_tests" "$@" || failed=1
}

# By default it is measured whether connections beforehand are worth their while, and a machine with
# much else to do finds that they are not. So these have none of it; and they are alone, for who
# makes queue pairs at the same time takes numbers from between theirs, and an address tells of four
# ranges. Why a connection was made otherwise, the provider's log knows.
beforehand='*test_all_to_all*,*test_laid_lanes*,*test_native_names*,*test_range_lists*'
FI_ODRC_CONNECT=all FI_LOG_LEVEL=info FI_LOG_PROV=odrc contract --test-suite-exclude=silence \
    --source-file="$beforehand" 2>"$scratch/log"
((!failed)) || tail -n 2000 "$scratch/log" >&2

# Each time by who comes first.
for _ in 1 2 3; do
    FI_ODRC_CROSSOVERS=auto XDG_CACHE_HOME=$scratch/no_such_folder/cache contract \
        --source-file='*test_crossovers*'
done

# What waits for an answer that never comes, beside all the rest.
"$ODRC_BUILD/contract_tests" --test-suite=silence &
silence=$!
contract --test-suite-exclude=silence --source-file-exclude="$beforehand"
wait "$silence" || failed=1
exit "$failed"
