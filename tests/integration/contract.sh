#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# What libfabric's man pages promise, on the device under test.

. "$(dirname "$0")/lib.sh"

[[ -x $ODRC_BUILD/contract_tests ]] || skip "the contract tests were not built (no doctest)"
export ODRC_TEST_DOMAIN=$device
# What waits for an answer that never comes, beside all the rest.
"$ODRC_BUILD/contract_tests" --test-suite=silence &
silence=$!
"$ODRC_BUILD/contract_tests" --test-suite-exclude=silence
wait "$silence"
