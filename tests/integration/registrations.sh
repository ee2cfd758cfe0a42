#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Memory that is used again is registered once, where the device wants it registered at all.

. "$(dirname "$0")/lib.sh"

[[ -x $ODRC_BUILD/contract_tests ]] || skip "the contract tests were not built (no doctest)"
export ODRC_TEST_DOMAIN=$device

fifty_long_messages() { # PROFILE [VARIABLE=VALUE]
    env FI_ODRC_PROFILE="$scratch/$1" "${@:2}" "$ODRC_BUILD/contract_tests" \
        -tc="the same buffers carry long messages again and again" >/dev/null
    made=$(profile_sum "$scratch/$1" registrations)
    found=$(profile_sum "$scratch/$1" registrations_found)
    echo "$1: $made registrations, found $found times"
}

fifty_long_messages cached
if [[ $device == soft0 ]]; then
    [[ $made == 0 && $found == 0 ]] || fail "soft0 knows all memory"
    exit 0
fi
# The sender's and the receiver's buffer. Other memory may come and go around them.
[[ $((made + found)) == 100 ]] || fail "not every buffer of every message was registered"
[[ $made -le 8 ]] || fail "registered again and again"

fifty_long_messages none_kept FI_ODRC_CACHE_COUNT=0
[[ $made == 100 && $found == 0 ]] || fail "something was kept"
fifty_long_messages no_bytes_kept FI_ODRC_CACHE_BYTES=0
[[ $made == 100 && $found == 0 ]] || fail "something was kept"
fifty_long_messages one_kept FI_ODRC_CACHE_COUNT=1
[[ $found -lt 100 ]] || fail "more was kept than there is room for"
