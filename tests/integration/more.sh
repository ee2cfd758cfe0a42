#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Messages that say that more follow (FI_MORE) are handed to the device in one call.

. "$(dirname "$0")/lib.sh"

[[ -x $ODRC_BUILD/contract_tests ]] || skip "the contract tests were not built (no doctest)"
export ODRC_TEST_DOMAIN=$device

FI_ODRC_PROFILE=$scratch/profile "$ODRC_BUILD/contract_tests" \
    -tc="twenty messages with more to follow are one call to the device" >/dev/null
messages=$(profile_sum "$scratch/profile" messages_sent)
posts=$(profile_sum "$scratch/profile" posts)
echo "$messages messages, $posts calls"
[[ $messages == 21 ]] || fail "there is one before the twenty"
# One for that, one for the twenty, and one at either end of the connection when it ends.
[[ $posts == 4 ]] || fail "the twenty are not one call"
